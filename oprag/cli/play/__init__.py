"""`oprag play`: a local page to ask one's files on, and to see what is read."""

from oprag.cli.play.command import play

__all__ = ["play"]
