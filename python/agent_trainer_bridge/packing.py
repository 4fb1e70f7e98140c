"""Which data-parallel rank gets which row, and how many empty rows are needed.

Every rank must get the same number of rows. Pure functions over lengths; knows no tensors.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Packing:
    """`order[k]` is the index of the row at place k, or None for an empty one.

    Places are cut into `ranks` stretches of the same size, one for each rank.
    """

    order: tuple[int | None, ...]
    ranks: int

    @property
    def rows_per_rank(self) -> int:
        return len(self.order) // self.ranks

    def loads(self, lengths: Sequence[int]) -> list[int]:
        """Tokens of each rank, those of empty rows left out."""
        size = self.rows_per_rank
        parts = [self.order[rank * size : (rank + 1) * size] for rank in range(self.ranks)]
        return [sum(lengths[index] for index in part if index is not None) for part in parts]

    def restore(self, packed: Sequence[T]) -> list[T]:
        """What came back for the places, in the order of the rows; empty places are dropped."""
        found = {index: packed[place] for place, index in enumerate(self.order) if index is not None}
        return [found[index] for index in range(len(found))]


def pack(lengths: Sequence[int], ranks: int) -> Packing:
    """Longest first, each to the rank with the least tokens that still has room.

    The largest load is at most 4/3 of the best possible, up to the limit on rows per rank. Depends on
    nothing but the arguments; ties go to the earlier row and the lower rank.
    """
    per_rank = max(1, -(-len(lengths) // ranks))
    parts: list[list[int | None]] = [[] for _ in range(ranks)]
    open_ranks = [(0, rank) for rank in range(ranks)]
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        load, rank = heapq.heappop(open_ranks)
        parts[rank].append(index)
        if len(parts[rank]) < per_rank:
            heapq.heappush(open_ranks, (load + lengths[index], rank))
    for part in parts:
        part.sort(key=lambda index: -1 if index is None else index)
        part.extend([None] * (per_rank - len(part)))
    return Packing(tuple(index for part in parts for index in part), ranks)
