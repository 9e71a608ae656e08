"""Ask the PDFs in the folder `pdfs`, and see the places behind the answer (LangChain).

pip install "oprag[langchain]" langchain-ollama numpy pypdf
ollama pull nomic-embed-text && ollama pull llama3.2
python pdf_folder_ollama.py "How does the tenant end the lease?"
"""

import sys
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_ollama import ChatOllama, OllamaEmbeddings
from pypdf import PdfReader

from langchain_oprag import OrderPreservingRetriever, format_documents, index_documents

question = sys.argv[1]
pages = [
    Document(page.extract_text(), metadata={"source": file.name, "page": number})
    for file in sorted(Path("pdfs").glob("*.pdf"))
    for number, page in enumerate(PdfReader(file).pages)
]
store = InMemoryVectorStore(OllamaEmbeddings(model="nomic-embed-text"))
print(index_documents(pages, store))

retriever = OrderPreservingRetriever(
    vectorstore=store, token_budget=4_000, citations=True
)
passages = retriever.invoke(question)
prompt = "Answer from these passages and cite their numbers, like [1].\n\n"
prompt += f"{format_documents(passages)}\n\nQuestion: {question}"
# Ollama cuts longer prompts without a word: num_ctx is more than the budget.
llm = ChatOllama(model="llama3.2", num_ctx=8_192)
print(llm.invoke(prompt).content)
for number, passage in enumerate(passages, start=1):
    print(f"[{number}]", passage.metadata["oprag_citation"])
