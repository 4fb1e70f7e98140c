"""Rows as bytes: a header in JSON, then arrays without padding between them.

    4 bytes   length of the header, little-endian
    header    {"lengths": [tokens of each row], "factors": [that of each row],
               "temperatures": [that of each row; absent where all are 1], ...fields}
    tokens            int32    [sum of lengths]
    target_mask       uint8    [sum of lengths]
    sampling_logprobs float32  [sum of lengths]
    advantages        float32  [sum of lengths]
    weights           float32  [sum of lengths]
    values, returns   float32  [sum of lengths] each, where the header has "critic_factors": [that of the value
                               loss of each row, or null where it teaches no critic]

All numbers are little-endian. Knows no meaning of the fields.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from typing import Any

from .critic import ValueTargets
from .errors import BadRequest
from .rows import Row

_COLUMNS = (("i", 4), ("B", 1), ("f", 4), ("f", 4), ("f", 4))
_CRITIC_COLUMNS = (("f", 4), ("f", 4))


def _numbers(code: str, data: memoryview) -> array[Any]:
    numbers = array(code)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _are_numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(isinstance(each, (int, float)) for each in value)


def _read_header(body: bytes) -> tuple[dict[str, Any], int]:
    if len(body) < 4:
        raise BadRequest("The body is shorter than its own header.")
    (size,) = struct.unpack_from("<I", body)
    try:
        header = json.loads(body[4 : 4 + size])
        lengths, factors = header["lengths"], header["factors"]
        is_valid = isinstance(lengths, list) and all(type(n) is int and n > 0 for n in lengths)
        temperatures = header.get("temperatures", [1.0] * len(lengths))
        has_factors = _are_numbers(factors, len(lengths))
        has_temperatures = _are_numbers(temperatures, len(lengths))
        of_critic = header.get("critic_factors", [])
        known = [0.0 if factor is None else factor for factor in of_critic]
        has_critic_factors = "critic_factors" not in header or _are_numbers(known, len(lengths))
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"The header of the body cannot be read: {error}.") from error
    if not is_valid:
        raise BadRequest("lengths must be whole numbers of at least 1.")
    if not has_factors:
        raise BadRequest("factors must be a number for each row.")
    if not has_temperatures:
        raise BadRequest("temperatures must be a number for each row.")
    if not has_critic_factors:
        raise BadRequest("critic_factors must be a number or null for each row.")
    return header, 4 + size


def decode_rows(body: bytes) -> tuple[list[Row], dict[str, Any]]:
    """The rows, and the header without what describes the rows."""
    header, start = _read_header(body)
    lengths: list[int] = header.pop("lengths")
    factors: list[float] = header.pop("factors")
    temperatures: list[float] = header.pop("temperatures", [1.0] * len(lengths))
    of_critic: list[float | None] | None = header.pop("critic_factors", None)
    kinds = _COLUMNS if of_critic is None else (*_COLUMNS, *_CRITIC_COLUMNS)
    total = sum(lengths)
    needed = total * sum(size for _, size in kinds)
    if len(body) - start != needed:
        raise BadRequest(f"The body has {len(body) - start} bytes of numbers, but {total} tokens need {needed}.")
    view = memoryview(body)
    columns = []
    for code, size in kinds:
        columns.append(_numbers(code, view[start : start + total * size]))
        start += total * size
    tokens, mask, logprobs, advantages, weights, *targets = columns
    rows = []
    at = 0
    for index, (length, factor, temperature) in enumerate(zip(lengths, factors, temperatures)):
        part = slice(at, at + length)
        own = (tokens[part], mask[part].tobytes(), logprobs[part], advantages[part], weights[part])
        value_factor = None if of_critic is None else of_critic[index]
        critic = None if value_factor is None else ValueTargets(*(column[part] for column in targets), value_factor)
        rows.append(Row(*own, float(factor), float(temperature), critic))
        at += length
    return rows, header


def encode_rows(rows: list[Row], fields: dict[str, Any]) -> bytes:
    """The inverse of `decode_rows`."""
    own: dict[str, Any] = {"lengths": [len(row) for row in rows], "factors": [row.factor for row in rows]}
    if any(row.temperature != 1 for row in rows):
        own["temperatures"] = [row.temperature for row in rows]
    has_targets = any(row.critic is not None for row in rows)
    if has_targets:
        own["critic_factors"] = [None if row.critic is None else row.critic.factor for row in rows]
    header = json.dumps({**fields, **own}).encode()
    parts = [struct.pack("<I", len(header)), header]
    for index, (code, _) in enumerate((*_COLUMNS, *_CRITIC_COLUMNS) if has_targets else _COLUMNS):
        for row in rows:
            zeros = [0.0] * len(row)
            targets = (zeros, zeros) if row.critic is None else (row.critic.values, row.critic.returns)
            own_columns = (row.tokens, row.target_mask, row.sampling_logprobs, row.advantages, row.weights)
            column = (*own_columns, *targets)[index]
            numbers = array(code, column)
            if sys.byteorder == "big":
                numbers.byteswap()
            parts.append(numbers.tobytes())
    return b"".join(parts)
