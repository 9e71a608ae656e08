"""`python -m oprag`: the same as the script `oprag`."""

from __future__ import annotations

from oprag.cli import main

if __name__ == "__main__":
    main()
