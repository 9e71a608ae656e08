"""What goes wrong: an error that says so, never a silent refusal."""

from __future__ import annotations

import pickle

import openai
import pytest

from oprag.errors import ContextWindowError, ModelCallError
from tests.kit.openai_server import Failure, Reply, ScriptedServer, context_overflow
from tests.llamaindex.self_routing import REFUSAL, WAYS, ask

pytestmark = pytest.mark.slow

every_way = pytest.mark.parametrize("way", WAYS)


@every_way
class TestTheModelFails:
    async def test_for_good_on_the_last_rung(self, way):
        with (
            ScriptedServer([Reply(REFUSAL), Failure(403, "not allowed")]) as server,
            pytest.raises(
                ModelCallError, match="'full' after refusing at 'retrieved'"
            ) as e,
        ):
            await ask(server, way)

        assert isinstance(e.value.__cause__, openai.PermissionDeniedError)
        assert e.value.call == "full"
        first, second = e.value.usage["rungs"]
        assert (first["decision"], second["decision"]) == ("declined", "failed")
        assert first["input_tokens"] > 0
        assert "not allowed" in str(e.value)
        assert pickle.loads(pickle.dumps(e.value)).usage == e.value.usage  # noqa: S301 -- our own

    async def test_by_closing_the_stream_without_a_reason(self, way):
        cut = Reply(deltas=["In", " M"], unfinished=True)
        with ScriptedServer([REFUSAL, cut]) as server:
            if not way.endswith("stream"):  # a whole reply is whole
                assert (await ask(server, way)).answer == "In M"
                return
            with pytest.raises(ModelCallError, match="broken off") as error:
                await ask(server, way)

        assert isinstance(error.value.__cause__, ConnectionError)

    async def test_because_the_prompt_is_too_long(self, way):
        with (
            ScriptedServer([REFUSAL, context_overflow(4096, 5000)]) as server,
            pytest.raises(ContextWindowError, match="max_context_tokens=") as error,
        ):
            await ask(server, way)

        assert error.value.window is None
        assert isinstance(error.value.__cause__, ModelCallError)
        assert error.value.__cause__.usage["rungs"][0]["decision"] == "declined"
        assert isinstance(error.value.__cause__.__cause__, openai.BadRequestError)
