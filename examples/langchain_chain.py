"""LangChain: a retrieval chain whose model reads the contract in its own order."""

from __future__ import annotations

from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore

from contract import CONTRACT, QUESTION, clause_numbers
from langchain_oprag import OffsetSentenceSplitter, OrderPreservingRetriever
from offline_langchain import RecordingChatModel, WordEmbeddings


def main() -> list[int]:
    """Ask once; return the clauses in the order the model was sent them."""
    splitter = OffsetSentenceSplitter(chunk_size=25)
    source = Document(CONTRACT, metadata={"source": "lease.txt"})
    vectorstore = InMemoryVectorStore(WordEmbeddings())
    vectorstore.add_documents(splitter.split_documents([source]))

    model = RecordingChatModel(replies=[AIMessage("With six months of notice.")])
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {input}")

    # The line that changes. Before: vectorstore.as_retriever(search_kwargs={"k": 5})
    retriever = OrderPreservingRetriever(vectorstore=vectorstore, k=5)

    chain = create_retrieval_chain(
        retriever, create_stuff_documents_chain(model, prompt)
    )
    result = chain.invoke({"input": QUESTION})

    print("Answer:", result["answer"])
    for document in result["context"]:
        start, end = document.metadata["char_start"], document.metadata["char_end"]
        print(f"  lease.txt {start}-{end}: {document.page_content[:50].strip()}")

    by_score = vectorstore.similarity_search(QUESTION, k=5)
    best_first = [n for d in by_score for n in clause_numbers(d.page_content)]
    sent = clause_numbers(model.prompts[0])
    print("Clauses, best first:      ", best_first)
    print("Clauses, as the model read:", sent)
    assert sorted(best_first) == sent
    assert best_first != sent
    return sent


if __name__ == "__main__":
    main()
