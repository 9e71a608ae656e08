"""Ask the PDFs in the folder `pdfs`, and see the places behind the answer (LangChain).

pip install "oprag[langchain]" langchain-openai numpy pypdf
export OPENAI_API_KEY=...
python pdf_folder_openai.py "How does the tenant end the lease?"
"""

import sys
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pypdf import PdfReader

from langchain_oprag import OrderPreservingRetriever, format_documents, index_documents

question = sys.argv[1]
pages = [
    Document(page.extract_text(), metadata={"source": file.name, "page": number})
    for file in sorted(Path("pdfs").glob("*.pdf"))
    for number, page in enumerate(PdfReader(file).pages)
]
store = InMemoryVectorStore(OpenAIEmbeddings(model="text-embedding-3-small"))
print(index_documents(pages, store))

retriever = OrderPreservingRetriever(
    vectorstore=store, token_budget=4_000, citations=True
)
passages = retriever.invoke(question)
prompt = "Answer from these passages and cite their numbers, like [1].\n\n"
prompt += f"{format_documents(passages)}\n\nQuestion: {question}"
print(ChatOpenAI(model="gpt-4o-mini").invoke(prompt).content)
for number, passage in enumerate(passages, start=1):
    print(f"[{number}]", passage.metadata["oprag_citation"])
