"""A sound splitter, and splitters that each have one fault."""

from __future__ import annotations

import itertools
import re

from oprag.splitting import split_tokens
from oprag.testing import SplitterSuite


class SoundSplitter(SplitterSuite):
    """Windows of 40 characters."""

    chunk_size = 40

    def split(self, text):
        chunks = split_tokens(text, chunk_size=40, tokenizer=len)
        return [(text[c.start : c.end], c.start, c.end) for c in chunks]

    def count(self, text):
        return len(text)


class SoundLines(SoundSplitter):
    """Its lines are without their ends."""

    drops_white_space = True

    def split(self, text):
        return [(m[0], *m.span()) for m in re.finditer(r"\S(?:.{,38}\S)?", text)]


class DropsLineEnds(SoundLines):
    """Says nothing of it."""

    drops_white_space = False


class Strips(SoundSplitter):
    def split(self, text):
        return [(chunk.strip(), a, b) for chunk, a, b in super().split(text)]


class LooksForItsChunks(SoundSplitter):
    """As LangChain's `start_index` is found, but from the beginning."""

    def split(self, text):
        texts = [chunk for chunk, _, _ in super().split(text)]
        places = [text.find(chunk) for chunk in texts]
        return [(c, at, at + len(c)) for c, at in zip(texts, places, strict=True)]


class AddsUp(SoundSplitter):
    """Counts words and not what is between them."""

    def split(self, text):
        bounds = [m.start() for m in re.finditer(r"\S{1,40}", text)]
        starts, room = [0] if text else [], self.chunk_size
        for start, end in itertools.pairwise([*bounds, len(text)]):
            word = len(text[start:end].strip())
            if word > room:
                starts.append(start)
                room = self.chunk_size
            room -= word
        spans = itertools.pairwise([*starts, len(text)])
        return [(text[a:b], a, b) for a, b in spans if a < b]


class LosesTheLast(SoundSplitter):
    def split(self, text):
        return super().split(text)[:-1]


class BestFirst(SoundSplitter):
    """Sorts its chunks by length."""

    def split(self, text):
        return sorted(super().split(text), key=lambda chunk: len(chunk[0]))


class Drifts(SoundSplitter):
    """Every call cuts elsewhere."""

    calls = itertools.count()

    def split(self, text):
        size = 30 + next(self.calls) % 7
        chunks = split_tokens(text, chunk_size=size, tokenizer=len)
        return [(text[c.start : c.end], c.start, c.end) for c in chunks]


class GivesAnEmptyChunk(SoundSplitter):
    def split(self, text):
        return super().split(text) or [(text, 0, 0)]
