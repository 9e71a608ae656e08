"""Asking all questions of all systems: once each, resumable, within limits."""
