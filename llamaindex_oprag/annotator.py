"""`PositionAnnotator`: true positions for nodes that any parsers made."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    field_serializer,
)
from llama_index.core.schema import BaseNode, Document, TextNode, TransformComponent

from llamaindex_oprag._nodes import text_of
from llamaindex_oprag.documents import SourceLike, document_source
from llamaindex_oprag.node_parsers import hidden_keys
from oprag.documents import (
    DocumentSource,
    SourcePart,
    annotate_chunks,
    check_entries,
    exact_text,
    replace_positions,
)
from oprag.effects import run_in_thread
from oprag.errors import DocumentNotFoundError, MissingDocumentError
from oprag.locating import locate
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_INDEX, N_CHUNKS, STAMP_KEYS
from oprag.positions import document_name
from oprag.splitting import name_callable, part_numbers


class PositionAnnotator(TransformComponent):
    r"""Finds the place of each node in its document and writes it down.

    Put it after the parsers, because chained and hierarchical ones write offsets that
    count from an intermediate text. The true place of a node is proved from its
    neighbours; see `oprag.locating.locate`. Give all nodes of a document in one call,
    in the parsers' order.

    Each node comes back as a copy with `doc_key`, `doc_uri`, `chunk_index`,
    `n_chunks`, `char_start`, `char_end` (and `part_index` for pages) in its
    metadata, hidden from LLM and embedding, and with true `start_char_idx` and
    `end_char_idx`. A node whose place cannot be proved gets no offsets at all;
    `chunk_index` still orders it. In a hierarchy, every level is located by itself,
    and `chunk_index` counts only the leaves.

    A pipeline that is kept gets other documents with each run. Put the same
    `PositionAnnotator()` also before its parsers. It then takes the texts from the
    run, the last text of each document. A cache of an earlier process skips that first
    step: give `documents`.

    Args:
        documents: The documents that were parsed, by the nodes' `ref_doc_id`:
            anything that `document_source` takes, such as the list itself. None for
            those that passed through it before the parsers.

    Raises:
        MissingDocumentError: When called, if a node names no source document.
        DocumentNotFoundError: When called, if `documents` lacks a document, or has a
            text of it that was edited since.
        InvalidOptionError: When called, if a text in `documents` is not exact.
        ConflictingPositionsError: When called, if nodes fit their text in more than
            one order.

    Warns:
        PositionWarning: Some nodes' places could not be proved.

    Example:
        >>> from llama_index.core.ingestion import IngestionPipeline
        >>> from llama_index.core.node_parser import (
        ...     MarkdownNodeParser,
        ...     SentenceSplitter,
        ... )
        >>> documents = [Document(text="# A\nOne.\n\n# B\nTwo.", id_="a.md")]
        >>> annotator = PositionAnnotator(documents=documents)
        >>> pipeline = IngestionPipeline(
        ...     transformations=[MarkdownNodeParser(), SentenceSplitter(), annotator]
        ... )
        >>> nodes = pipeline.run(documents=documents)
        >>> [node.metadata["char_start"] for node in nodes]
        [0, 10]
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    documents: Any = Field(
        default=None, description="The documents that were parsed.", repr=False
    )
    _passed: dict[str, BaseNode] = PrivateAttr(default_factory=dict)

    def __init__(self, documents: SourceLike | None = None) -> None:
        if isinstance(documents, list):  # from the result of `to_dict`
            documents = [
                Document.from_dict(each) if isinstance(each, dict) else each
                for each in documents
            ]
        if documents is not None:
            document_source(documents)
        super().__init__(documents=documents)  # type: ignore[call-arg]  # a pydantic field

    @classmethod
    def class_name(cls) -> str:
        """Return the name in serialised pipelines."""
        return "PositionAnnotator"

    @field_serializer("documents")
    def _write_documents(self, documents: Any) -> Any:
        """Return the documents if JSON can hold them; else a text naming their kind."""
        if documents is None or isinstance(documents, (str, Path)):
            return documents and str(documents)
        if isinstance(documents, Mapping):
            return dict(documents)
        if isinstance(documents, (list, tuple)):
            return [document.to_dict() for document in documents]
        of = documents if callable(documents) else type(documents)
        return f"<documents of {name_callable(of)}>"

    def __call__(self, nodes: Sequence[BaseNode], **_kwargs: Any) -> list[BaseNode]:
        """Annotate the nodes of any number of documents; the order stays."""
        if self._takes(nodes := _list_nodes(nodes)):
            return nodes
        names = _source_ids(nodes)
        source = self._source(names)
        texts = {name: exact_text(name, source.read(name)) for name in names}
        return self._annotate(nodes, texts)

    async def acall(self, nodes: Sequence[BaseNode], **_kwargs: Any) -> list[BaseNode]:
        """Async version of `__call__`."""
        if self._takes(nodes := _list_nodes(nodes)):
            return nodes
        names = await run_in_thread(partial(_source_ids, nodes))
        source = self._source(names)
        texts = {name: exact_text(name, await source.aread(name)) for name in names}
        return await run_in_thread(partial(self._annotate, nodes, texts))

    def _takes(self, nodes: Sequence[BaseNode]) -> bool:
        """Keep documents that no parser has seen, as a pipeline's run begins."""
        loaded = {node.node_id: node for node in nodes if isinstance(node, Document)}
        if self.documents is not None or len(loaded) < len(nodes):
            return False
        self._passed.update(loaded)
        return True

    def _source(self, names: Sequence[str]) -> DocumentSource:
        if self.documents is not None:
            return document_source(self.documents)
        for name in names:
            if name not in self._passed:
                message = (
                    f"PositionAnnotator() has not seen document {name!r}. Put the same "
                    "one before the parsers, too; with a cache from before, documents=."
                )
                raise DocumentNotFoundError(message, document=name)
        return document_source({name: text_of(self._passed[name]) for name in names})

    def _annotate(
        self, nodes: Sequence[BaseNode], texts: dict[str, str]
    ) -> list[BaseNode]:
        if isinstance(self.documents, (list, tuple)):
            _refuse_edited(nodes, texts, {d.node_id: d.hash for d in self.documents})
        made: list[BaseNode] = list(nodes)
        depths = _depths(nodes)
        for name, members in _group_by_document(nodes).items():
            levels = sorted({depths[index] for index in members})
            for level in levels:
                row = [(i, nodes[i]) for i in members if depths[i] == level]
                entries = _locate_members(
                    name, row, texts, believed=self.documents is None
                )
                for index, entry in entries.items():
                    if level != levels[-1]:
                        for key in (CHUNK_INDEX, N_CHUNKS, *STAMP_KEYS):
                            entry.pop(key, None)
                    made[index] = _set_position(nodes[index], entry)
        return made


