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
      const rows = written.map((value, i) => ({ at: `${fixture(name)}, row ${i + 1}`, value }));
      expect(await read(name)).toEqual(rows);
    },
  );
  it("has integers that a number cannot hold as text", async () => {
    expect(await read("large-integer")).toMatchObject([
      { value: { id: "9007199254740993" } },
      { value: { id: 1 } },
    ]);
  });
});
