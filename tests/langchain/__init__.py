"""Tests of the LangChain adapter."""
