"""`python -m oprag_cli`: the same as the script `oprag`."""

from __future__ import annotations

from oprag_cli import main

if __name__ == "__main__":
    main()
