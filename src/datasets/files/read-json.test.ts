/** Numbers in JSON files that JavaScript cannot hold. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sharedCases } from "../../../test/shared-cases.ts";
import { readTasks } from "../tasks/read-tasks.ts";
import { readFileRows } from "./read-file.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-rows-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(file: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const row of readFileRows(file, "dataset.train"))
    rows.push("problem" in row ? row.problem.message.split(": ").slice(1).join(": ") : row.value);
  return rows;
}

/** [row as JSON, its value or the problem] */
const rows: readonly (readonly [string, unknown])[] = [
  ['{"id":9007199254740993}', { id: "9007199254740993" }],
  ['{"id":9007199254740992}', { id: 9007199254740992 }],
  ['{"id":-9007199254740993}', { id: "-9007199254740993" }],
  ['{"id":1152921504606846976}', { id: "1152921504606846976" }],
  ['{"id":1000000000000000000}', { id: 1e18 }],
  ['{"id":1000000000000000000000}', { id: 1e21 }],
  ['{"answer":12345678901234567890}', { answer: "12345678901234567890" }],
  ['{"answer":1e400}', { answer: "1e400" }],
  ['{"answer":-1E+400}', { answer: "-1E+400" }],
  ['{"answer":1e-400}', { answer: "1e-400" }],
  ['{"answer":0e999}', { answer: 0 }],
  ['{"answer":1e300}', { answer: 1e300 }],
  ['{"answer":1.7976931348623157e308}', { answer: Number.MAX_VALUE }],
  ['{"answer":0.12345678901234567890}', { answer: 0.12345678901234568 }],
  ['{"answer":1700000000000}', { answer: 1.7e12 }],
  ['{"answer":"12345678901234567890"}', { answer: "12345678901234567890" }],
  ['{"answer":"1e400 and 9007199254740993"}', { answer: "1e400 and 9007199254740993" }],
  [
    '{"b":1,"n":1234567890123456,"a":[1.0,null,true,{"c":"\\u005f"}]}',
    { b: 1, n: 1234567890123456, a: [1, null, true, { c: "_" }] },
  ],
  ['{"a":1,"a":12345678901234567890}', { a: "12345678901234567890" }],
  [
    '{"answer":{"id":12345678901234567890}}',
    'JavaScript cannot hold the number 12345678901234567890 in "answer.id".',
  ],
  ['{"answer":[1,1e400]}', 'JavaScript cannot hold the number 1e400 in "answer.1".'],
  ['{"answer":{"__proto__":1}}', 'a row must not have the key "__proto__".'],
  ['{"answer":{"\\u005f_proto__":1}}', 'a row must not have the key "__proto__".'],
];

describe("a JSON file", () => {
  it("has a number that JavaScript cannot hold as text, or says so", async () => {
    const file = join(folder, "rows.jsonl");
    writeFileSync(file, rows.map(([text]) => text).join("\n"));
    expect(await read(file)).toEqual(rows.map(([, value]) => value));
  });

  it("is the same as one list", async () => {
    const file = join(folder, "rows.json");
    writeFileSync(file, `[${rows.map(([text]) => text).join(",")}]`);
    expect(await read(file)).toEqual(rows.map(([, value]) => value));
  });

  it.each([
    '{"a":NaN,"b":12345678901234567890}',
    '{"a":012345678901234567890}',
    "{12345678901234567890:1}",
  ])("that is not JSON is refused, with large numbers too: %s", async (text) => {
    const file = join(folder, "bad.jsonl");
    writeFileSync(file, text);
    expect(await read(file)).toEqual([expect.stringMatching(/^not valid JSON/u)]);
  });

  const shared = sharedCases("training/large-integers.jsonl");
  it.skipIf(shared === null)(
    "keeps ids apart (skipped where the shared cases are missing)",
    async () => {
      const { tasks } = await readTasks(readFileRows(shared!, "dataset.train"), {
        name: "dataset",
        fields: null,
        map: null,
        skipBadRows: false,
        stopAfter: Infinity,
        signal: new AbortController().signal,
      });
      expect([...tasks]).toMatchObject([
        { id: "9007199254740993", metadata: { answer: "12345678901234567890" } },
        { id: "9007199254740992", metadata: { answer: "1e400" } },
      ]);
    },
  );
});
