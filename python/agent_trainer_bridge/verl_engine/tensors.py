"""Rows as verl's tensors: prompts to the left, responses to the right, then without padding.

Masks come from lengths, never from comparing ids with a padding id, which may be a real token.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from ..packing import Packing
from ..rows import Row

# An empty place trains nothing; its two tokens keep shapes valid.
_EMPTY = Row(array("i", [0, 0]), bytes(2), array("f", [0, 0]), array("f", [0, 0]), array("f", [0, 0]), 0.0)

Columns = Mapping[str, Sequence[Sequence[float]]]
"""By verl's name, [row][length]."""


def _split(row: Row) -> int:
    """Where the response begins. There is a prompt and a response in every row."""
    return min(row.first_target, len(row) - 1)


def training_columns(rows: Sequence[Row], reference: Sequence[Sequence[float]] | None) -> Columns:
    """What the objective reads; `factors` is of this bridge, the other names are verl's."""
    columns: dict[str, Sequence[Sequence[float]]] = {
        "old_log_probs": [row.sampling_logprobs for row in rows],
        "advantages": [row.advantages for row in rows],
        "rollout_is_weights": [row.weights for row in rows],
        "factors": [[row.factor] * len(row) for row in rows],
    }
    return columns if reference is None else {**columns, "ref_log_prob": reference}


def value_columns(rows: Sequence[Row]) -> Columns:
    """What the value objective reads, of rows that teach a critic."""
    targets = [row.critic for row in rows if row.critic is not None]
    return {
        "values": [target.values for target in targets],
        "returns": [target.returns for target in targets],
        "factors": [[target.factor] * len(target.values) for target in targets],
    }


def to_tensordict(rows: Sequence[Row], columns: Columns, packing: Packing) -> Any:
    """A TensorDict in the order of `packing`, in verl's format without padding."""
    import torch
    from tensordict import TensorDict
    from verl.workers.utils.padding import left_right_2_no_padding

    placed = [_EMPTY if index is None else rows[index] for index in packing.order]
    splits = [_split(row) for row in placed]
    width = max(splits)
    height = max(len(row) - split for row, split in zip(placed, splits))
    count = len(placed)
    ids = torch.zeros(count, width + height, dtype=torch.int64)
    mask = torch.zeros(count, width + height, dtype=torch.int64)
    responses = {name: torch.zeros(count, height, dtype=torch.float32) for name in ("response_mask", *columns)}
    for at, (index, row, split) in enumerate(zip(packing.order, placed, splits)):
        length = len(row)
        start = width - split
        ids[at, start : start + length] = torch.tensor(row.tokens, dtype=torch.int64)
        mask[at, start : start + length] = 1
        if index is None:
            continue
        size = length - split
        responses["response_mask"][at, :size] = torch.tensor(list(row.target_mask[split:]), dtype=torch.float32)
        for name, values in columns.items():
            responses[name][at, :size] = torch.tensor(values[index][split:], dtype=torch.float32)
    batch = {
        "prompts": ids[:, :width],
        "responses": ids[:, width:],
        "input_ids": ids,
        "attention_mask": mask,
        "position_ids": (mask.cumsum(1) - 1).clamp(min=0) * mask,
        **responses,
    }
    return left_right_2_no_padding(TensorDict(batch, batch_size=[count]))


def row_temperatures(rows: Sequence[Row], packing: Packing) -> float | list[float]:
    """One for all where they are equal, as verl's fused kernels want it; else one for each place of `packing`."""
    found = {row.temperature for row in rows}
    if len(found) == 1:
        return found.pop()
    return [1.0 if index is None else rows[index].temperature for index in packing.order]


def set_temperature(data: Any, rows: Sequence[Row], packing: Packing) -> None:
    """What verl divides logits by."""
    import torch
    from verl.utils import tensordict_utils as tu

    temperatures = row_temperatures(rows, packing)
    if isinstance(temperatures, float):
        tu.assign_non_tensor(data, temperature=temperatures)
    else:
        data["temperature"] = torch.tensor(temperatures, dtype=torch.float32)


def response_values(output: Any, data: Any, rows: Sequence[Row], packing: Packing) -> list[list[float]]:
    """verl's log-probabilities, [row][length] in the order of `rows`; 0 outside the target mask."""
    from verl.workers.utils.padding import no_padding_2_padding

    padded = no_padding_2_padding(output, data).float().tolist()
    found = packing.restore(padded)
    answer = []
    for row, values in zip(rows, found):
        split = _split(row)
        full = [0.0] * len(row)
        for at in range(split, len(row)):
            if row.target_mask[at] == 1:
                full[at] = values[at - split]
        answer.append(full)
    return answer
