"""ReadAgent's memory (arXiv 2402.09727): pages of a document, and a gist of each."""
