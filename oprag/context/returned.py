"""Results of the adapters, read back as passages."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.chunk import Hit, Passage
from oprag.context.results import Result, single_passage
from oprag.metadata import HASH, PROBLEM, RANK
from oprag.positions import as_number, placed, read_chunks, read_documents


def read_passages(hits: Sequence[Hit]) -> list[Passage]:
    """Return the passage of each result, in the order given.

    Args:
        hits: Results of any component, or other retrieved texts. Of a result the place
            is the one in its reserved keys. Of others it is read where it can be, and
            their rank is their place in the list.

    Returns:
        One passage per hit, of one chunk that has the hit's object as its `source`.
    """
    documents = read_documents(hits, problems={})
    passages = []
    for chunk in read_chunks(hits, documents, problems={}):
        metadata = chunk.metadata
        if HASH in metadata:  # alone it says what it said, whatever is beside it
            position, span, part = placed(metadata, chunk.text)
            chunk = chunk._replace(  # noqa: PLW2901 -- the same chunk
                rank=as_number(metadata.get(RANK)) or 0,
                position=position,
                span=span,
                part=part,
            )
        passages.append(single_passage(chunk))
    return passages


def result_of(passage: Passage, hits: Sequence[Hit] = ()) -> Result:
    """Return what a framework's object for a passage is made of.

    Args:
        passage: Of `read_passages`, `order_context` or any other.
        hits: Of the objects that its chunks came from; none where they came from no
            object of this framework.
    """
    texts = [chunk.text for chunk in passage.chunks]
    whole = not hits or texts == [each.text for each in hits]
    problem = passage.chunks[0].metadata.get(PROBLEM)
    return Result.of_passage(passage, whole=whole, problem=problem)
