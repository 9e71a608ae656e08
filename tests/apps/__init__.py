"""Servers for other applications, started and asked as they do."""
