from __future__ import annotations

import json
import struct
import unittest

from agent_trainer_bridge.errors import BadRequest
from agent_trainer_bridge.rows import check_rows
from agent_trainer_bridge.wire import decode_rows, encode_rows

from .rows_of import row_of


class WireTest(unittest.TestCase):
    def test_comes_back_as_it_was(self) -> None:
        rows = [row_of([3, 4, 5], [0, 1, 1], [0, -0.5, -0.25]), row_of([7, 8], [0, 1], [0, -2.0], -1.5, 0.125)]
        back, fields = decode_rows(encode_rows(rows, {"step": 4}))
        self.assertEqual(back, rows)
        self.assertEqual(fields, {"step": 4})

    def test_carries_the_temperature_of_each_row(self) -> None:
        rows = [row_of([1, 2], [0, 1], temperature=0.7), row_of([1, 2], [0, 1])]
        body = encode_rows(rows, {})
        back, fields = decode_rows(body)
        self.assertEqual([row.temperature for row in back], [0.7, 1.0])
        self.assertEqual(fields, {})
        with self.assertRaisesRegex(BadRequest, "temperatures must be a number for each row"):
            decode_rows(body.replace(b"[0.7, 1.0]", b"[0.7     ]"))

    def test_has_the_bytes_that_the_header_of_the_module_says(self) -> None:
        body = encode_rows([row_of([1, 2], [0, 1], [0, -1.0], 2.0, 0.25, 0.5)], {})
        (size,) = struct.unpack_from("<I", body)
        self.assertEqual(json.loads(body[4 : 4 + size]), {"lengths": [2], "factors": [0.25]})
        numbers = body[4 + size :]
        self.assertEqual(numbers, struct.pack("<ii2B6f", 1, 2, 0, 1, 0, -1.0, 0, 2.0, 0, 0.5))

    def test_refuses_what_is_cut_short_or_makes_no_sense(self) -> None:
        body = encode_rows([row_of([1, 2], [0, 1])], {})
        for broken in (
            b"",
            body[:3],
            body[:-1],
            body + b"\0",
            struct.pack("<I", 2) + b"{]",
            body.replace(b"[1.0]", b"[]   "),
        ):
            with self.assertRaises(BadRequest):
                decode_rows(broken)

    def test_names_the_row_that_cannot_be_trained_on(self) -> None:
        good = row_of([1, 2], [0, 1])
        for bad, words in [
            (row_of([1], [0]), "Row 1 has 1 tokens"),
            (row_of([1, -2], [0, 1]), "Row 1 has a negative"),
            (row_of([1, 2], [1, 1]), "mask of row 1"),
            (row_of([1, 2], [0, 1], [0, float("nan")]), "Row 1 has a value in sampling_logprobs"),
            (row_of([1, 2], [0, 1], factor=float("inf")), "factor of row 1"),
            (row_of([1, 2], [0, 1], temperature=0.0), "temperature of row 1 must be above 0"),
            (row_of([1, 2, 3], [0, 1, 1]), "Row 1 has 3 tokens, more than the 2"),
        ]:
            with self.assertRaisesRegex(BadRequest, words):
                check_rows([good, bad], context_length=2)
        with self.assertRaisesRegex(BadRequest, "No row has a token"):
            check_rows([row_of([1, 2], [0, 0])])


if __name__ == "__main__":
    unittest.main()
