/**
 * llama.cpp's own server with an adapter, as `--lora` sets it: base and adapter, exported apart, answer as
 * both merged do. The model is small and random, with a byte-level tokenizer.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { createRandom } from "../../../src/util/random.ts";
import { writeSmallModel } from "../../engine/write-small-model.ts";
import { startLlamaServer } from "./llama-server.ts";
import { writeRandomAdapter } from "./random-adapter.ts";

const folder = mkdtempSync(join(tmpdir(), "llama-lora-"));
afterAll(() => rmSync(folder, { recursive: true }));

const random = createRandom(3);
const prompts = Array.from({ length: 8 }, () =>
  Array.from({ length: 12 }, () => Math.floor(random() * 256)),
);
const maxTokens = 24;

/** Greedy ids. */
async function answersOf(model: string, adapters: readonly string[] = []): Promise<number[][]> {
  await using server = await startLlamaServer(model, adapters);
  const answers: number[][] = [];
  for (const prompt of prompts) {
    const response = await fetch(`${server.url}/completion`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        prompt,
        n_predict: maxTokens,
        temperature: 0,
        ignore_eos: true,
        return_tokens: true,
      }),
    });
    answers.push(((await response.json()) as { tokens: number[] }).tokens);
  }
  return answers;
}

it("is the merged model", { timeout: 300_000 }, async () => {
  const base = join(folder, "base");
  await writeSmallModel(base);
  const adapter = await writeRandomAdapter(base, join(folder, "adapter"), 10);
  const quiet = { stdout: { write: () => undefined }, stderr: process.stderr };
  const write = async (part: string): Promise<string> => {
    const into = join(folder, `${part}.gguf`);
    const flags = ["--format", "gguf", "--part", part, "--dtype", "f32", "--into", into, "--quiet"];
    expect(await runCli(["model", "export", adapter, ...flags], quiet)).toBe(0);
    return into;
  };
  const baseFile = await write("base");
  const merged = await answersOf(await write("merged"));
  const apart = await answersOf(baseFile, [await write("adapter")]);
  const plain = await answersOf(baseFile);
  const equal = (answers: readonly (readonly number[])[]): number => {
    const same = merged.map((answer, i) => answer.filter((id, k) => answers[i]![k] === id).length);
    return same.reduce((sum, count) => sum + count, 0) / merged.flat().length;
  };
  process.stderr.write(`equal tokens: ${equal(apart)} with the adapter, ${equal(plain)} without\n`);
  expect(merged.flat()).toHaveLength(prompts.length * maxTokens);
  expect(equal(apart)).toBeGreaterThan(0.95);
  expect(equal(plain)).toBeLessThan(0.5);
});
