"""`oprag play`: a local page for questions on your files, showing the passages."""

from oprag_cli.play.command import play

__all__ = ["play"]
