"""Rows for tests, from plain lists."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from agent_trainer_bridge.rows import Row


def row_of(
    tokens: Sequence[int],
    mask: Sequence[int],
    logprobs: Sequence[float] | None = None,
    advantage: float = 1.0,
    factor: float = 1.0,
    weight: float = 1.0,
    temperature: float = 1.0,
) -> Row:
    length = len(tokens)
    masked = [float(value) for value in mask]
    return Row(
        array("i", tokens),
        bytes(mask),
        array("f", logprobs or [0.0] * length),
        array("f", [advantage * value for value in masked]),
        array("f", [weight * value for value in masked]),
        factor,
        temperature,
    )
