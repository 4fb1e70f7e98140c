"""Training rows: ragged sequences as plain arrays. Knows no engine and no wire format."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from .critic import ValueTargets
from .errors import BadRequest, NumericsError


@dataclass(frozen=True)
class Row:
    """One sequence; every array has its length.

    Entry i speaks of token i as predicted from the tokens before it, so entry 0 is never a target.
    """

    tokens: array[int]
    target_mask: bytes
    """1 where the token is trained, else 0."""
    sampling_logprobs: array[float]
    advantages: array[float]
    weights: array[float]
    """What the token's policy loss is multiplied by; KL and entropy are not."""
    factor: float
    """What everything of the row is multiplied by; the loss of a batch is the plain sum after that."""
    temperature: float = 1.0
    """The policy is softmax(logits / temperature): log-probabilities and entropies are those of it."""
    critic: ValueTargets | None = None
    """None teaches no critic."""

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def first_target(self) -> int:
        """Where the response begins; the length when nothing is trained."""
        at = self.target_mask.find(1)
        return len(self.tokens) if at < 0 else at

    @property
    def target_count(self) -> int:
        return self.target_mask.count(1)


def check_rows(rows: Sequence[Row], context_length: int | None = None) -> None:
    """Raises BadRequest with the index of the first row that cannot be trained on."""
    if not rows:
        raise BadRequest("There is no row.")
    for index, row in enumerate(rows):
        length = len(row)
        if length < 2:
            raise BadRequest(f"Row {index} has {length} tokens; it needs at least 2.")
        if context_length is not None and length > context_length:
            raise BadRequest(f"Row {index} has {length} tokens, more than the {context_length} allowed.")
        if min(row.tokens) < 0:
            raise BadRequest(f"Row {index} has a negative token id.")
        if row.target_mask[0] != 0 or max(row.target_mask) > 1:
            raise BadRequest(f"The target mask of row {index} must be 0 or 1, and 0 at the first token.")
        for name in ("sampling_logprobs", "advantages", "weights"):
            values = getattr(row, name)
            if not all(map(math.isfinite, values)):
                raise BadRequest(f"Row {index} has a value in {name} that is not finite.")
        if not math.isfinite(row.factor):
            raise BadRequest(f"The factor of row {index} is not finite.")
        if row.critic is not None:
            _check_targets(index, row.critic)
        if not (math.isfinite(row.temperature) and row.temperature > 0):
            raise BadRequest(f"The temperature of row {index} must be above 0, but it is {row.temperature}.")
    if not any(row.target_count for row in rows):
        raise BadRequest("No row has a token to train on.")


def _check_targets(index: int, critic: ValueTargets) -> None:
    for name in ("values", "returns"):
        if not all(map(math.isfinite, getattr(critic, name))):
            raise NumericsError(f"Row {index} has a value in {name} that is not finite.")
    if not math.isfinite(critic.factor):
        raise BadRequest(f"The critic's factor of row {index} is not finite.")
