"""README.md as package indexes show it: they follow no relative links."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_SOURCE = re.compile(r'\b(src|srcset)="(?!\w+:)([^"]+)"')
_RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Makes the long description of the distribution out of README.md.

    With `Source` in `[project.urls]`, links lead to the files of that version there.
    Without it they become plain text, and pictures are left out.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the long description."""
        source = metadata.get("urls", {}).get("Source", "").rstrip("/")

        def absolute(link: re.Match[str]) -> str:
            mark, text, target = link.groups()
            if not source:
                return "" if mark else text
            folder = "raw" if mark else "blob"
            place = f"{source}/{folder}/v{metadata['version']}/{target}"
            return f"{mark}[{text}]({place})"

        text = (Path(self.root) / "README.md").read_text("utf-8")
        if source:
            raw = f"{source}/raw/v{metadata['version']}"
            text = _SOURCE.sub(rf'\1="{raw}/\2"', text)
        else:
            text = _PICTURE.sub("", text)
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": _RELATIVE.sub(absolute, text),
        }
