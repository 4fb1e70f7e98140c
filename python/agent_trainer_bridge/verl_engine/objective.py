"""What verl's workers minimise: agent-trainer's loss in place of verl's own.

verl calls it for each micro-batch and adds up what it returns; ranks are averaged, so a rank's sum is
multiplied by their number. Workers get this module by value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .token_losses import TOKEN_LOSSES, WEIGHTED, TokenInputs, kl_terms, limited_log_ratio


def token_objective(
    numbers: Mapping[str, Any], columns: Mapping[str, torch.Tensor], now: torch.Tensor, entropy: torch.Tensor | None
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """[rows, tokens] what each token adds to the loss, and what is measured beside it."""
    mask = columns["response_mask"].bool()
    before = columns["old_log_probs"]
    weights = columns["rollout_is_weights"]
    inputs = TokenInputs(now, before, columns["advantages"], mask, weights, numbers)
    terms, clipped = TOKEN_LOSSES[numbers["name"]](inputs)
    total = terms if numbers["name"] in WEIGHTED else terms * weights
    measured = {}
    if clipped is not None:
        measured["clip_fraction"] = clipped.float()
    if numbers["kl_coef"] is not None:
        distance = kl_terms(numbers["kl_estimator"], now, columns["ref_log_prob"])
        total = total + numbers["kl_coef"] * distance
        measured["kl_reference"] = distance.detach()
    if entropy is not None:
        total = total - numbers["entropy_coef"] * entropy
        measured["entropy"] = entropy.detach()
    return torch.where(mask, total * columns["factors"], 0), measured


def gaps(now: torch.Tensor, before: torch.Tensor) -> dict[str, torch.Tensor]:
    """[rows, tokens] how far the weights that train are from those that sampled."""
    log_ratio = now.detach() - before
    limited = limited_log_ratio(now.detach(), before)
    ratio = limited.exp()
    return {
        "sampled_nll": -before,
        "kl_k1": -log_ratio,
        "kl_k3": ratio - 1 - limited,
        "logprob_abs_diff_mean": log_ratio.abs(),
        "ratio_mean": ratio,
        "ratio_squared": ratio.square(),
    }


def policy_objective(
    model_output: Any, data: Any, dp_group: Any = None, *, numbers: Mapping[str, Any]
) -> tuple[torch.Tensor, dict[str, Any]]:
    """The signature that verl's engines call; `numbers` are the fields of `Loss`."""
    from verl.utils.metric import AggregationType, Metric
    from verl.workers.utils.padding import no_padding_2_padding

    ranks, trained = data["dp_size"], data["batch_num_tokens"]
    now = no_padding_2_padding(model_output["log_probs"], data).float()
    entropy = None
    if numbers["entropy_coef"] != 0:
        entropy = no_padding_2_padding(model_output["entropy"], data).float()
    names = ["response_mask", "old_log_probs", "advantages", "rollout_is_weights", "factors"]
    if numbers["kl_coef"] is not None:
        names.append("ref_log_prob")
    columns = data.select(*names).to_padded_tensor()
    mask = columns["response_mask"].bool()
    values, measured = token_objective(numbers, columns, now, entropy)
    metrics = {}
    if numbers["name"] != "cross_entropy":
        before = columns["old_log_probs"]
        measured = {**measured, **gaps(now, before)}
        ratio = limited_log_ratio(now.detach(), before).exp()
        metrics["ratio_max"] = Metric(AggregationType.MAX, torch.where(mask, ratio, 0).max())
        metrics["ratio_min"] = Metric(AggregationType.MIN, torch.where(mask, ratio, torch.inf).min())
    for name, value in measured.items():
        # Summed over micro-batches and averaged over ranks: together the mean over all trained tokens.
        share = torch.where(mask, value, 0).sum() * ranks / trained
        metrics[name] = Metric(AggregationType.SUM, share)
    return values.sum() * ranks, metrics
