"""Full texts from LangChain's stores, and from all that the core takes."""

from langchain_core.stores import InMemoryStore

from langchain_oprag import document_source

NAME = "notes/a b.txt"


class CountingStore(InMemoryStore):
    """Knows which of its two methods was called."""

    def __init__(self):
        super().__init__()
        self.called = []

    def mget(self, keys):
        self.called.append("mget")
        return super().mget(keys)

    async def amget(self, keys):
        self.called.append("amget")
        return super().mget(keys)


async def test_a_store_is_asked_by_its_own_async_method():
    store = CountingStore()
    store.mset([(NAME, "All of it.")])
    source = document_source(store)

    source.get(NAME)
    await source.aget(NAME)

    assert store.called == ["mget", "amget"]
