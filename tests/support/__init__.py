"""Helpers of the tests, and the tests of those helpers."""
