"""The text that the examples retrieve from: a contract in twelve clauses."""

from __future__ import annotations

CLAUSES = [
    "parties: the lease is made between the landlord and the tenant",
    "premises: the landlord lets the workshop and the yard behind it",
    "term: the lease begins in March and runs for five years",
    "rent: the rent is 900 a month and is due on the first day",
    "deposit: the tenant pays a deposit of two months of rent",
    "repairs: the landlord repairs the roof and the tenant repairs the rest",
    "subletting: the tenant sublets no part without written consent",
    "late rent: rent that is ten days late bears interest of one percent",
    "termination: either side may end the lease with six months of notice",
    "exception: notice under clause 9 is three months in the first year",
    "deposit back: the deposit is paid back in thirty days, less rent owed",
    "law: disputes about rent or notice go to the local court",
]

CONTRACT = "\n\n".join(
    f"Clause {number}, {text}." for number, text in enumerate(CLAUSES, start=1)
)
"""The whole contract; clause numbers ascend, so order is easy to see."""

QUESTION = "When may the tenant end the lease, and is the deposit paid back less rent?"


def clause_numbers(prompt: str) -> list[int]:
    """Numbers of the clauses that a prompt shows, in the order it shows them."""
    places = {
        number: prompt.find(f"Clause {number}, ")
        for number in range(1, len(CLAUSES) + 1)
    }
    shown = [number for number, place in places.items() if place >= 0]
    return sorted(shown, key=places.__getitem__)
