import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { makeStep } from "../../test/make-step.ts";
import { toLine } from "./json-lines.ts";
import { planFile, planLine, planPlain, recordEnding } from "./record-lines.ts";
import { RecordWriter } from "./record-writer.ts";

const many = Number.POSITIVE_INFINITY;
const newFolder = (): string => mkdtempSync(join(tmpdir(), "record-writer-"));

/** With what a user may return: it says itself how it is written. */
const records = Array.from({ length: 20 }, (_, i) => ({
  id: `${i}`,
  output: { at: new Date(0), price: { toJSON: () => "12.50" }, text: '{"trace":"🦆"}' },
  metadata: { scores: Float32Array.of(0.5, Number.NaN) },
  steps: [
    makeStep({
      promptIds: Int32Array.of(0, 1, 2, i).subarray(1),
      responseIds: Int32Array.of(3, 4),
      logprobs: Float32Array.of(-0.5, -1),
    }),
  ],
}));

it.each(["none", "gzip"] as const)(
  "writes what toLine gives, compression %s",
  async (compression) => {
    const folder = newFolder();
    const writer = new RecordWriter();
    const path = (name: string): string => join(folder, `${name}${recordEnding(compression)}`);
    writer.write(planFile(path("here"), compression, records.map(planLine)), 0);
    expect(existsSync(path("here"))).toBe(true);
    writer.write(planFile(path("thread"), compression, records.map(planLine)), many);
    // In order, although it is small.
    writer.write(planFile(path("thread"), compression, [planPlain({ b: [1, 2] })]), 0);
    writer.write(planFile(path("plain"), compression, records.map(planLine)), many);
    await writer.flush();
    const read = (name: string): string => {
      const bytes = readFileSync(path(name));
      return (compression === "gzip" ? gunzipSync(bytes) : bytes).toString();
    };
    const expected = records.map(toLine).join("");
    expect(expected).toContain('"price":"12.50"');
    expect(expected).toContain('"promptIds":[1,2,7]');
    expect(read("here")).toBe(expected);
    expect(read("plain")).toBe(expected);
    expect(read("thread")).toBe('{"b":[1,2]}\n');
    expect(readdirSync(folder)).toHaveLength(3);
    writer.close();
  },
);

it("reports a file that the thread cannot write, once, with its path", async () => {
  const writer = new RecordWriter();
  const path = join(newFolder(), "missing", "a.jsonl");
  writer.write(planFile(path, "none", records.map(planLine)), many);
  await expect(writer.flush()).rejects.toMatchObject({
    code: "FILE_FAILED",
    message: expect.stringContaining(path),
  });
  await writer.flush();
  writer.close();
});

it("writes what is waiting when it is closed, or when the thread fails", async () => {
  const folder = newFolder();
  const file = (name: string) => planFile(join(folder, name), "none", [planPlain({ name })]);
  const closed = new RecordWriter();
  for (let i = 0; i < 5; i++) closed.write(file(`closed-${i}.jsonl`), many);
  closed.close();
  expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toHaveLength(5);
  const { Worker } = await import("node:worker_threads");
  const broken = new RecordWriter(() => new Worker("process.exit(1)", { eval: true }));
  broken.write(file("broken.jsonl"), many);
  await broken.flush();
  expect(readFileSync(join(folder, "broken.jsonl"), "utf8")).toBe('{"name":"broken.jsonl"}\n');
});
