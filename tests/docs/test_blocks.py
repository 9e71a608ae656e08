"""The runner of the pages notices the mistakes of a page."""

import pytest

from tests.docs.blocks import blocks_of, run

PAGE = """# Title

```python
a = 1
print(a)
```

```text
1
```

```python
from langchain_oprag import nothing
```

```text
of LangChain's
```

```python
import llama_index.core
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_frameworks_blocks_are_those_that_import_it_with_their_output(page):
    assert len(blocks_of(page)) == 5
    assert [code for _, code in blocks_of(page, "core")] == ["a = 1\nprint(a)\n", "1\n"]
    assert [language for language, _ in blocks_of(page, "langchain")] == [
        "python",
        "text",
    ]
    assert len(blocks_of(page, "llamaindex")) == 1


def test_an_output_that_differs_is_an_error():
    assert run([("python", "print(1)"), ("text", "1\n")], "page") == 1
    with pytest.raises(AssertionError, match="printed\n1\n\nand the page says\n2"):
        run([("python", "print(1)"), ("text", "2\n")], "page")
