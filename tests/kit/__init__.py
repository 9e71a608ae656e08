"""Helpers and fakes that tests of several rooms share."""
