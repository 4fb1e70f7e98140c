"""A critic in plain transformers and torch: `critic_oracle.py MODEL < JSON > JSON`.

In: rows of tokens with a mask, values and returns, the learning rate of each step, the clip and eps. Out: the values
before and after, and the mean value loss and gradient norm of the steps whose rate is not 0.
"""

from __future__ import annotations

import json
import sys

import torch
from transformers import AutoModelForTokenClassification

work = json.load(sys.stdin)
model = AutoModelForTokenClassification.from_pretrained(
    sys.argv[1], num_labels=1, dtype=torch.float32, attn_implementation="sdpa"
)
model.eval()
with torch.no_grad():
    model.score.weight.zero_()
    model.score.bias.zero_()
optimizer = torch.optim.AdamW(
    model.parameters(), lr=0.0, betas=tuple(work["betas"]), eps=work["eps"], weight_decay=0.0
)
count = sum(sum(row["mask"]) for row in work["rows"])


def value(row: dict[str, list[float]]) -> torch.Tensor:
    """Of what comes before each token; the first has nothing before it."""
    found = model(torch.tensor([row["tokens"]])).logits[0, :, 0]
    return torch.cat([torch.zeros(1), found[:-1]])


def values() -> list[list[float]]:
    with torch.no_grad():
        return [(value(row) * torch.tensor(row["mask"])).tolist() for row in work["rows"]]


before = values()
losses, norms = [], []
for rate in work["rates"]:
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss = torch.zeros(())
    for row in work["rows"]:
        now, old, target, mask = value(row), *(torch.tensor(row[name]) for name in ("values", "returns", "mask"))
        limited = old + (now - old).clamp(-work["clip"], work["clip"])
        loss = loss + (0.5 * torch.maximum((now - target) ** 2, (limited - target) ** 2) * mask).sum() / count
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), work["max_norm"])
    if rate > 0:
        norms.append(norm.item())
        losses.append(loss.item())
    optimizer.step()
mean = lambda numbers: sum(numbers) / len(numbers)
json.dump({"before": before, "after": values(), "loss": mean(losses), "norm": mean(norms)}, sys.stdout)
