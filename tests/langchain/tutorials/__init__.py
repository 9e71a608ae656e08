"""LangChain's tutorials of 2026, before and after the one line that changes.

Pages: "Build a RAG agent", "Improve retrieval quality", "RAG with Deep Agents" and
"Build a custom RAG agent with LangGraph". Each pattern is what its page teaches, in
words of our own, with a scripted model: a function of the store, or of the store and
what is done to the documents last, that returns what makes the application of a model.
"""
