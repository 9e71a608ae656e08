"""Ask an MCP server as clients of version 2 of the kit do; run in their environment.

The address is the first argument; a JSON object with each client's name, and the tools
and the text that it got, is printed.
"""

import asyncio
import json
import sys
import warnings
from typing import Any

QUESTION = {"question": "old house 9", "token_budget": 500}


async def official(address: str) -> tuple[list[str], Any]:
    from mcp import Client

    async with Client(address) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search", QUESTION)
    return tools, found.content[0].text


async def langchain(address: str) -> tuple[list[str], Any]:
    warnings.simplefilter("ignore")  # `langchain.mcp` says that it is in beta
    from langchain.mcp import MCPAdapter

    async with MCPAdapter(address) as adapter:
        tools = {tool.name: tool for tool in await adapter.list_tools()}
        found = await tools["search"].ainvoke(QUESTION)
    return list(tools), found if isinstance(found, str) else found[0]["text"]


async def llama_index(address: str) -> tuple[list[str], Any]:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    listed = await McpToolSpec(client=BasicMCPClient(address)).to_tool_list_async()
    tools = {tool.metadata.name: tool for tool in listed}
    found = await tools["search"].acall(**QUESTION)
    return list(tools), found.raw_output.content[0].text


async def main() -> None:
    clients = official, langchain, llama_index
    replies = {client.__name__: await client(sys.argv[1]) for client in clients}
    sys.stdout.write(json.dumps(replies))


asyncio.run(main())
