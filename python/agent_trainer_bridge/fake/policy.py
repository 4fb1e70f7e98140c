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

    def logprobs(self, last: int) -> list[float]:
        return log_softmax(self.row(last))

    def sample(self, prompt: Sequence[int], draws: random.Random, temperature: float) -> tuple[int, float]:
        """A token and its log-probability at temperature 1."""
        logprobs = self.logprobs(prompt[-1])
        if temperature == 0:
            token = max(range(VOCABULARY), key=logprobs.__getitem__)
            return token, logprobs[token]
        weights = [math.exp(value) for value in log_softmax([value / temperature for value in self.row(prompt[-1])])]
        token = draws.choices(range(VOCABULARY), weights)[0]
        return token, logprobs[token]
