"""Ask the PDFs in the folder `pdfs`, and see the places behind the answer (LlamaIndex).

pip install "oprag[llamaindex]" pypdf
pip install llama-index-llms-openai llama-index-embeddings-openai
export OPENAI_API_KEY=...
python pdf_folder_llamaindex_openai.py "How does the tenant end the lease?"
"""

import sys
from pathlib import Path

from llama_index.core import Document, PromptTemplate, VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai import OpenAI
from pypdf import PdfReader

from llamaindex_oprag import OffsetSentenceNodeParser, OrderPreservingRetriever

embed_model = OpenAIEmbedding(model="text-embedding-3-small")
llm = OpenAI(model="gpt-4o-mini")
pages = [
    Document(
        text=page.extract_text(),
        metadata={"file_name": file.name, "page_label": str(number)},
    )
    for file in sorted(Path("pdfs").glob("*.pdf"))
    for number, page in enumerate(PdfReader(file).pages, start=1)
]
index = VectorStoreIndex.from_documents(
    pages, transformations=[OffsetSentenceNodeParser()], embed_model=embed_model
)
retriever = OrderPreservingRetriever(
    index.as_retriever(), token_budget=4_000, citations=True
)
cite = "Answer from these passages and cite their numbers, like [1].\n\n"
engine = RetrieverQueryEngine.from_args(
    retriever,
    llm=llm,
    text_qa_template=PromptTemplate(cite + "{context_str}\n\nQuestion: {query_str}"),
)
response = engine.query(sys.argv[1])
print(response)
for number, source in enumerate(response.source_nodes, start=1):
    print(f"[{number}]", source.metadata["oprag_citation"])