def _list_nodes(nodes: Sequence[BaseNode] | Iterator[BaseNode]) -> list[BaseNode]:
    nodes = [*nodes] if isinstance(nodes, Iterator) else nodes
    check_entries("nodes", nodes, BaseNode)
    return list(nodes)


def _source_ids(nodes: Sequence[BaseNode]) -> list[str]:
    """Return the ids of the documents that the nodes were made of, each once."""
    for place, node in enumerate(nodes):
        if node.ref_doc_id in (None, "", "None"):
            keys = tuple(sorted(map(str, node.metadata)))
            message = (
                f"Node {place} has no source document (its ref_doc_id is "
                f"{node.ref_doc_id!r}). Annotate nodes as the parsers made them."
            )
            raise MissingDocumentError(message, rank=place, keys=keys)
    return list(dict.fromkeys(str(node.ref_doc_id) for node in nodes))


def _refuse_edited(
    nodes: Sequence[BaseNode], texts: dict[str, str], hashes: Mapping[str, str]
) -> None:
    """Refuse a document that differs from that of the nodes, unless they cover it."""
    depths = _depths(nodes)
    edited: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        source = node.source_node
        if source and source.hash not in (None, hashes.get(source.node_id)):
            edited.setdefault(source.node_id, []).append(index)
    for name, members in edited.items():
        leaves = max(depths[index] for index in members)
        pieces = [text_of(nodes[i]) for i in members if depths[i] == leaves]
        reached, rest = 0, ""
        for span, status in locate(texts[name], pieces):
            if span is not None:
                rest += texts[name][reached : span.start].strip()
                reached = max(reached, span.end)
            elif status != "blank":
                rest += status
        if rest or texts[name][reached:].strip():
            message = (
                f"Document {name!r} was edited: documents= has another text of it than "
                "its nodes. In a pipeline that is kept, put one PositionAnnotator() "
                "before the parsers and after them."
            )
            raise DocumentNotFoundError(message, document=name)


def _group_by_document(nodes: Sequence[BaseNode]) -> dict[str, list[int]]:
    """Return the indexes of the nodes of each document, by the document's name."""
    groups: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        name = document_name(node.metadata) or str(node.ref_doc_id)
        groups.setdefault(name, []).append(index)
    return groups


def _depths(nodes: Sequence[BaseNode]) -> list[int]:
    """Return how many of a node's ancestors are among the nodes."""
    by_id = {node.node_id: node for node in nodes}

    def depth(node: BaseNode) -> int:
        parent = node.parent_node
        above = None if parent is None else by_id.get(parent.node_id)
        return 0 if above is None else 1 + depth(above)

    return [depth(node) for node in nodes]


def _locate_members(
    name: str,
    members: Sequence[tuple[int, BaseNode]],
    texts: dict[str, str],
    *,
    believed: bool,
) -> dict[int, dict[str, str | int]]:
    """Return the metadata for the nodes of one level of a document, by index."""
    sources: dict[str, list[tuple[int, BaseNode]]] = {}
    for index, node in members:
        sources.setdefault(str(node.ref_doc_id), []).append((index, node))
    numbers = part_numbers([group[0][1].metadata for group in sources.values()])
    parts = sorted(
        zip(numbers, sources.items(), strict=True), key=lambda part: part[0] or 0
    )
    written = annotate_chunks(
        name,
        [
            SourcePart(texts[source], [text_of(node) for _, node in group], number)
            for number, (source, group) in parts
        ],
        believed=believed,
    )
    indexes = [index for _, (_, group) in parts for index, _ in group]
    return dict(zip(indexes, itertools.chain(*written), strict=True))


def _set_position(node: BaseNode, entry: dict[str, str | int]) -> BaseNode:
    metadata = replace_positions(node.metadata, entry)
    changes: dict[str, Any] = {"metadata": metadata, **hidden_keys(node, metadata)}
    if isinstance(node, TextNode):
        changes["start_char_idx"] = entry.get(CHAR_START)
        changes["end_char_idx"] = entry.get(CHAR_END)
    return node.model_copy(update=changes)
