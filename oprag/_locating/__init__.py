"""How `oprag.locating` finds places, from the fastest proof to the most patient.

`chaining` follows chunks that stand in the source word for word, `contiguity` lays
them over the text in all ways that leave no gap, `anchoring` starts from what is
unique (`seeding`) where neither is possible. The last two look at texts without
their white space (`squeezing`).
"""
