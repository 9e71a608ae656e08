"""Ask with passages, and with the whole document only if they do not do (LangChain).

pip install "oprag[langchain]" langchain-openai numpy
export OPENAI_API_KEY=...
python self_route.py lease.txt "How does the tenant end the lease?"
"""

import sys
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from langchain_oprag import SelfRouteChain, index_documents

file, question = sys.argv[1:]
documents = [Document(Path(file).read_text(), metadata={"source": file})]
store = InMemoryVectorStore(OpenAIEmbeddings(model="text-embedding-3-small"))
index_documents(documents, store)

chain = SelfRouteChain(
    llm=ChatOpenAI(model="gpt-4o-mini"),
    retriever=store.as_retriever(search_kwargs={"k": 3}),
    documents=documents,
)
result = chain.invoke({"input": question})
print(result["answer"])
for step in result["usage"]["steps"]:
    print(f"{step['step']}: {step['decision']}, {step['input_tokens']} tokens in")
