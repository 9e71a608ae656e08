"""What a model gets over several turns: evidence of searches, pages of documents."""

from oprag.agents.conversations import Conversations
from oprag.agents.document_reader import DESCRIPTIONS, DocumentReader, Reading, refused
from oprag.agents.evidence import (
    NOTHING_FOUND,
    Evidence,
    gather_evidence,
    search_description,
)
from oprag.agents.mentions import highest_mention
from oprag.agents.names import shown_names
from oprag.agents.tool_texts import show_in_place

__all__ = [
    "DESCRIPTIONS",
    "NOTHING_FOUND",
    "Conversations",
    "DocumentReader",
    "Evidence",
    "Reading",
    "gather_evidence",
    "highest_mention",
    "refused",
    "search_description",
    "show_in_place",
    "shown_names",
]
