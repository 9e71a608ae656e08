"""`oprag ask --route self`: the passages first, the full documents if they must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.utils import AddableDict

from langchain_oprag import SelfRouteChain
from oprag.calls import well_formed, whole_characters
from oprag.cli.chat_models import model_failure
from oprag.cli.retrieving import ordered_passages
from oprag.cli.searching import Search
from oprag.context import Order
from oprag.errors import ContextWindowError, ModelCallError
from oprag.routing import Rung

_OVERFLOW_HINT = "Give the tokens that the model takes as --max-context-tokens."


class RoutedAnswer(NamedTuple):
    """What a chat model wrote, and on which way."""

    text: str
    cut: bool
    """Whether it ends where the longest answer was reached."""
    read: list[str]
    """Citations of what was read for the answer, in reading order."""
    route: dict[str, Any]
    """`rung` and `answered`, as `SelfRouteChain` gives them."""
    usage: dict[str, Any]
    """What it took, as `oprag.calls.Ledger.to_dict` gives it."""


def stream_routed_answer(
    model: BaseChatModel,
    name: str,
    found: Search,
    write: Callable[[str], None],
    *,
    token_budget: int,
    order: Order = "document",
    max_context_tokens: int | None = None,
) -> RoutedAnswer:
    """Ask a chat model by Self-Route and hand on what it writes as it comes.

    Args:
        model: The client.
        name: The model as the user named it.
        found: The question, the files, and the passages that are sent first.
        write: Called with each piece of the answer; of a refusal that is not final
            with nothing.
        token_budget: Tokens that the passages may take.
        order: Theirs: `"document"`, or `"score"` for best first.
        max_context_tokens: Tokens of prompt and answer that the model takes; None
            for what its profile says, if it has one.

    Raises:
        ModelCallError: It cannot be reached, refuses, or breaks off.
        ContextWindowError: The window has no room for any text.
        BudgetTooSmallError: Not even the best chunk fits.
    """
    chain = _chain(model, found, token_budget, order, max_context_tokens)
    output = AddableDict()
    question = found.retrieved.question
    text = held = ""
    try:
        for piece in chain.stream(question):
            output += AddableDict(piece)
            whole, held = whole_characters(held + (piece.get("answer") or ""))
            if said := well_formed(whole):
                text += said
                write(said)
    except (ModelCallError, ContextWindowError) as error:
        failure = _failure(name, error, begun=bool(text))
        raise failure from error
    read = ordered_passages(output["context"], order=order, merge=order == "document")
    return RoutedAnswer(
        text,
        output["route"].get("finish") == "length",
        [passage.citation for passage in read],
        output["route"],
        output["usage"],
    )


def route_report(answer: RoutedAnswer) -> str:
    """Tell what was read, the route and what it took, in lines for people."""
    usage = answer.usage
    lines = ["Read for the answer:", *(f"  {place}" for place in answer.read), ""]
    lines += [f"Route: {_route(answer.route)}", *map(_rung, usage["rungs"])]
    return "\n".join(lines)


def _chain(
    model: BaseChatModel,
    found: Search,
    token_budget: int,
    order: Order,
    max_context_tokens: int | None,
) -> SelfRouteChain:
    best_first = [
        Document(chunk.text, metadata=dict(chunk.metadata))
        for chunk in found.retrieved.by_score
    ]

    def retrieved(_: str) -> list[Document]:
        return best_first

    return SelfRouteChain(
        llm=model,
        retriever=RunnableLambda(retrieved),
        documents=found.files.whole,
        # Best first, the chunks are numbered, which takes tokens of the budget too.
        rungs=[Rung("retrieved", token_budget), "full"],
        order=order,
        max_context_tokens=max_context_tokens,
    )


def _failure(name: str, error: Exception, *, begun: bool) -> Exception:
    """The same in terms of the command line."""
    failed = error if isinstance(error, ModelCallError) else error.__cause__
    if isinstance(failed, ModelCallError) and isinstance(failed.__cause__, Exception):
        return model_failure(
            name, failed.__cause__, begun=begun, overflow_hint=_OVERFLOW_HINT
        )
    if isinstance(error, ContextWindowError):
        message = (
            f"A window of {error.window:,} tokens has no room for any text beside the "
            "question and the answer. Give a larger --max-context-tokens."
        )
        return ContextWindowError(message, window=error.window, needed=error.needed)
    return error


def _route(route: Mapping[str, Any]) -> str:
    if not route["answered"]:
        return f"{route['rung']} (what was read does not hold the answer)"
    if route["rung"] == "full":
        return "full (the retrieved passages did not hold the answer)"
    return str(route["rung"])


def _rung(rung: Mapping[str, Any]) -> str:
    said = [rung["decision"]]
    if calls := rung["model_calls"]:
        source = "estimated" if rung["estimated"] else "reported"
        sent, received = rung["input_tokens"], rung["output_tokens"]
        said.append(f"{sent:,} tokens in, {received:,} out ({source})")
        said.append(f"{calls} model call{'s' if calls > 1 else ''}")
    note = f" ({rung['note']})" if rung["note"] else ""
    return f"  {rung['rung']}: {', '.join(said)}{note}"
