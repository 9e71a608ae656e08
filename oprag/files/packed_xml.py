"""XML that is packed in a file, as Office files and e-books have it."""

from __future__ import annotations

from typing import Any

from oprag.optional import require


def parse_xml(data: bytes, *, purpose: str) -> Any:
    """Parse XML; nothing that it refers to is read, no file and no address.

    Args:
        data: The XML.
        purpose: The reason to parse it, as `oprag.optional.require` takes it.

    Raises:
        MissingDependencyError: lxml is not installed.
    """
    etree = require("lxml.etree", extra="cli", purpose=purpose)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    return etree.fromstring(data, parser)
