"""The steps of `oprag.rebuilding`, one idea per file."""
