"""Where positions do not order the document: an error that says what to do."""

import pytest

from oprag.errors import PositionError
from tests.llamaindex.places.ingredients import ingredients
from tests.llamaindex.places.registry import places_of
from tests.llamaindex.places.running import answering, build, each_mode, each_place


@each_mode
@each_place(places_of("refused"))
async def test_offsets_that_do_not_order_the_document_are_refused(place, mode):
    names = ingredients(oprag=True)

    with pytest.raises(PositionError, match="documents="):
        await answering(build(place.how, names), names, mode)
