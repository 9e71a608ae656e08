"""No public async method blocks its event loop, in any way of asking."""

import pytest

from tests.kit.heartbeat import LIMIT, shortest_block
from tests.test_heartbeat import CASES, IN_EVERY_RUN


@pytest.mark.parametrize("name", [name for name in CASES if name not in IN_EVERY_RUN])
async def test_no_async_method_blocks_its_event_loop(name):
    assert await shortest_block(*CASES[name]) < LIMIT
