"""Worked by hand: which rank gets which row."""

from __future__ import annotations

import unittest

from agent_trainer_bridge.packing import pack


class PackTest(unittest.TestCase):
    def test_balances_seven_rows_over_three_ranks(self) -> None:
        # Sorted: 9 8 7 5 4 3 2. Ranks take 9 | 8 | 7, then 5 to the 7, 4 to the 8, 3 to the 9, and 2
        # to any with less than three rows: all three have 12, so the first.
        packing = pack([5, 9, 2, 7, 8, 3, 4], 3)
        self.assertEqual(packing.rows_per_rank, 3)
        self.assertEqual(packing.loads([5, 9, 2, 7, 8, 3, 4]), [14, 12, 12])
        self.assertEqual(packing.order, (1, 2, 5, 4, 6, None, 0, 3, None))

    def test_pads_so_that_every_rank_has_as_many(self) -> None:
        self.assertEqual(pack([4], 4).order, (0, None, None, None))
        self.assertEqual(pack([1, 1, 1, 1, 1], 2).rows_per_rank, 3)

    def test_never_gives_a_rank_more_rows_than_fit(self) -> None:
        # By tokens alone the long row would sit alone, and the other rank would have three.
        packing = pack([100, 1, 1, 1], 2)
        self.assertEqual(packing.order, (0, 3, 1, 2))

    def test_restores_the_order_of_rows(self) -> None:
        lengths = [5, 9, 2, 7, 8, 3, 4]
        packing = pack(lengths, 3)
        packed = [None if index is None else lengths[index] for index in packing.order]
        self.assertEqual(packing.restore(packed), lengths)

    def test_stays_within_the_bound_of_longest_first(self) -> None:
        # Graham 1969: at most 4/3 - 1/(3m) of the best. Best here is 12 | 12.
        packing = pack([7, 6, 5, 3, 3], 2)
        self.assertLessEqual(max(packing.loads([7, 6, 5, 3, 3])), 12 * 7 / 6)


if __name__ == "__main__":
    unittest.main()
