"""Ids of chunks: UUIDs that anyone can make again from the document's name."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from oprag.metadata import chunk_id, document_key, named_id


@given(st.text(max_size=20), st.integers(0, 10**9))
def test_an_id_is_the_uuid_of_the_documents_key_and_the_index(name, index):
    named = f"{document_key(name)}/{index}"
    assert chunk_id(name, index) == str(uuid.uuid5(uuid.NAMESPACE_OID, named))


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_an_id_of_a_name_is_its_uuid(name):
    assert named_id(name) == str(uuid.uuid5(uuid.NAMESPACE_OID, name))
