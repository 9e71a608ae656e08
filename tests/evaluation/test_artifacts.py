"""Work of models is done once, and kept whole or not at all."""

import asyncio

import pytest

from oprag.errors import UnreadableFileError
from oprag_eval.artifacts import Artifacts

OF = {"text": "a", "seed": 42}


class Maker:
    def __init__(self, *, fails: int = 0) -> None:
        self.made = 0
        self._fails = fails

    async def __call__(self) -> dict:
        self.made += 1
        await asyncio.sleep(0)
        if self.made <= self._fails:
            raise ValueError(self.made)
        return {"number": self.made, "text": "ä\u2028"}


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_thing_is_made_once(tmp_path, on_disk):
    artifacts = Artifacts(tmp_path / "made" if on_disk else None)
    make = Maker()

    first = asyncio.run(artifacts.made("tree", OF, make))
    first["text"] = "changed by its owner"
    second = asyncio.run(artifacts.made("tree", dict(reversed(OF.items())), make))

    assert second == {"number": 1, "text": "ä\u2028"}
    assert make.made == 1


def test_another_process_finds_it(tmp_path):
    make = Maker()
    asyncio.run(Artifacts(tmp_path).made("tree", OF, make))
    found = asyncio.run(Artifacts(tmp_path).made("tree", OF, make))

    assert (found["number"], make.made) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "of"),
    [("gist", OF), ("tree", {**OF, "seed": 43}), ("tree", {"text": "a"})],
)
def test_another_kind_or_other_settings_are_another_thing(kind, of):
    artifacts, make = Artifacts(), Maker()
    asyncio.run(artifacts.made("tree", OF, make))
    asyncio.run(artifacts.made(kind, of, make))

    assert make.made == 2


def test_who_asks_meanwhile_waits_for_it():
    artifacts, make = Artifacts(), Maker()

    async def ask_all():
        return await asyncio.gather(
            *(artifacts.made("tree", OF, make) for _ in range(9))
        )

    assert [made["number"] for made in asyncio.run(ask_all())] == [1] * 9
    assert make.made == 1


def test_nothing_is_kept_of_a_failure_and_who_waited_makes_it(tmp_path):
    artifacts, make = Artifacts(tmp_path), Maker(fails=1)

    async def ask_all():
        return await asyncio.gather(
            *(artifacts.made("tree", OF, make) for _ in range(3)),
            return_exceptions=True,
        )

    failed, *others = asyncio.run(ask_all())
    assert isinstance(failed, ValueError)
    assert [made["number"] for made in others] == [2, 2]


def test_a_damaged_file_is_told(tmp_path):
    (tmp_path / "made.sqlite").write_bytes(b"no database at all, and longer than that")

    with pytest.raises(UnreadableFileError) as caught:
        Artifacts(tmp_path)

    assert caught.value.path == str(tmp_path / "made.sqlite")
