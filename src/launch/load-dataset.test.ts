import { execFileSync } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadDataset } from "./load-dataset.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-dataset-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function load(name: string, content?: string): Promise<unknown> {
  if (content !== undefined) writeFileSync(join(folder, name), content);
  const tasks = await loadDataset(name, { folder, option: "dataset.train" });
  return Array.from(tasks, ({ instruction }) => instruction);
}

describe("JSON lines", () => {
  it("may end in any way, begin with a byte-order mark, and hold empty ones", async () => {
    const rows = ["a", "b", "ü🙂"].map((question) => JSON.stringify({ question }));
    for (const end of ["\n", "\r\n"]) {
      for (const tail of ["", end]) {
        const text = `\u{feff}${rows.join(end + end)}${tail}`;
        expect(await load("rows.jsonl", text)).toEqual(["a", "b", "ü🙂"]);
      }
    }
  });
  it("are the same wherever a piece that is read ends", async () => {
    const questions = Array.from({ length: 40 }, (_, i) => `${i}${"ü🙂".repeat(9000 + i)}`);
    const text = questions.map((question) => JSON.stringify({ question })).join("\n");
    expect(Buffer.byteLength(text)).toBeGreaterThan(2 * 2 ** 20);
    expect(await load("long.jsonl", text)).toEqual(questions);
  });
  it("name the file and line of the problem", async () => {
    await expect(load("bad.jsonl", '{"question":"a"}\n\n{')).rejects.toThrow(
      /bad\.jsonl:3: not valid JSON/,
    );
  });
  it("may be larger than the maximum string length", async () => {
    const file = openSync(join(folder, "huge.jsonl"), "w");
    const blank = Buffer.alloc(30 * 2 ** 20, " ");
    blank[blank.length - 1] = 0x0a;
    writeSync(file, '{"question":"first"}\n');
    for (let i = 0; i < 18; i++) writeSync(file, blank);
    writeSync(file, '{"question":"last"}');
    closeSync(file);
    expect(await load("huge.jsonl")).toEqual(["first", "last"]);
    rmSync(join(folder, "huge.jsonl"));
  });
  it.each([
    '{"question":"a","__proto__":{"x":1}}',
    String.raw`{"question":"a","deep":[{"\u005f_proto__":1}]}`,
  ])("with the key __proto__ are refused: %s", async (row) => {
    await expect(load("proto.jsonl", `{"question":"b"}\n${row}`)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/proto\.jsonl:2: .*"__proto__"/),
    });
  });
});

describe("a data file", () => {
  it("of JSON that exceeds the maximum string length is refused, with its name and a remedy", async () => {
    const file = openSync(join(folder, "huge.json"), "w");
    ftruncateSync(file, 600 * 2 ** 20);
    closeSync(file);
    await expect(load("huge.json")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(join(folder, "huge.json")),
      hint: expect.stringContaining(".jsonl"),
    });
  });
  it.skipIf(process.platform === "win32").each(["pipe.json", "pipe.jsonl"])(
    "that is a pipe is refused, not waited for: %s",
    async (name) => {
      execFileSync("mkfifo", [join(folder, name)]);
      await expect(load(name)).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(`${name} is a pipe, not a file`),
      });
    },
  );
});
