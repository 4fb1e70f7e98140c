"""What a critic minimises: agent-trainer's value loss, of which docs/algorithms.md has the formula.

verl calls it for each micro-batch and adds up what it returns; ranks are averaged, so a rank's sum is
multiplied by their number. Workers get this module by value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def value_terms(
    columns: Mapping[str, torch.Tensor], now: torch.Tensor, clip: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """[rows, tokens] what each token adds to the loss before its factor, and where its value was clipped."""
    before, returns = columns["values"], columns["returns"]
    limited = now if clip is None else torch.clamp(now, before - clip, before + clip)
    error, limited_error = (now - returns).square(), (limited - returns).square()
    return 0.5 * torch.maximum(error, limited_error), limited_error > error


def value_objective(
    model_output: Any, data: Any, dp_group: Any = None, *, clip: float | None
) -> tuple[torch.Tensor, dict[str, Any]]:
    """The signature that verl's engines call."""
    from verl.utils.metric import AggregationType, Metric
    from verl.workers.utils.padding import no_padding_2_padding

    ranks, trained = data["dp_size"], data["batch_num_tokens"]
    now = no_padding_2_padding(model_output["values"], data).float()
    columns = data.select("response_mask", "values", "returns", "factors").to_padded_tensor()
    mask = columns["response_mask"].bool()
    terms, clipped = value_terms(columns, now, clip)
    measured = {"value_loss": terms.detach()}
    if clip is not None:
        measured["value_clip_fraction"] = clipped.float()
    metrics = {
        # Summed over micro-batches and averaged over ranks: together the mean over all tokens.
        name: Metric(AggregationType.SUM, torch.where(mask, values, 0).sum() * ranks / trained)
        for name, values in measured.items()
    }
    return torch.where(mask, terms * columns["factors"], 0).sum() * ranks, metrics
