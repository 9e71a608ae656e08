"""Tests of the framework-free core."""
