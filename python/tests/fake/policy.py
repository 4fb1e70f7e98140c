"""A bigram model over bytes and a few special ids: the next token depends on the last one alone.

Small enough that its gradient is exact and its results are the same on every machine and in every run.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

VOCABULARY = 260
"""Bytes, and ids from 256 on for what begins and ends turns."""

Logits = dict[int, list[float]]


def initial_logits() -> list[float]:
    """Letters first, so that what is drawn at the start can be read."""
    return [2.0 if ord("a") <= token <= ord("z") else -2.0 for token in range(VOCABULARY)]


def log_softmax(logits: Sequence[float]) -> list[float]:
    top = max(logits)
    total = top + math.log(sum(math.exp(value - top) for value in logits))
    return [value - total for value in logits]


class Policy:
    """Rows of logits, made when they are first trained."""

    def __init__(self, logits: Logits | None = None) -> None:
        self.logits: Logits = {} if logits is None else logits

    def copy(self) -> Policy:
        return Policy({last: list(row) for last, row in self.logits.items()})

    def row(self, last: int) -> list[float]:
        return self.logits.get(last) or initial_logits()

    def logprobs(self, last: int, temperature: float = 1.0) -> list[float]:
        row = self.row(last)
        return log_softmax(row if temperature == 1 else [value / temperature for value in row])

    def sample(self, prompt: Sequence[int], draws: random.Random, temperature: float) -> tuple[int, float, float]:
        """A token, and its log-probabilities at temperature 1 and at `temperature`."""
        last = prompt[-1]
        logprobs = self.logprobs(last)
        if temperature == 0:
            token = max(range(VOCABULARY), key=logprobs.__getitem__)
            return token, logprobs[token], logprobs[token]
        tempered = self.logprobs(last, temperature)
        token = draws.choices(range(VOCABULARY), [math.exp(value) for value in tempered])[0]
        return token, logprobs[token], tempered[token]
