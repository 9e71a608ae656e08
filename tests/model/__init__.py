"""Tests with a real language model."""
