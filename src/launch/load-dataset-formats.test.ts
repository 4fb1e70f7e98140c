import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { processorClock } from "../../test/processor-time.ts";
import { loadDataset } from "./load-dataset.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-data-"));
afterAll(() => rmSync(folder, { recursive: true }));

const load = (name: string, content: string | Uint8Array): ReturnType<typeof loadDataset> => {
  writeFileSync(join(folder, name), content);
  return loadDataset(name, { folder, option: "dataset.train" });
};
const bom = Buffer.of(0xef, 0xbb, 0xbf);
const utf16 = (text: string): Buffer =>
  Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(text, "utf16le")]);

const tasks = [
  { id: "a", instruction: "Add 1, 2", answer: "3" },
  { id: "b", instruction: 'Say "hi"\nand "bye"', answer: "" },
].map((row) => ({ id: row.id, instruction: row.instruction, metadata: row }));
const csv = 'id,instruction,answer\r\na,"Add 1, 2",3\r\n\r\nb,"Say ""hi""\nand ""bye""",\r\n';
const lines = `${tasks.map(({ metadata }) => JSON.stringify(metadata)).join("\n")}\n`;

describe("a dataset", () => {
  it.each<[string, string | Uint8Array]>([
    ["rows.csv", csv],
    ["rows.CSV", csv],
    ["bom.csv", Buffer.concat([bom, Buffer.from(csv)])],
    ["utf16.csv", utf16(csv)],
    ["rows.jsonl", lines],
    ["rows.ndjson", lines],
    ["bom.jsonl", Buffer.concat([bom, Buffer.from(lines)])],
    ["utf16.jsonl", utf16(lines)],
    ["bom.json", Buffer.concat([bom, Buffer.from(JSON.stringify(tasks.map((t) => t.metadata)))])],
  ])("from %s", async (name, content) => {
    expect(await load(name, content)).toEqual(tasks);
  });

  it("from a table with tabs, where quotes are letters", async () => {
    expect(await load("rows.tsv", 'question\tanswer\nis "x" y?\t"no"\n')).toEqual([
      { id: "0", instruction: 'is "x" y?', metadata: { question: 'is "x" y?', answer: '"no"' } },
    ]);
  });

  it("with 200,000 columns, whose names are compared once each", async () => {
    const names = ["question", ...Array.from({ length: 200_000 }, (_, i) => `c${i}`)];
    const spent = processorClock();
    await expect(load("wide.csv", `${[...names, "c199999"].join(",")}\n`)).rejects.toThrow(
      /wide\.csv:1: there are two columns "c199999"/u,
    );
    // Comparing each with each took minutes.
    expect(spent()).toBeLessThan(10);
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    ["ragged.csv", "id,question\n1,a\n2\n", /ragged\.csv: Invalid Record Length: .* on line 3\./],
    ["open.csv", 'id,question\n1,"a\n', /open\.csv: Quote Not Closed: .* at line 2\./],
    ["twice.csv", "id,id\n1,2\n", /twice\.csv:1: there are two columns "id"/],
    ["semicolons.csv", "id;question\n1;a\n", /semicolons\.csv:1: the columns are separated by ";"/],
    ["commas.tsv", "id,question\n1,a\n", /commas\.tsv:1: the columns are separated by ","/],
    ["empty.csv", "id,question\n1,a\n2,\n3,b\n,c\n", /empty\.csv:5: "id" must be a string/],
    [
      "other.csv",
      "id,prompt\n1,a\n",
      /other\.csv:2: there is neither "instruction" nor "question"/,
    ],
    ["none.csv", "", /none\.csv has no rows/],
    [
      "latin.csv",
      Buffer.from("id,question\n1,caf\xe9\n", "latin1"),
      /latin\.csv is not UTF-8 text/,
    ],
    ["rows.xlsx", "PK", /dataset\.train names \S+rows\.xlsx, but \.xlsx files are not supported/],
  ])("%s is refused with its location", async (name, content, message) => {
    await expect(load(name, content)).rejects.toThrow(message);
  });
});
