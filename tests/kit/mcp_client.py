"""The official client of the context protocol, of either version of its kit."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import mcp
from mcp.shared import memory


def connect(server: Any) -> AbstractAsyncContextManager[Any]:
    """Connect to a server in this process, by version 2 of the kit or by version 1."""
    if client := getattr(mcp, "Client", None):
        return client(server)
    return memory.create_connected_server_and_client_session(server)


async def call(session: Any, tool: str, *, refused: bool = False, **given: Any) -> str:
    """Call a tool and return the text of its answer.

    Args:
        session: A client that is connected.
        tool: The name of the tool.
        refused: Whether the answer has to be an error; else it has to be none.
        **given: The tool's arguments.
    """
    answer = await session.call_tool(tool, given)
    assert answer.model_dump(by_alias=True)["isError"] is refused, answer.content
    return answer.content[0].text
