import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../program.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-inspect-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "rows.jsonl");

async function inspect(rows: string, ...flags: readonly string[]) {
  writeFileSync(file, rows);
  let [out, err] = ["", ""];
  const code = await runCli(["dataset", "inspect", file, ...flags], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

describe("dataset inspect", () => {
  it("shows what a dataset holds", async () => {
    const { code, out, err } = await inspect('{"question":"a"}\n{"question":"bcd","n":1}\n');
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe(
      [
        `${file}: 2 rows, 2 of which can be used`,
        "fields",
        "  question  string; length 1 to 3, 2.0 on average",
        "  n         number; missing in 1 row",
        "duplicates: 0",
        "examples",
        '  0: "a"',
        '  1: "bcd"',
        "",
      ].join("\n"),
    );
  });
  it("names bad rows by their lines, and exits with 1", async () => {
    const { code, out } = await inspect('{"question":"a"}\n\n{"q":1}\n{');
    expect(code).toBe(1);
    expect(out).toContain("bad rows: 2");
    expect(out).toContain(`${file}:3: there is neither "instruction" nor "question".`);
    expect(out).toContain(`${file}:4: not valid JSON`);
  });
  it("reads other fields, and prints JSON", async () => {
    const { code, out } = await inspect('{"q":["a"]}\n', "--field", "instruction=q.0", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      dataset: file,
      tasks: 1,
      examples: [{ instruction: "a" }],
    });
  });
  it("exits with 2 for a file that does not exist, and for wrong flags", async () => {
    expect((await inspect("", "--field", "instruction")).code).toBe(2);
    rmSync(file);
    let err = "";
    const io = {
      stdout: { write: () => true },
      stderr: { write: (text: string) => (err += text) },
    };
    expect(await runCli(["dataset", "inspect", file], io)).toBe(2);
    expect(err).toContain(`${file}, which does not exist`);
  });
});
