/** SmolLM2-135M-Instruct from a GGUF file, and as we export it, side by side with llama.cpp. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import { runCli } from "../../../src/cli/program.ts";
import type { SamplerTarget } from "../../../src/core/backend.ts";
import { askLlama } from "./llama-cpp.ts";
import { smollm2 } from "./smollm2.ts";

const questions = [
  "What is the capital of France?",
  "Write a haiku about the sea.",
  "How much is 17 + 25?",
  "Explain gravity to a child.",
  "List three fruits that are red.",
  "Translate 'good morning' into Spanish.",
  "Who wrote Romeo and Juliet?",
  "Give me a short recipe for pancakes.",
  "What is the opposite of hot?",
  "Name the planets of the solar system.",
  "Write one sentence about a dragon.",
  "Why is the sky blue?",
  "What does HTTP stand for?",
  "Write a Python function that adds two numbers.",
  "What year did World War II end?",
  "Tell me a joke.",
  "How do plants make food?",
  "Summarise: The cat sat on the mat because it was warm.",
  "What is a prime number?",
  "Suggest a name for a coffee shop.",
];
const texts = [
  "Hello, world!",
  "  two  spaces,\t\ttabs\r\n\r\nlines\n\n\n",
  "1 22 333 4444 3.14159 1,000,000 a1b22c333",
  "don't I'LL we'Ve they'd it's",
  "ünïcödé, é İstanbul ﬁ ½ ² ٣٤ Ⅷ",
  "日本語のテキスト 中文 한국어 العربية हिन्दी",
  "🙂👍🏽 family: 👨‍👩‍👧‍👦",
  'function f(x) {\n  return x ** 2; // "squared"\n}',
  "<|im_start|>user",
  "a_b-c/d\\e:f;g|h&i%j$k#l@m!n?o",
];
const maxTokens = 64;

let folder: string;
let model: string;
let target: SamplerTarget;
let prompts: number[][];
let ours: number[][];
const backend = createLocalBackend({ precision: "f32" });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "smollm2-"));
  model = smollm2();
  target = (await backend.start({
    seed: 1,
    model: { name: model, lora: null },
    signal: new AbortController().signal,
  })) as SamplerTarget;
  const { renderer, sampler } = target;
  prompts = questions.map((content) => [...renderer.render([{ role: "user", content }]).tokens]);
  const params = { temperature: 0, topP: 1, topK: 0, minP: 0, maxTokens, seed: 1 };
  const samples = await Promise.all(
    prompts.map((tokens) =>
      sampler.sample({
        tokens: Int32Array.from(tokens),
        params: { ...params, stopTokenIds: renderer.stop.tokenIds },
      }),
    ),
  );
  // Ours end with the token that ended them.
  const isWord = (id: number): boolean => !renderer.stop.tokenIds.includes(id);
  ours = samples.map(([sample]) => [...sample!.tokens.filter(isWord)]);
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Tokens until the first difference of each answer, over all tokens. */
function equalShare(theirs: readonly (readonly number[])[]): number {
  let [equal, all] = [0, 0];
  for (const [i, answer] of ours.entries()) {
    const length = Math.max(answer.length, theirs[i]!.length);
    const first = Array.from({ length }, (_, k) => answer[k] === theirs[i]![k]).indexOf(false);
    equal += first === -1 ? length : first;
    all += length;
  }
  return equal / all;
}

it("answers sensibly", () => {
  const answers = ours.map((tokens) => target.renderer.decode(Int32Array.from(tokens)));
  expect(answers[0]).toContain("Paris");
  expect(answers[6]).toContain("Shakespeare");
  expect(answers[12]).toContain("Hypertext Transfer Protocol");
});

it("encodes text as llama.cpp does", () => {
  const { tokens } = askLlama(model, { prompts: [], maxTokens, texts });
  for (const [i, text] of texts.entries())
    expect([...target.renderer.encode!(text)], text).toEqual(tokens[i]);
});

describe("exported", () => {
  it.each(["f32", "f16"])("as %s, llama.cpp gives the same answers", async (dtype) => {
    const into = join(folder, `${dtype}.gguf`);
    const quiet = { write: () => undefined };
    const args = ["model", "export", model, "--format", "gguf", "--dtype", dtype, "--into", into];
    expect(await runCli([...args, "--quiet"], { stdout: quiet, stderr: process.stderr })).toBe(0);
    const share = equalShare(askLlama(into, { prompts, maxTokens, texts: [] }).answers);
    process.stderr.write(`${dtype}: ${(share * 100).toFixed(1)} % of tokens equal\n`);
    expect(share).toBeGreaterThan(0.95);
  });
});

it("differs from llama.cpp on the quantised file itself, which rounds activations to eight bits", () => {
  const share = equalShare(askLlama(model, { prompts, maxTokens, texts: [] }).answers);
  process.stderr.write(`Q4_1: ${(share * 100).toFixed(1)} % of tokens equal\n`);
  expect(share).toBeGreaterThan(0.2);
});
