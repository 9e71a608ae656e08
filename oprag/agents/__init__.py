"""Text for a model over several turns: evidence of searches, pages of documents."""

from oprag.agents.conversations import Conversations
from oprag.agents.document_reader import (
    DESCRIPTIONS,
    DocumentReader,
    ToolReply,
    answer_refusal,
)
from oprag.agents.evidence import (
    NOTHING_FOUND,
    ToolAnswer,
    search_description,
    write_new_passages,
)
from oprag.agents.mentions import find_mentions
from oprag.agents.names import name_for_readers
from oprag.agents.tool_texts import show_in_place

__all__ = [
    "DESCRIPTIONS",
    "NOTHING_FOUND",
    "Conversations",
    "DocumentReader",
    "ToolAnswer",
    "ToolReply",
    "answer_refusal",
    "find_mentions",
    "name_for_readers",
    "search_description",
    "show_in_place",
    "write_new_passages",
]
