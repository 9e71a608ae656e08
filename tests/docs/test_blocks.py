"""The runner of the pages notices the mistakes of a page."""

import pytest

from tests.docs.blocks import blocks_for, blocks_of, frameworks_of, run

PAGE = """# Title

```python
text = "one"
print(text)
```

```text
one
```

```python
from langchain_core.documents import Document

found = [Document(text)]
```

```text
of LangChain's
```

```python
from llama_index.core import Document

found = [Document(text=text)]
```

```python
print(found)
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_reader_runs_the_blocks_that_need_no_other_framework(page):
    first, shown, *_, last = blocks_of(page)

    assert frameworks_of(page) == ["langchain", "llamaindex"]
    assert blocks_for(page, "core") == [first, shown]
    assert [code for _, code in blocks_for(page, "langchain")] == [
        first[1],
        "one\n",
        "from langchain_core.documents import Document\n\nfound = [Document(text)]\n",
        "of LangChain's\n",
    ]
    assert blocks_for(page, "llamaindex")[-1] == last


def test_a_name_that_a_block_binds_anew_is_that_blocks(page):
    page.write_text(f"{PAGE}\n```python\nfound = []\nprint(found)\n```\n")

    assert blocks_for(page, "langchain")[-1][1].startswith("found = []")


def test_a_page_without_imports_of_a_framework_needs_the_core(page):
    page.write_text("```python\nimport oprag\n```\n")

    assert frameworks_of(page) == ["core"]


def test_an_output_that_differs_is_an_error():
    assert run([("python", "print(1)"), ("text", "1\n")], "page") == 1
    with pytest.raises(AssertionError, match="printed\n1\n\nand the page says\n2"):
        run([("python", "print(1)"), ("text", "2\n")], "page")
