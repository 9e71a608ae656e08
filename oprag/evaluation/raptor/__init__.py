"""RAPTOR's trees (arXiv 2401.18059): chunks, and summaries of what is alike."""
