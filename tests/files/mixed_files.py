"""A folder of mixed files, as users have them."""

from pathlib import Path

LEASE = """\
# Lease

The tenant pays the rent on the first of each month.

## Repairs

Repairs below 100 euros are paid by the tenant. All others the landlord pays.
"""

MEETING = "Meeting of 3 May.\r\nWe painted the hall. Anna pays the painter.\r\n"

PAGE = """\
<!DOCTYPE html><html><head><title>House rules</title><style>p {}</style></head>
<body><h1>Rules</h1><p>Repairs are <b>reported</b> to
the caretaker.</p><script>var hidden = 1;</script><!-- not shown -->
<ul><li>No drums &amp; horns.</li><li>No noise.</li></ul></body></html>
"""

REPORT = ("The roof leaks above the third floor.", "", "The repair costs 4,000 euros.")

READABLE = ["Käse 日本.txt", "lease.md", "report.pdf", "deep/page.html"]
"""In reading order: the files of a folder before the folders inside it."""


def pdf(
    path: Path,
    pages: tuple[str, ...] = REPORT,
    *,
    label: str | None = "D",
    password: str = "",
) -> None:
    """Write a PDF of a few lines; a page may be blank."""
    from fpdf import FPDF

    made = FPDF()
    if password:
        made.set_encryption("owner", user_password=password)
    made.set_font("Helvetica", size=12)
    for text in pages:
        made.add_page(label_style=label)
        if text:
            made.multi_cell(0, 8, text)
    made.output(str(path))


def make_folder(folder: Path) -> Path:
    """Four files that can be read, three that cannot, and two that are hidden."""
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "lease.md").write_text(LEASE, "utf-8")
    (folder / "Käse 日本.txt").write_bytes(MEETING.encode())
    (folder / "deep" / "page.html").write_text(PAGE, "utf-8")
    pdf(folder / "report.pdf")
    (folder / "empty.txt").write_text("")
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (folder / "old.txt").write_bytes("Café".encode("latin-1"))
    (folder / ".hidden.txt").write_text("hidden", "utf-8")
    (folder / ".git" / "config").write_text("hidden", "utf-8")
    return folder
