"""How `oprag.diagnosing` examines an index.

`examined` reads stored chunks, `keys` counts their keys, `checks` asks the rules
that retrieval has, `suggesting` looks for options, `placing` proves places in a
source, `proving` does so for every document, `examination` puts these together, and
`planning` says what a repair writes.
"""
