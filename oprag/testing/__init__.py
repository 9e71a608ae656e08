"""A suite for authors of stores: subclass it in your own tests."""

from oprag.testing.store_suite import StoreSuite
from oprag.testing.under_test import StoreUnderTest

__all__ = ["StoreSuite", "StoreUnderTest"]
