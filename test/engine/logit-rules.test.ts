/**
 * Constrained sampling with the built-in model: what is sampled is valid (by ajv), and training computes the
 * log-probabilities that were sampled with. Plain JavaScript recomputes them from the full softmax.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LocalBackend } from "../../src/backends/local/backend.ts";
import { WorkerClient } from "../../src/backends/local/worker-client.ts";
import type { SamplerTarget } from "../../src/core/backend.ts";
import type { LogitRules } from "../../src/core/grammar.ts";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { LogitRuleCompiler } from "../../src/engine/logit-rules/compiler.ts";
import { compileSchema } from "../../src/grammar/schema/compile-schema.ts";
import { schemaKey, type ReadySchemas } from "../../src/grammar/thread/compiled-schemas.ts";
import { isAllowed } from "../../src/grammar/token-masks.ts";
import { byteVocabulary } from "../grammar/byte-vocabulary.ts";
import { defaultSampling, type Sample, type SamplingParams } from "../../src/core/policy.ts";

let backend: LocalBackend;
let target: SamplerTarget;
let prompt: Int32Array;

beforeAll(async () => {
  backend = new LocalBackend({ threads: 1 });
  const model = { name: "builtin:shop-tiny", lora: { rank: 2, alpha: 4 } };
  const signal = new AbortController().signal;
  target = (await backend.start({ seed: 1, model, signal })) as SamplerTarget;
  prompt = target.renderer.render([{ role: "user", content: "Answer in JSON." }]).tokens;
});
afterAll(() => backend[Symbol.asyncDispose]());

const schema = {
  type: "object",
  properties: {
    a: { type: "integer", minimum: -5, maximum: 120 },
    b: { type: "array", items: { enum: ["x", "y\n"] }, maxItems: 2 },
    s: { type: "string", maxLength: 6 },
  },
  required: ["a", "s"],
  additionalProperties: false,
} as const;
const validate = new Ajv2020({ strict: false }).compile(schema);
const json: LogitRules = { grammar: { type: "json", schema } };

const paramsOf = (temperature: number, rules: LogitRules): SamplingParams => ({
  ...{ ...defaultSampling, temperature, maxTokens: 48, seed: 7, rules },
  stopTokenIds: target.renderer.stop.tokenIds,
});

function rowOf(
  { tokens, logprobs, temperedLogprobs }: Sample,
  params: SamplingParams,
): TrainingRow {
  const all = Int32Array.of(...prompt, ...tokens);
  const start = prompt.length;
  const sampled = new Float32Array(all.length);
  sampled.set(temperedLogprobs ?? logprobs, start);
  const { temperature, rules, maxTokens, stopTokenIds } = params;
  return {
    tokens: all,
    temperature,
    targetMask: Uint8Array.from(all, (_, i) => (i < start ? 0 : 1)),
    samplingLogprobs: sampled,
    advantages: Float32Array.from(all, (_, i) => (i < start ? 0 : 1)),
    rules: [{ start, end: all.length, rules: rules!, maxTokens, stopTokenIds }],
    segments: [],
    provenance: {
      taskId: "t",
      episodeId: "e",
      rolloutIndex: 0,
      trajectoryUid: "u",
      trajectoryName: "n",
    },
  };
}

/** What each row needs to be computed under rules, as the engine's thread gets it. */
const keysOf = (input: unknown): readonly string[] =>
  (input as { readonly schemas: ReadySchemas }).schemas.map(([key]) => key);

it("sends rows to the engine's thread with their schemas compiled, once each", async () => {
  const params = paramsOf(1, json);
  const samples = await target.sampler.sample({ tokens: prompt, params, n: 2 });
  const other: LogitRules = { grammar: { type: "json", schema: { enum: ["a", "b"] } } };
  const rows = [
    ...samples.map((sample) => rowOf(sample, params)),
    ...samples.map((sample) => rowOf(sample, { ...params, rules: structuredClone(json) })),
    ...samples.map((sample) => rowOf(sample, { ...params, rules: other })),
  ];
  const sent = vi.spyOn(WorkerClient.prototype, "call");
  await backend.forward(rows);
  await backend.entropies(rows);
  await backend.updatePolicy(rows, defaultLoss, { ...defaultOptim, learningRate: 0 });
  const keys = [schemaKey(schema), schemaKey({ enum: ["a", "b"] })];
  expect(sent.mock.calls.map(([name, input]) => [name, keysOf(input)])).toEqual([
    ["forward", keys],
    ["entropies", keys],
    ["update", keys],
  ]);
  sent.mockRestore();
});

