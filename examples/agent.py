"""An agent that searches often, reads each text once, and cites (LangChain).

pip install "oprag[agents]" langchain-openai numpy
export OPENAI_API_KEY=...
python agent.py lease.txt "How does the tenant end the lease?"
"""

import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from langchain_oprag import (
    EvidenceMiddleware,
    cited,
    create_retrieval_tool,
    index_documents,
)
from oprag import place_of

file, question = sys.argv[1:]
store = InMemoryVectorStore(OpenAIEmbeddings(model="text-embedding-3-small"))
index_documents([Document(Path(file).read_text(), metadata={"source": file})], store)

agent = create_agent(
    ChatOpenAI(model="gpt-4o-mini"),
    tools=[create_retrieval_tool(store, token_budget=2_000, name="search")],
    middleware=[EvidenceMiddleware()],
    system_prompt="Answer from what you find, and cite its numbers, like [1].",
)
state = agent.invoke({"messages": [{"role": "user", "content": question}]})
print(state["messages"][-1].content)
for number, passage in cited(state).items():
    place = place_of(passage)
    print(f"[{number}]", place.citation if place else "without a place")
