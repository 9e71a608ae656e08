"""Open a Chroma directory that you have, verify it, repair it, and search (LangChain).

pip install "oprag[langchain,chroma,cli]" langchain-openai
export OPENAI_API_KEY=...
python existing_chroma.py chroma/ texts/ "How does the tenant end the lease?"

The repair writes positions into the index, and makes a backup first.
`texts/` holds the files that were indexed. Name the embedding model of the index.
"""

import subprocess
import sys
from pathlib import Path

from langchain_chroma import Chroma
from langchain_openai import OpenAIEmbeddings

from langchain_oprag import OrderPreservingRetriever, format_documents
from oprag.errors import OpragError

directory, texts, question = sys.argv[1:]
if not Path(directory, "chroma.sqlite3").is_file():
    sys.exit(f"{directory} is no Chroma directory.")
embeddings = OpenAIEmbeddings(model="text-embedding-3-small")
retriever = OrderPreservingRetriever(
    vectorstore=Chroma(embedding_function=embeddings, persist_directory=directory),
    token_budget=4_000,
    citations=True,
)
try:
    print(retriever.verify())
except OpragError as problem:
    print(problem)
    # It backs up, then writes the positions that the files prove. Texts never change.
    doctor = [sys.executable, "-m", "oprag_cli", "doctor", directory]
    repair = ["--documents", texts, "--repair", "--write"]
    subprocess.run([*doctor, *repair], check=False)
    print(retriever.verify())
print(format_documents(retriever.invoke(question)))
