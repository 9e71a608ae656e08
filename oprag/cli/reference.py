"""The text that the demo reads: the language reference that every CPython carries."""

from __future__ import annotations

import sys

REFERENCE_NAME = "Python {}.{} language reference".format(*sys.version_info)
"""Name of the document, as citations show it."""

_TOPICS = """
    identifiers strings numbers integers floating imaginary
    objects types specialnames execmodel
    conversions atom-identifiers atom-literals lists dict attribute-references
    subscriptions slicings calls await power unary binary shifting bitwise
    comparisons booleans lambda exprlists operator-summary
    assignment assert pass del return yield raise break continue import global
    nonlocal compound
    truth typesseq string-methods formatstrings typesmapping typesmodules
    typesfunctions typesmethods bltin-code-objects bltin-type-objects
    bltin-null-object bltin-ellipsis-object specialattrs debugger
""".split()  # noqa: SIM905 -- reads as a table of contents
"""Topics of `pydoc_data` in the order of the reference's chapters, then those of the
library's. The topics that are not named repeat a part of one that is."""


def language_reference() -> str:
    """The language reference as one long text.

    Python's `help()` keeps it as topics; `help("with")` shows one. Here they stand
    in the order of the book they were cut from, each with its heading, with two line
    breaks between them.

    Returns:
        Some 370,000 to 415,000 characters, depending on the version of Python.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[topic].strip() for topic in _TOPICS if topic in topics)
