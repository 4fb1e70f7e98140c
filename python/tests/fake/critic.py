"""A critic of the toy policy: a value for each last token. Plain gradient descent on the value loss of docs/algorithms.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agent_trainer_bridge.critic import CriticUpdate
from agent_trainer_bridge.engine import Metrics
from agent_trainer_bridge.rows import Row

Values = dict[int, float]


def values_of(critic: Values, row: Row) -> list[float]:
    return [critic.get(row.tokens[at - 1], 0.0) if masked else 0.0 for at, masked in enumerate(row.target_mask)]


def learn_values(critic: Values, rows: Sequence[Row], update: CriticUpdate) -> Metrics:
    """`critic` is changed."""
    losses, norms, clipped, tokens = 0.0, 0.0, 0, 0
    for _ in range(update.epochs):
        slopes: Values = {}
        for row in rows:
            if row.critic is None:
                continue
            for at, now in enumerate(values_of(critic, row)):
                if not row.target_mask[at]:
                    continue
                old, target = row.critic.values[at], row.critic.returns[at]
                reach = math.inf if update.clip is None else update.clip
                limited = min(max(now, old - reach), old + reach)
                is_clipped = (limited - target) ** 2 > (now - target) ** 2
                clipped += is_clipped
                tokens += 1
                losses += 0.5 * max((limited - target) ** 2, (now - target) ** 2)
                last = row.tokens[at - 1]
                slope = 0.0 if is_clipped else row.critic.factor * (now - target)
                slopes[last] = slopes.get(last, 0.0) + slope
        norms += math.sqrt(sum(slope * slope for slope in slopes.values()))
        for last, slope in slopes.items():
            critic[last] = critic.get(last, 0.0) - update.learning_rate * slope
    if tokens == 0:
        return {}
    measured = {"value_loss": losses / tokens, "value_grad_norm": norms / update.epochs}
    return measured if update.clip is None else {**measured, "value_clip_fraction": clipped / tokens}
