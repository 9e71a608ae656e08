"""Suites for authors of stores and splitters: subclass one in your own tests."""

from oprag.testing.running import failures
from oprag.testing.splitter_suite import SplitterSuite
from oprag.testing.store_suite import StoreSuite
from oprag.testing.under_test import StoreUnderTest

__all__ = ["SplitterSuite", "StoreSuite", "StoreUnderTest", "failures"]
