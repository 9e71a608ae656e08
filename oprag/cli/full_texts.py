"""Files as one text each."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.documents import Document


def full_texts(documents: Iterable[Document]) -> dict[str, str]:
    """Return the text of each file by its name.

    Args:
        documents: As `read_files` gives them.

    Returns:
        In reading order. The pages of a PDF are joined by a blank line.
    """
    pages: dict[str, list[str]] = {}
    for document in documents:
        name = str(document.metadata["source"])
        pages.setdefault(name, []).append(document.page_content)
    return {name: "\n\n".join(texts) for name, texts in pages.items()}
