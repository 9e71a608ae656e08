"""The server of `oprag serve`: the contract of Dify's External Knowledge API.

A request is `POST /retrieval` with a bearer key, a question and the number of results.
The reply is records with contents, scores, titles and metadata, or a number and a
message.
"""

from __future__ import annotations

import hmac
import json
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from langchain_oprag import OrderPreservingRetriever, as_passages
from oprag.calls import keep_secret, read_error_message
from oprag.context import Widen, headers
from oprag.errors import IndexingError, OpragError
from oprag.marks import escape_marks
from oprag.metadata import CITATION, RESULT
from oprag_cli.librarian import RETRY_AFTER, BusyError, Librarian
from oprag_cli.library import Library
from oprag_cli.listener import await_while_connected
from oprag_cli.messages import note, tell_client

_LARGEST = 1_000_000
"""Bytes of a request at most."""

_SHOWN = ("page_label", RESULT)
"""Metadata of a passage that a record carries, if the passage has them."""

_HEADERS = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": str(RETRY_AFTER)},
}
_BAD_HEADER, _WRONG_KEY, _UNKNOWN = 1001, 1002, 2001
"""Numbers of errors that Dify's documentation suggests; the others are HTTP's."""


class _RefusedError(Exception):
    def __init__(self, status: int, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code or status


class _Setting(BaseModel):
    model_config = ConfigDict(strict=True)

    top_k: Annotated[int, Field(ge=1)] | None = None
    score_threshold: Annotated[float, Field(ge=0, le=1)] | None = None


class _Asked(BaseModel):
    """A request, as Dify's documentation describes it."""

    model_config = ConfigDict(strict=True)

    knowledge_id: str
    query: Annotated[str, Field(pattern=r"\S")]
    retrieval_setting: _Setting
    metadata_condition: Any = None


def make_app(
    librarian: Librarian,
    *,
    name: str,
    api_key: str,
    token_budget: int,
    widen: Widen | None = None,
) -> Starlette:
    """Make the application, for any server of ASGI.

    Args:
        librarian: The librarian that has the documents.
        name: The name that requests give as `knowledge_id`.
        api_key: The key that requests have to send.
        token_budget: Tokens that the contents of an answer may take together.
        widen: See `OrderPreservingRetriever`.
    """
    keep_secret(api_key)

    async def retrieval(request: Request) -> Response:
        try:
            _check_key(request.headers.get("authorization", ""), api_key)
            asked = _read(await _body(request), name)

            def search(library: Library) -> list[dict[str, Any]]:
                return _records(library, asked, token_budget, widen)

            found = librarian.ask(search)
            records = await await_while_connected(request.receive, found)
            return _answer(200, {"records": records})
        except _RefusedError as error:
            return _error(error.status, error.code, error.message)
        except OpragError as error:
            later = isinstance(error, (BusyError, IndexingError))
            status = 503 if later else 422
            return _error(status, status, error.message)
        except ClientDisconnect:
            return _error(400, 400, "The client has gone.")  # to nobody
        except Exception as error:  # noqa: BLE001 -- a server goes on, in its own form
            said = read_error_message(error)
            note(f"A question failed: {type(error).__name__}: {said}")
            return _error(500, 500, "The question failed; the server's log says why.")

    route = Route("/retrieval", retrieval, methods=["POST"])
    return Starlette(routes=[route], exception_handlers={HTTPException: _not_here})


def _answer(status: int, content: object) -> Response:
    # In ASCII: the message may repeat text of a request that cannot be encoded.
    text = json.dumps(content, allow_nan=False)
    headers = _HEADERS.get(HTTPStatus(status))
    return Response(text, status, headers, media_type="application/json")


def _error(status: int, code: int, message: str) -> Response:
    return _answer(status, {"error_code": code, "error_msg": tell_client(message)})


async def _not_here(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return _error(status, status, "There is only POST /retrieval here.")


def _check_key(header: str, api_key: str) -> None:
    scheme, _, given = header.partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        message = "The header Authorization has to be: Bearer, a blank, and the key."
        raise _RefusedError(401, message, _BAD_HEADER)
    if not hmac.compare_digest(given.strip().encode(), api_key.encode()):
        message = "The key is wrong. It has to be that of OPRAG_API_KEY."
        raise _RefusedError(403, message, _WRONG_KEY)


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST:
            raise _RefusedError(413, f"The request has more than {_LARGEST:,} bytes.")
    return body


def _read(body: bytes, name: str) -> _Asked:
    """Read a request, and refuse fields that would otherwise be ignored in silence."""
    try:
        asked = _Asked.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"])) or "The request"
        raise _RefusedError(400, f"{where}: {wrong['msg']}.") from error
    condition = asked.metadata_condition
    if condition.get("conditions") if isinstance(condition, dict) else condition:
        message = "metadata_condition is not supported: all documents are searched."
        raise _RefusedError(400, f"{message} Leave it out.")
    if asked.knowledge_id != name:
        message = f"There is no knowledge {asked.knowledge_id!r}. Ask for {name!r}."
        raise _RefusedError(404, message, _UNKNOWN)
    return asked


def _records(
    library: Library, asked: _Asked, token_budget: int, widen: Widen | None
) -> list[dict[str, Any]]:
    """Search, and return records in document order, their scores falling.

    Dify puts them in the order of their scores. So a score encodes a record's place.
    It stays above the threshold, which applies to the similarity of the chunks found.
    """
    threshold = asked.retrieval_setting.score_threshold or 0
    top_k = asked.retrieval_setting.top_k
    base = library.vectorstore.as_retriever()
    if threshold:
        if library.space != "cosine":
            message = (
                f"retrieval_setting.score_threshold needs an index that measures by "
                f"cosine, and this one has {library.space!r}. Switch it off."
            )
            raise _RefusedError(422, message)
        base = library.vectorstore.as_retriever(
            search_type="similarity_score_threshold",
            search_kwargs={"score_threshold": threshold},
        )
    retriever = OrderPreservingRetriever(
        base_retriever=base,
        # Every chunk has at least one token.
        k=None if top_k is None else min(top_k, token_budget),
        token_budget=token_budget,
        widen=widen,
        merge=True,
        citations=True,
    )
    found = as_passages(retriever.invoke(asked.query))
    # Neighbours on another page are separate passages, after all that was found.
    best = {*sorted(passage.rank for passage in found)[:top_k]}
    passages = library.rename_passages([each for each in found if each.rank in best])
    step = (1 - threshold) / max(len(passages), 1)
    return [
        {
            "content": header + escape_marks(passage.text),
            "score": 1 - place * step,
            "title": library.title(passage),
            "metadata": {
                "source": library.title(passage),
                **{key: found[key] for key in _SHOWN if key in found},
                CITATION: passage.citation,
            },
        }
        for place, (passage, header) in enumerate(
            zip(passages, headers(passages), strict=True)
        )
        for found in [passage.chunks[0].metadata]
    ]
