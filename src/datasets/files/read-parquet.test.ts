import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readFileRows } from "./read-file.ts";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/parquet/${name}.parquet`, import.meta.url));

async function read(name: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const row of readFileRows(fixture(name), "dataset.train")) rows.push(row);
  return rows;
}

/** The rows that write-fixtures.py gave to pyarrow, as JSON has them. */
const written = Array.from({ length: 7 }, (_, i) => ({
  id: `q${i}`,
  question: `What is ${i} + ${i}? ü🙂`,
  level: i,
  score: i / 2,
  hard: i % 2 === 0,
  prompt: [
    { role: "system", content: "Add." },
    { role: "user", content: `${i} + ${i}` },
  ],
  reward_model: { ground_truth: String(2 * i), style: "rule" },
  tags: ["a", "b"].slice(0, i % 3),
  note: i % 2 === 1 ? null : `note ${i}`,
  when: `2024-01-0${1 + i}T12:00:00.000Z`,
  raw: Buffer.of(0, 255, i).toString("base64"),
}));

describe("a Parquet file", () => {
  it.each(["none", "snappy", "gzip", "brotli", "zstd", "lz4"])(
    "that pyarrow compressed with %s has the rows that were written, over several row groups",
    async (name) => {
      const rows = written.map((value, i) => {
        return { at: `${fixture(name)}, row ${i + 1}`, value, isColumnar: true };
      });
      expect(await read(name)).toEqual(rows);
    },
  );
  it("has integers that a number cannot hold as text", async () => {
    expect(await read("large-integer")).toMatchObject([
      { value: { id: "9007199254740993" } },
      { value: { id: 1 } },
    ]);
  });

  it.each(["exact", "exact-plain"])(
    "%s: decimals, times, bytes and odd numbers are exact, in lists, structures and maps too",
    async (name) => {
      const rows = (await read(name)).map((row) => (row as { value: unknown }).value);
      const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");
      // What write-fixtures.py wrote, in words.
      expect(rows).toEqual([
        {
          cents: "0.01",
          long: "123456789012.345",
          wide: "0.1234567890123456789",
          widest: `1${"0".repeat(70)}`,
          prices: ["0.10", null],
          item: { price: "0.70" },
          byName: { a: "1.10" },
          fixed: base64("0123456789abcdef"),
          bytes: "text",
          ms: "01:02:03.004",
          us: "23:59:59.999999",
          ns: "00:00:00.000000001",
          when: "2024-01-02T03:04:05.678901Z",
          whenNs: "2023-11-14T22:13:20.000000001Z",
          day: "2024-02-29",
          real: "NaN",
          half: 0.5,
          huge: "18446744073709551615",
          span: 1_500_000,
        },
        {
          cents: "-12.30",
          long: "-0.001",
          wide: "-9999999999999999999.5000000000000000000",
          widest: `-1${"0".repeat(70)}`,
          prices: [],
          item: { price: null },
          byName: {},
          fixed: base64(Uint8Array.from({ length: 16 }, (_, i) => (i === 15 ? 42 : 0))),
          bytes: base64(Uint8Array.of(0, 1)),
          ms: "00:00:00",
          us: "12:00:00",
          ns: "23:59:59.999999999",
          when: "1969-12-31T23:59:59.999999Z",
          whenNs: "1969-12-31T23:59:59.999999999Z",
          day: "1969-12-31",
          real: "Infinity",
          half: "-Infinity",
          huge: "9007199254740992",
          span: -1,
        },
        {
          cents: null,
          long: "0.000",
          wide: null,
          widest: "1",
          prices: null,
          item: null,
          byName: null,
          fixed: null,
          bytes: base64(Uint8Array.of(255)),
          ms: null,
          us: null,
          ns: null,
          when: null,
          whenNs: null,
          day: null,
          real: -0.5,
          half: 65504,
          huge: 0,
          span: null,
        },
      ]);
    },
  );
});
