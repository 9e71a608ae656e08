"""How much of the evidence a number of tokens holds, for each way of choosing text.

`make bench-recall` writes `benchmarks/recall.md` and `benchmarks/recall.json`.
"""
