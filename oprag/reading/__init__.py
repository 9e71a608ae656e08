"""Reading on: documents by name and place, for models that searched before."""

from oprag.reading.names import shown_names
from oprag.reading.reader import DESCRIPTIONS, DocumentReader, Reading, refused

__all__ = ["DESCRIPTIONS", "DocumentReader", "Reading", "refused", "shown_names"]
