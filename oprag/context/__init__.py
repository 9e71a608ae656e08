"""From retrieved chunks to ordered passages within a budget; `arrange` does it."""

from oprag.context.assembly import Arranged, arrange
from oprag.context.awaiting import with_texts
from oprag.context.budgeting import SentText
from oprag.context.docstrings import described, documented, list_options
from oprag.context.evidence import (
    NOTHING_FOUND,
    Evidence,
    fitting_evidence,
    gather_evidence,
    search_description,
)
from oprag.context.from_texts import order_context
from oprag.context.neighbours import ALONE, Neighbours, retrieved_with_neighbours
from oprag.context.options import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    ContextOptions,
    OnProblem,
    Order,
    OrderingKeywords,
    ReadingKeywords,
    Widen,
    check_option,
)
from oprag.context.placing import FindText, find_places
from oprag.context.plain_errors import PlainErrors, refusal, unnamed
from oprag.context.problems import Problems, warn
from oprag.context.rendering import marked_texts, numbering, render
from oprag.context.results import Result, place_metadata, single_passage
from oprag.context.returned import read_passages, result_of
from oprag.context.seen import Seen, SeenLike
from oprag.context.selection import (
    FetchPlan,
    Selection,
    candidates_for,
    chunks_for_units,
    fill_budget,
    too_small,
    unfilled_message,
)
from oprag.context.showing import PlainRepr, shown
from oprag.context.unknown import (
    BUDGET_WORDS,
    COUNT_WORDS,
    GONE,
    is_search,
    knows_its_options,
    needs,
    no_attribute,
    no_name,
    not_ordered,
    refuse_beside,
    refuse_unknown,
)
from oprag.context.widening import Neighbour, Widening, check_widening

__all__ = [
    "ALONE",
    "BUDGET_WORDS",
    "COUNT_WORDS",
    "DEFAULTS",
    "DESCRIPTIONS",
    "GONE",
    "NOTHING_FOUND",
    "Arranged",
    "ContextKeywords",
    "ContextOptions",
    "Evidence",
    "FetchPlan",
    "FindText",
    "Neighbour",
    "Neighbours",
    "OnProblem",
    "Order",
    "OrderingKeywords",
    "PlainErrors",
    "PlainRepr",
    "Problems",
    "ReadingKeywords",
    "Result",
    "Seen",
    "SeenLike",
    "Selection",
    "SentText",
    "Widen",
    "Widening",
    "arrange",
    "candidates_for",
    "check_option",
    "check_widening",
    "chunks_for_units",
    "described",
    "documented",
    "fill_budget",
    "find_places",
    "fitting_evidence",
    "gather_evidence",
    "is_search",
    "knows_its_options",
    "list_options",
    "marked_texts",
    "needs",
    "no_attribute",
    "no_name",
    "not_ordered",
    "numbering",
    "order_context",
    "place_metadata",
    "read_passages",
    "refusal",
    "refuse_beside",
    "refuse_unknown",
    "render",
    "result_of",
    "retrieved_with_neighbours",
    "search_description",
    "shown",
    "single_passage",
    "too_small",
    "unfilled_message",
    "unnamed",
    "warn",
    "with_texts",
]
