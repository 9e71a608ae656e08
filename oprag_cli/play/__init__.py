"""`oprag play`: a local page to ask one's files on, and to see the passages read."""

from oprag_cli.play.command import play

__all__ = ["play"]
