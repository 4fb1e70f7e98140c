/** SmolLM2-135M-Instruct with a random adapter: llama.cpp says the same of base and adapter apart as of both merged. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { askLlama } from "./llama-cpp.ts";
import { writeRandomAdapter } from "./random-adapter.ts";
import { smollm2 } from "./smollm2.ts";

const folder = mkdtempSync(join(tmpdir(), "llama-adapter-"));
afterAll(() => rmSync(folder, { recursive: true }));

const prompts = [
  [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198],
  [1, 4093, 198, 19161, 253, 421, 30614, 563, 260, 2774, 30, 2, 198, 1, 520, 9531, 198],
  [1, 4093, 198, 4679, 314, 260, 6376, 4461, 47, 2, 198, 1, 520, 9531, 198],
  [1, 4093, 198, 30029, 8466, 288, 253, 1848, 30, 2, 198, 1, 520, 9531, 198],
];

it("is the merged model", { timeout: 900_000 }, async () => {
  const adapter = await writeRandomAdapter(smollm2(), join(folder, "adapter"));
  const quiet = { stdout: { write: () => undefined }, stderr: process.stderr };
  const write = async (part: string): Promise<string> => {
    const into = join(folder, `${part}.gguf`);
    const flags = ["--format", "gguf", "--part", part, "--dtype", "f32", "--into", into, "--quiet"];
    expect(await runCli(["model", "export", adapter, ...flags], quiet)).toBe(0);
    return into;
  };
  const ask = (model: string, file?: string): readonly (readonly number[])[] => {
    const apart = file === undefined ? {} : { adapter: file };
    return askLlama(model, { prompts, maxTokens: 24, texts: [], ...apart }).answers;
  };
  const base = await write("base");
  const merged = ask(await write("merged"));
  const apart = ask(base, await write("adapter"));
  const plain = ask(base);
  const equal = (answers: readonly (readonly number[])[]): number => {
    const same = merged.map((answer, i) => answer.filter((id, k) => answers[i]![k] === id).length);
    return same.reduce((sum, count) => sum + count, 0) / merged.flat().length;
  };
  process.stderr.write(`equal tokens: ${equal(apart)} apart, ${equal(plain)} without adapter\n`);
  expect(equal(apart)).toBeGreaterThan(0.95);
  expect(equal(plain)).toBeLessThan(0.9);
});
