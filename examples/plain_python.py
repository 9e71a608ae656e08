"""No framework: your own retrieval returned texts and metadata."""

from __future__ import annotations

from contract import CONTRACT, clause_numbers
from oprag import order_context, render


def main() -> list[int]:
    """Order five clauses, best first, within a budget; return their numbers."""
    best_first = [9, 5, 11, 4, 10]
    starts = [CONTRACT.index(f"Clause {number}, ") for number in best_first]
    texts = [CONTRACT[start:].split("\n\n")[0] for start in starts]
    metadatas = [{"source": "lease.txt", "start_index": start} for start in starts]

    passages = order_context(texts, metadatas, token_budget=60, merge=True)
    context = render(passages, citations=True)

    print(context)
    kept = clause_numbers(context)
    assert kept == sorted(kept)
    assert set(kept) < set(best_first)  # the budget left the least relevant out
    return kept


if __name__ == "__main__":
    main()
