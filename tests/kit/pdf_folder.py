"""A folder of PDFs: a lease of three pages, and the minutes of a meeting."""

from pathlib import Path

from fpdf import FPDF

LEASE = """\
The lease begins on 1 March and runs for five years. The rent is 900 a month, due on \
the first day. The tenant pays a deposit of two months of rent.

The landlord repairs the roof, the tenant the rest. Either side may end the lease with \
six months of notice. In the first year three months of notice are enough.

When the lease ends, the landlord inspects the rooms. The deposit is then paid back \
within thirty days, less rent owed."""
MINUTES = """\
The meeting opened at nine. The roof was repaired in May.

The deposit for the hall was discussed. The meeting ended at noon."""
PAGES = {"lease.pdf": LEASE.split("\n\n"), "minutes.pdf": MINUTES.split("\n\n")}
"""The text of each page."""


def write_pdfs(folder: Path) -> None:
    """Write the files, in a folder that is made."""
    folder.mkdir(parents=True)
    for name, pages in PAGES.items():
        written = FPDF()
        written.set_font("helvetica", size=12)
        for text in pages:
            written.add_page()
            written.multi_cell(0, 8, text)
        written.output(str(folder / name))
