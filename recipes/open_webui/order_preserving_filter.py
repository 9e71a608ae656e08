"""
title: Document order
description: Retrieved chunks reach the model in the order of their files, with places.
version: 0.1.0
license: MIT
required_open_webui_version: 0.11.2
"""

# A function of Open WebUI. It needs the package `oprag` where Open WebUI runs. Whatever
# goes wrong here is logged, and the chunks stay as Open WebUI wrote them.

import asyncio
import json
import logging
from functools import partial
from itertools import repeat, zip_longest
from typing import Literal

from pydantic import BaseModel, Field

log = logging.getLogger(__name__)
WHY = "The chunks stay in Open WebUI's own order: %s"
PLACE = ("file_id", "source", "page", "page_label", "start_index")


class Filter:
    class Valves(BaseModel):
        priority: int = Field(0, description="Filters with a lower number run before.")
        token_budget: int = Field(
            0, ge=0, description="Tokens of what one search found; 0 for no limit."
        )
        order: Literal["document", "rank"] = Field(
            "document", description="Inside a file; rank: best first."
        )
        widen: bool = Field(
            default=False, description="Read on around it until the budget is full."
        )

    def __init__(self):
        self.valves = self.Valves()

    async def request(self, body: dict, __metadata__: dict | None = None) -> dict:
        try:
            if sources := (__metadata__ or {}).get("sources"):  # attached to the chat
                from open_webui.utils.middleware import get_source_context as context

                numbers: dict = {}  # what the model cites keeps its number
                before = context(sources, numbers).strip()
                lists = [
                    zip(
                        source["document"], source["metadata"], repeat(source["source"])
                    )
                    for source in sources
                ]
                # The best of each source, then their second bests.
                hits = [hit for best in zip_longest(*lists) for hit in best if hit]
                tags = await self.arranged(hits, partial(tag, context, numbers))
                after = "".join(tags).strip()
                seen = [replace(each, before, after) for each in body["messages"]]
                if not any(seen):
                    log.warning(WHY, "they are not in the messages as it writes them")
            for message in body["messages"]:
                if hits := searched(message):  # by the model itself
                    found = await self.arranged(hits, as_json)
                    message["content"] = f"[{', '.join(found)}]"
        except Exception as error:  # what was found counts for more than its order
            log.warning(WHY, error, exc_info=True)
        return body

    async def arranged(self, hits: list, write) -> list[str]:
        from open_webui.models.files import Files

        from oprag import order_context
        from oprag.tokens import resolve_token_counter

        chunks = [hit for hit in hits if {"file_id", "start_index"} & hit[1].keys()]
        if not chunks:
            return [write(hit, hit[0], "") for hit in hits]
        ids = {about.get("file_id") for _, about, _ in chunks} - {None}
        files = await Files.get_files_by_ids(list(ids))
        texts = {file.id: (file.data or {}).get("content") for file in files}
        texts = {name: text for name, text in texts.items() if text}
        if lost := sorted(ids - texts.keys()):  # positions alone may be of other cuts
            raise LookupError(f"there is no text of the files {', '.join(lost)}")
        budget = self.valves.token_budget or None
        count = await asyncio.to_thread(resolve_token_counter)
        longest = ", characters 9999999-9999999"
        around = max((write(hit, "", longest) for hit in chunks), key=count)
        passages = await asyncio.to_thread(
            order_context,
            [text for text, _, _ in chunks],
            [{key: hit[1][key] for key in PLACE if key in hit[1]} for hit in chunks],
            order=self.valves.order,
            selection="recall" if self.valves.widen and budget else "budget",
            token_budget=budget and max(1, budget - count(around)),
            token_counter=count,
            separator=around,
            document_key=["file_id", "source"],
            documents=texts or None,
        )
        written = [write(hit, hit[0], "") for hit in hits if hit not in chunks]
        for passage in passages:
            place = passage.citation.removeprefix(passage.document_name)
            written.append(write(chunks[passage.rank], passage.text, place))
        return written


def tag(context, numbers: dict, hit: tuple, text: str, place: str) -> str:
    _, about, source = hit
    if place:
        source = {**source, "name": f"{about.get('name') or about['source']}{place}"}
    shown = {"source": source, "document": [text], "metadata": [about]}
    return context([shown], numbers)


def as_json(hit: tuple, text: str, place: str) -> str:
    shown = {**hit[1], "content": text}
    if place:
        shown["place"] = place.removeprefix(", ")
    return json.dumps(shown, ensure_ascii=False)


def searched(message: dict) -> list[tuple]:
    try:
        found = json.loads(message["content"]) if message.get("role") == "tool" else []
        chunks = [(chunk["content"], chunk, None) for chunk in found]
    except (KeyError, TypeError, ValueError):
        return []  # another tool's result
    return chunks if any("file_id" in chunk for _, chunk, _ in chunks) else []


def replace(message: dict, before: str, after: str) -> bool:
    "Whether it was there, or was replaced in an earlier turn of the model's tools."
    content = message.get("content")
    parts, key = (
        (content, "text") if isinstance(content, list) else ([message], "content")
    )
    found = False
    for part in parts:
        if isinstance(part.get(key), str):
            found = found or before in part[key] or after in part[key]
            part[key] = part[key].replace(before, after)
    return found