it("uses all compiled schemas of one batch, however many, and compiles none again", () => {
  const vocabulary = byteVocabulary([]);
  const rules = new LogitRuleCompiler(vocabulary.size);
  rules.vocabulary = vocabulary;
  const schemas = Array.from({ length: 100 }, (_, i) => ({ const: `schema ${i}` }));
  // A compiled form that is not the schema's own shows which of both is used.
  const ready = compileSchema({ const: 1 });
  rules.add(schemas.map((one) => [schemaKey(one), ready] as const));
  for (const one of schemas) {
    const state = rules
      .compile({ grammar: { type: "json", schema: one } })
      .start({ maxTokens: 9, stopTokenIds: [] });
    const { mask } = state.bias()!;
    expect([isAllowed(mask!, "1".charCodeAt(0)), mask!.count]).toEqual([true, 1]);
  }
});

const sampling: readonly (readonly [string, LogitRules, number])[] = [
  ["a schema", json, 1],
  ["a schema at another temperature", json, 0.7],
  [
    "biases and penalties",
    {
      bias: [
        [40, 3],
        [41, -100],
      ],
      presencePenalty: 0.5,
      frequencyPenalty: 1.5,
    },
    1.3,
  ],
  ["all of them", { ...json, bias: [[13, 2]], frequencyPenalty: 0.7 }, 1],
];

describe("rules of logits", () => {
  it.each(sampling)(
    "%s: trained log-probabilities are the sampled ones",
    async (_, rules, temperature) => {
      const params = paramsOf(temperature, rules);
      const samples = await target.sampler.sample({ tokens: prompt, params, n: 12 });
      if (rules.grammar !== undefined) {
        for (const { tokens, stopReason } of samples) {
          const text = target.renderer.decode(tokens);
          expect([text, stopReason, validate(JSON.parse(text))]).toEqual([text, "stop", true]);
        }
      }
      const rows = samples.map((sample) => rowOf(sample, params));
      const found = await backend.forward(rows, "current");
      const differences = rows.flatMap((row, i) =>
        Array.from(row.samplingLogprobs, (own, at) => Math.abs(own - found[i]![at]!)),
      );
      expect(Math.max(...differences)).toBeLessThan(1e-4);
      // They are not those of the model itself.
      const plain = await backend.forward(
        rows.map(({ rules: _rules, ...row }) => row),
        "current",
      );
      expect(
        plain[0]!.some((own, at) => Math.abs(own - rows[0]!.samplingLogprobs[at]!) > 0.01),
      ).toBe(true);
    },
  );

  it("are those of the logits, bias added", async () => {
    const at = prompt.length;
    const V = 512;
    const row = (token: number, rules: LogitRules | undefined): TrainingRow => {
      const tokens = Int32Array.of(token);
      const one = { tokens, logprobs: new Float32Array(1) } as unknown as Sample;
      const own = rowOf(one, paramsOf(1, rules ?? {}));
      return rules === undefined ? { ...own, rules: [] } : own;
    };
    const all = Array.from({ length: V }, (_, token) => token);
    const logits = (
      await backend.forward(
        all.map((token) => row(token, undefined)),
        "current",
      )
    ).map((own) => own[at]!);
    const bias = new Map([
      [3, 2.5],
      [40, -1],
    ]);
    const rules: LogitRules = { bias: [...bias] };
    const found = await backend.forward(
      [3, 40, 41].map((token) => row(token, rules)),
      "current",
    );
    const biased = logits.map((logit, token) => logit + (bias.get(token) ?? 0));
    const total = Math.log(biased.reduce((sum, logit) => sum + Math.exp(logit), 0));
    for (const [i, token] of [3, 40, 41].entries())
      expect(found[i]![at]!).toBeCloseTo(biased[token]! - total, 4);
  });

  it("leave the other sequences of a batch as they are, bit for bit", async () => {
    const { rules: _, ...free } = paramsOf(1, json);
    const alone = await target.sampler.sample({ tokens: prompt, params: free, n: 3 });
    const [beside] = await Promise.all([
      target.sampler.sample({ tokens: prompt, params: free, n: 3 }),
      target.sampler.sample({ tokens: prompt, params: paramsOf(1, json), n: 3 }),
    ]);
    expect(beside).toEqual(alone);
  });

  it("are trained: an update raises the probability of what it rewards", async () => {
    const params = paramsOf(1, json);
    const samples = await target.sampler.sample({ tokens: prompt, params, n: 4 });
    const rows = samples.map((sample) => rowOf(sample, params));
    const sum = async (): Promise<number> =>
      (await backend.forward(rows, "current")).reduce(
        (all, own) => own.reduce((a, b) => a + b, all),
        0,
      );
    const before = await sum();
    const loss = { ...defaultLoss, name: "importance_sampling" } as const;
    const metrics = await backend.updatePolicy(rows, loss, { ...defaultOptim, learningRate: 1e-2 });
    expect(metrics["grad_norm"]).toBeGreaterThan(0);
    expect(await sum()).toBeGreaterThan(before);
  });

  it("a schema that is none fails its own request", async () => {
    const rules: LogitRules = { grammar: { type: "json", schema: { $ref: "#/x" } } };
    const failing = target.sampler.sample({ tokens: prompt, params: paramsOf(1, rules) });
    await expect(failing).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  });
});
