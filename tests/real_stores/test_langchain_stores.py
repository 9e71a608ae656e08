"""A LangChain store that can only be awaited."""

from langchain_core.documents import Document

from langchain_oprag import OffsetTokenSplitter, document_source
from tests.real_stores.langchain_places import AWKWARD_NAMES, SIZE, HashEmbeddings


async def test_a_store_that_is_only_async_is_awaited(database):
    from langchain_postgres import PGEngine, PGVectorStore
    from sqlalchemy.ext.asyncio import create_async_engine

    pool = create_async_engine(f"postgresql+psycopg://{database}")
    engine = PGEngine.from_engine(pool)
    await engine.ainit_vectorstore_table("chunks", SIZE)
    store = await PGVectorStore.create(engine, HashEmbeddings(), "chunks")
    texts = {name: f"The text of {name}. " * 9 for name in AWKWARD_NAMES}
    documents = [Document(text, metadata={"source": n}) for n, text in texts.items()]
    splitter = OffsetTokenSplitter(chunk_size=32, chunk_overlap=8)
    await store.aadd_documents(splitter.split_documents(documents))

    source = document_source(store)
    for name, text in texts.items():
        assert await source.aget(name) == text
    await pool.dispose()
