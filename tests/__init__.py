"""The tests; helpers are shared by `from tests.… import …`."""
