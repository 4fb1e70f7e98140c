import { describe, expect, it, vi } from "vitest";
import type { LogitRules } from "../../core/grammar.ts";
import type { Sample, SamplingParams } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createRandom } from "../../util/random.ts";
import {
  randomTokens,
  rowOf,
  smallConfig,
  smallWeights,
} from "../../../test/engine/small-model.ts";
import { createPolicy, sharedDecoder, writeTrained, type Policy } from "../decoder/policy.ts";
import { PolicyTrainer } from "../training/trainer.ts";
import type { ModelConfig } from "../model/model-config.ts";
import { LogitRuleCompiler } from "../logit-rules/compiler.ts";
import { RuleState } from "../logit-rules/rule-state.ts";
import { Device } from "../tensor/device.ts";
import type { Precision } from "../tensor/matrix.ts";
import { BatchSampler, type BatchSamplerOptions } from "./batch-sampler.ts";
import { GenerationStep } from "./generation-step.ts";

const params = (seed: number, extra: Partial<SamplingParams> = {}): SamplingParams => ({
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  maxTokens: 40,
  stopTokenIds: [],
  seed,
  ...extra,
});

const lora = { rank: 3, alpha: 6 };

interface PolicyCase {
  readonly adapted?: boolean;
  readonly threads?: number;
  readonly precision?: Precision;
  readonly config?: ModelConfig;
  readonly change?: (name: string, data: Float32Array) => Float32Array;
}

async function smallPolicy({
  adapted = true,
  threads = 2,
  precision = "f32",
  config = smallConfig,
  change = (_, data) => data,
}: PolicyCase = {}): Promise<Policy> {
  const base = Array.from(
    smallWeights(config),
    ([name, data]) => [name, change(name, data)] as const,
  );
  const device = new Device({ threads });
  const policy = await createPolicy(config, base, {
    device,
    lora: adapted ? lora : null,
    seed: 1,
    precision,
  });
  const random = createRandom(3);
  if (adapted)
    for (const data of policy.data.values())
      for (let i = 0; i < data.length; i++) data[i] = random() - 0.5;
  await writeTrained(policy, policy.weights);
  return policy;
}

async function smallSampler(
  options: BatchSamplerOptions = {},
  of: PolicyCase = {},
): Promise<BatchSampler> {
  return new BatchSampler((await smallPolicy(of)).weights, options);
}

const bits = ({ tokens, logprobs, temperedLogprobs, ...rest }: Sample): unknown => ({
  ...rest,
  tokens: [...tokens],
  logprobs: [...logprobs],
  temperedLogprobs: temperedLogprobs && [...temperedLogprobs],
});

describe("BatchSampler", () => {
  it.each([
    { precision: "f32", threads: 1 },
    { precision: "f32", threads: 2 },
    { precision: "bf16", threads: 2 },
  ] as const)("gives each request the same bits alone and in any company: %j", async (of) => {
    const longest = randomTokens(5, 270);
    const prompts = [
      ...Array.from({ length: 7 }, (_, i) => randomTokens(i, 3 + 40 * i)),
      longest,
      // Those that share a beginning, across several blocks.
      Int32Array.from([...longest, ...randomTokens(90, 5)]),
      Int32Array.from([...longest.subarray(0, 70), ...randomTokens(91, 9)]),
    ];
    const paramsOf = (i: number): SamplingParams =>
      params(
        i,
        [{ topP: 0.9 }, {}, { topK: 5, minP: 0.01 }, { temperature: 0.7 }, { temperature: 0 }][
          i % 5
        ],
      );
    const alone: unknown[] = [];
    for (const [i, tokens] of prompts.entries()) {
      const sampler = await smallSampler({}, of);
      const [sample] = await sampler.sample({ tokens, params: paramsOf(i) });
      alone.push(bits(sample!));
    }
    for (const options of [{}, { cacheBytes: 200_000 }, { maxSequences: 3 }]) {
      const sampler = await smallSampler(options, of);
      for (const order of [[...prompts.keys()], [...prompts.keys()].toReversed()]) {
        const together = await Promise.all(
          order.map((i) => sampler.sample({ tokens: prompts[i]!, params: paramsOf(i) })),
        );
        expect(together.map(([sample]) => bits(sample!))).toEqual(order.map((i) => alone[i]));
      }
    }
  });

  it("stays within its memory: the youngest wait and go on later with the same bits", async () => {
    const blockBytes = 4 * smallConfig.layers * smallConfig.kvHeads * 64 * (8 + 16);
    const requests = Array.from({ length: 6 }, (_, i) => ({
      tokens: randomTokens(i, 30 + i),
      params: params(i, { maxTokens: 100 }),
    }));
    const free = await smallSampler();
    const expected = await Promise.all(requests.map((request) => free.sample(request)));
    const tight = await smallSampler({ cacheBytes: 7 * blockBytes });
    const found = await Promise.all(requests.map((request) => tight.sample(request)));
    expect(found.flat().map(bits)).toEqual(expected.flat().map(bits));
    expect(tight.totals.preempted).toBeGreaterThan(0);
    expect(tight.allocatedBytes).toBeLessThanOrEqual(7 * blockBytes);
  });

  it("gives its memory back between steps of training, never under a request, and goes on with the same bits", async () => {
    const sampler = await smallSampler();
    const request = { tokens: randomTokens(1, 200), params: params(1) };
    const before = sampler.sample(request);
    sampler.giveBackMemory(0);
    const [expected] = await before;
    await vi.waitFor(() => {
      sampler.giveBackMemory(0);
      expect(sampler.allocatedBytes).toBe(0);
    });
    // A shared beginning would be that of the memory that is gone.
    for (let i = 0; i < 2; i++) {
      const [again] = await sampler.sample(request);
      expect(bits(again!)).toEqual(bits(expected!));
    }
    expect(sampler.allocatedBytes).toBeGreaterThan(0);
    sampler.giveBackMemory();
    // Little is kept: to allocate it again would take longer.
    expect(sampler.allocatedBytes).toBeGreaterThan(0);
  });

  it("samples n different sequences from one prompt, which are those of n requests", async () => {
    const sampler = await smallSampler();
    for (const length of [5, 64, 70]) {
      const tokens = randomTokens(8, length);
      const chunks: number[][] = [[], [], [], []];
      const samples = await sampler.sample({
        tokens,
        params: params(3),
        n: 4,
        onChunk: ({ index, tokens: own }) => chunks[index]!.push(...own),
      });
      expect(samples.map((sample) => [...sample.tokens])).toEqual(chunks);
      expect(new Set(chunks.map(String)).size).toBe(4);
      const cramped = await smallSampler({ maxSequences: 1 });
      const one = await cramped.sample({ tokens, params: params(3), n: 4 });
      expect(one.map(bits)).toEqual(samples.map(bits));
    }
  });

  it("ends at a stop token, which belongs to the result, at the limit, and at the context's end", async () => {
    const sampler = await smallSampler();
    const tokens = randomTokens(2, 9);
    const [whole] = await sampler.sample({ tokens, params: params(1) });
    expect(whole!.stopReason).toBe("length");
    expect(whole!.tokens).toHaveLength(40);
    const stop = whole!.tokens[7]!;
    const [stopped] = await sampler.sample({ tokens, params: params(1, { stopTokenIds: [stop] }) });
    expect(stopped!.stopReason).toBe("stop");
    expect([...stopped!.tokens]).toEqual([
      ...whole!.tokens.subarray(0, whole!.tokens.indexOf(stop) + 1),
    ]);
    const [last] = await sampler.sample({
      tokens: randomTokens(2, smallConfig.contextLength - 3),
      params: params(1),
    });
    expect(last!.tokens).toHaveLength(3);
    await expect(
      sampler.sample({ tokens: randomTokens(2, smallConfig.contextLength), params: params(1) }),
    ).rejects.toMatchObject({ code: "CONTEXT_OVERFLOW" });
    await expect(
      sampler.sample({ tokens: Int32Array.of(smallConfig.vocabSize), params: params(1) }),
    ).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  });

  it("resolves an aborted request with what it had, and lets the others finish", async () => {
    const sampler = await smallSampler();
    const controller = new AbortController();
    let seen = 0;
    const aborted = sampler.sample({
      tokens: randomTokens(1, 20),
      params: params(1, { maxTokens: 300 }),
      n: 2,
      signal: controller.signal,
      onChunk: () => {
        if (++seen === 6) controller.abort();
      },
    });
    const other = sampler.sample({ tokens: randomTokens(2, 20), params: params(2) });
    for (const sample of await aborted) {
      expect(sample.stopReason).toBe("aborted");
      expect(sample.tokens.length).toBeLessThan(10);
    }
    expect((await other)[0]!.stopReason).toBe("length");
  });

  it("fails only the request whose listener throws", async () => {
    const sampler = await smallSampler();
    const failing = sampler.sample({
      tokens: randomTokens(1, 20),
      params: params(1),
      onChunk: () => {
        throw new Error("no");
      },
    });
    const other = sampler.sample({ tokens: randomTokens(1, 20), params: params(1) });
    await expect(failing).rejects.toThrow("no");
    expect((await other)[0]!.tokens).toHaveLength(40);
  });

  it("rejects a change of weights that throws, and serves new ones from the next token on", async () => {
    const policy = await smallPolicy();
    const served = sharedDecoder(policy, lora);
    await writeTrained(policy, served);
    const sampler = new BatchSampler(served);
    const request = { tokens: randomTokens(1, 70), params: params(1, { maxTokens: 200 }) };
    await expect(
      sampler.swapWeights(() => {
        throw new Error("not now");
      }, 5),
    ).rejects.toThrow("not now");
    let swapped: Promise<void> | undefined;
    const [sample] = await sampler.sample({
      ...request,
      onChunk: () => {
        swapped ??= sampler.swapWeights(async () => {
          for (const data of policy.data.values())
            for (let i = 0; i < data.length; i++) data[i]! *= -1.5;
          await writeTrained(policy, served);
        }, 7);
      },
    });
    await swapped;
    expect(sample!.weightVersion).toBe(0);
    expect(sample!.weightChanges).toEqual([{ at: 1, weightVersion: 7 }]);
    const fresh = new BatchSampler(served);
    const [expected] = await fresh.sample(request);
    const [again] = await sampler.sample(request);
    expect([...again!.tokens]).toEqual([...expected!.tokens]);
    expect(again!.weightVersion).toBe(7);
  });

  it("rejects what has no numbers, and samples as before once the weights have some again", async () => {
    const policy = await smallPolicy();
    const served = sharedDecoder(policy, lora);
    await writeTrained(policy, served);
    const sampler = new BatchSampler(served);
    const request = { tokens: randomTokens(1, 70), params: params(1) };
    const [before] = await sampler.sample(request);
    const kept = new Map(Array.from(policy.data, ([name, data]) => [name, data.slice()]));
    await sampler.swapWeights(() => {
      for (const data of policy.data.values()) data.fill(NaN);
      return writeTrained(policy, served);
    }, 1);
    await expect(sampler.sample(request)).rejects.toMatchObject({ code: "NUMERICS" });
    await sampler.swapWeights(() => {
      for (const [name, data] of policy.data) data.set(kept.get(name)!);
      return writeTrained(policy, served);
    }, 0);
    const [after] = await sampler.sample(request);
    expect(bits(after!)).toEqual(bits(before!));
  });

  it("refuses with rules whose grammar it cannot know", async () => {
    const sampler = await smallSampler();
    const rules: LogitRules = { grammar: { kind: "json_object" } as never };
    await expect(
      sampler.sample({ tokens: randomTokens(1, 5), params: params(1, { rules }) }),
    ).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  });
});

/** Rules of a request that throw at its fourth token. */
class ThrowingRules extends LogitRuleCompiler {
  override compile(): ReturnType<LogitRuleCompiler["compile"]> {
    const start = (): RuleState => {
      const state = new RuleState(this.size, {}, null);
      let accepted = 0;
      vi.spyOn(state, "accept").mockImplementation(() => void accepted++);
      vi.spyOn(state, "bias").mockImplementation(() => {
        if (accepted === 3) throw new Error("no rules any longer");
        return null;
      });
      return state;
    };
    return { start };
  }
}

const outcomes = (settled: readonly PromiseSettledResult<readonly Sample[]>[]): unknown[] =>
  settled.map((result) => (result.status === "fulfilled" ? result.value.map(bits) : "failed"));

describe("one request and the others", () => {
  it("ends only the request whose rules throw", async () => {
    const requests = [20, 20, 90].map((length, i) => ({
      tokens: randomTokens(i, length),
      params: params(i, i === 0 ? { rules: { bias: [[3, 1]] } } : {}),
    }));
    const rules = new ThrowingRules(smallConfig.vocabSize);
    const sampler = await smallSampler({ rules });
    const found = await Promise.allSettled(requests.map((request) => sampler.sample(request)));
    const free = await smallSampler();
    const expected = await Promise.all(requests.slice(1).map((request) => free.sample(request)));
    expect(outcomes(found)).toEqual(["failed", ...expected.map((samples) => samples.map(bits))]);
  });

  it.each([{}, { cacheBytes: 200_000 }])(
    "ends only requests without numbers: %j",
    async (options) => {
      const config = { ...smallConfig, tiedEmbeddings: false };
      const spoiled = (name: string, data: Float32Array): Float32Array =>
        name === "model.embed_tokens.weight" ? data.fill(NaN, 47 * 32, 48 * 32) : data;
      const of = { config, adapted: false, change: spoiled };
      const prompts = Array.from({ length: 16 }, (_, i) =>
        randomTokens(i, 5 + i * 14).map((id) => (id === 47 && i % 4 !== 0 ? 1 : id)),
      );
      const request = (i: number) => ({
        tokens: prompts[i]!,
        params: params(i, { maxTokens: 60 }),
      });
      const alone: unknown[] = [];
      for (const i of prompts.keys()) {
        const sampler = await smallSampler({}, of);
        alone.push(...outcomes(await Promise.allSettled([sampler.sample(request(i))])));
      }
      expect(alone.filter((outcome) => outcome === "failed").length).toBeGreaterThan(3);
      expect(alone.filter((outcome) => outcome !== "failed").length).toBeGreaterThan(3);
      const sampler = await smallSampler(options, of);
      for (let round = 0; round < 2; round++) {
        const all = prompts.map((_, i) => sampler.sample(request(i)));
        expect(outcomes(await Promise.allSettled(all))).toEqual(alone);
      }
    },
  );

  it("computes a prompt that several requests share once, but for its last tokens", async () => {
    const run = vi.spyOn(GenerationStep.prototype, "run");
    const sampler = await smallSampler();
    const tokens = randomTokens(1, 200);
    const all = Array.from({ length: 8 }, (_, i) =>
      sampler.sample({ tokens, params: params(i, { maxTokens: 1 }) }),
    );
    await Promise.all(all);
    const computed = run.mock.calls.flatMap(([parts]) =>
      parts.map(({ start, end }) => end - start),
    );
    run.mockRestore();
    expect(computed.reduce((sum, count) => sum + count, 0)).toBe(200 + 7 * (200 - 192));
  });

  it("rejects what is open when it is closed, and what comes later", async () => {
    const sampler = await smallSampler();
    const open = sampler.sample({ tokens: randomTokens(1, 90), params: params(1) });
    await Promise.all([expect(open).rejects.toThrow("closed"), sampler.close()]);
    const late = sampler.sample({ tokens: randomTokens(1, 90), params: params(1) });
    await expect(late).rejects.toThrow("closed");
  });
});

/** Rollouts of several turns; with `SOAK=1` 100,000 of them in all. */
const rollouts = process.env["SOAK"] === "1" ? 50_000 : 120;

describe.each(["f32", "bf16"] as const)("what is sampled in %s", (precision) => {
  it("has exactly the log-probabilities that training computes", async () => {
    const random = createRandom(17);
    const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
    const policy = await smallPolicy({ precision });
    const sampler = new BatchSampler(policy.weights, { cacheBytes: 3e6 });
    const trainer = new PolicyTrainer(policy, { memoryMiB: 50 });
    const system = randomTokens(1, 90);
    let compared = 0;
    for (let done = 0; done < rollouts; done += 20) {
      const rows = await Promise.all(
        Array.from({ length: 20 }, async (_, i): Promise<TrainingRow> => {
          const temperature = pick(1, 1, 0.6, 1.7);
          const bias = pick<LogitRules | undefined>(
            undefined,
            {
              bias: [
                [3, 2.5],
                [7, -100],
              ],
            },
            { presencePenalty: 0.7, frequencyPenalty: 0.3 },
          );
          let tokens = Int32Array.from([
            ...system.subarray(0, pick(0, 40, 90)),
            ...randomTokens(done + i, pick(1, 5, 30)),
          ]);
          const mask: number[] = Array.from(tokens, () => 0);
          const sampled: number[] = Array.from(tokens, () => 0);
          const rules: NonNullable<TrainingRow["rules"]>[number][] = [];
          for (let turn = 0; turn < pick(1, 2, 3); turn++) {
            const maxTokens = pick(1, 4, 25);
            const request = params(done * 100 + i * 10 + turn, {
              temperature,
              maxTokens,
              topP: pick(1, 0.8),
              topK: pick(0, 7),
              minP: pick(0, 0.02),
              ...(bias === undefined ? {} : { rules: bias }),
            });
            const [sample] = await sampler.sample({ tokens, params: request });
            const start = tokens.length;
            const user = randomTokens(turn, pick(1, 7));
            tokens = Int32Array.from([...tokens, ...sample!.tokens, ...user]);
            mask.push(...Array.from(sample!.tokens, () => 1), ...Array.from(user, () => 0));
            sampled.push(
              ...(sample!.temperedLogprobs ?? sample!.logprobs),
              ...Array.from(user, () => 0),
            );
            if (bias !== undefined)
              rules.push({
                start,
                end: start + sample!.tokens.length,
                rules: bias,
                maxTokens,
                stopTokenIds: [],
              });
          }
          return {
            ...rowOf(tokens, 1),
            targetMask: Uint8Array.from(mask),
            samplingLogprobs: Float32Array.from(sampled),
            temperature,
            ...(rules.length === 0 ? {} : { rules }),
          };
        }),
      );
      const trained = await trainer.forward(rows);
      for (const [i, row] of rows.entries()) {
        expect([...trained[i]!]).toEqual([...row.samplingLogprobs]);
        compared += row.targetMask.reduce((sum, value) => sum + value, 0);
      }
    }
    expect(compared).toBeGreaterThan(rollouts * 5);
  });
});

describe("what comes while a prompt is long", () => {
  const long = { tokens: randomTokens(7, 600), params: params(7) };

  it("samples for others between its pieces, and gives it the same bits", async () => {
    const alone = await smallSampler();
    const [expected] = await alone.sample(long);
    const run = vi.spyOn(GenerationStep.prototype, "run");
    const sampler = await smallSampler();
    const other = sampler.sample({ tokens: randomTokens(1, 5), params: params(1) });
    const [sample] = await sampler.sample(long);
    await other;
    const pieces = run.mock.calls.filter(([parts]) =>
      parts.some(({ tokens }) => tokens[0] === long.tokens[0] && tokens.length >= 600),
    );
    run.mockRestore();
    expect(bits(sample!)).toEqual(bits(expected!));
    const mixed = pieces.filter(([parts, samples]) => parts.length === 2 && samples.length > 0);
    expect(mixed.length).toBeGreaterThan(1);
  });

  it("ends it when it is aborted, and frees what it had", async () => {
    const sampler = await smallSampler();
    const controller = new AbortController();
    const run = vi.spyOn(GenerationStep.prototype, "run").mockImplementationOnce(() => {
      controller.abort();
      return Promise.resolve([]);
    });
    const [sample] = await sampler.sample({ ...long, signal: controller.signal });
    expect(run).toHaveBeenCalledTimes(1);
    run.mockRestore();
    expect(sample).toMatchObject({ stopReason: "aborted", tokens: new Int32Array(0) });
    const [late] = await sampler.sample({ ...long, signal: controller.signal });
    expect(late).toMatchObject({ stopReason: "aborted", tokens: new Int32Array(0) });
  });

  it("begins it anew where the weights change", async () => {
    const policy = await smallPolicy();
    const served = sharedDecoder(policy, lora);
    await writeTrained(policy, served);
    const sampler = new BatchSampler(served);
    const original = GenerationStep.prototype.run;
    let swapped: Promise<void> | undefined;
    const run = vi.spyOn(GenerationStep.prototype, "run").mockImplementation(function (
      this: GenerationStep,
      ...input
    ) {
      swapped ??= sampler.swapWeights(async () => {
        for (const data of policy.data.values())
          for (let i = 0; i < data.length; i++) data[i]! *= -1.5;
        await writeTrained(policy, served);
      }, 7);
      return original.apply(this, input);
    });
    const [sample] = await sampler.sample(long);
    await swapped;
    run.mockRestore();
    const [expected] = await new BatchSampler(served).sample(long);
    expect([...sample!.logprobs]).toEqual([...expected!.logprobs]);
    expect(sample).toMatchObject({
      weightVersion: 0,
      weightChanges: [{ at: 0, weightVersion: 7 }],
    });
  });
});

describe("requests that end early", () => {
  it("ends preempted, waiting and running sequences of an aborted request", async () => {
    const sampler = await smallSampler({ maxSequences: 1 });
    const controller = new AbortController();
    let seen = 0;
    const samples = await sampler.sample({
      tokens: randomTokens(1, 10),
      params: params(1),
      n: 5,
      signal: controller.signal,
      onChunk: () => {
        seen += 1;
        if (seen === 60) controller.abort();
      },
    });
    expect(samples.map(({ tokens }) => tokens.length)).toEqual([40, 20, 0, 0, 0]);
    expect(samples.map(({ stopReason }) => stopReason)).toEqual([
      "length",
      ...Array.from({ length: 4 }, () => "aborted"),
    ]);
    const blockBytes = 4 * smallConfig.layers * smallConfig.kvHeads * 64 * (8 + 16);
    const tight = await smallSampler({ cacheBytes: 3 * blockBytes });
    const second = new AbortController();
    const cramped = tight.sample({
      tokens: randomTokens(1, 10),
      params: params(1, { maxTokens: 200 }),
      n: 4,
      signal: second.signal,
      onChunk: () => {
        if (tight.totals.preempted > 1) second.abort();
      },
    });
    const reasons = (await cramped).map(({ stopReason }) => stopReason);
    expect(reasons).toContain("aborted");
    const [after] = await tight.sample({ tokens: randomTokens(1, 10), params: params(1) });
    expect(after!.tokens).toHaveLength(40);
  });

  it("rejects what a failed step was for, and serves what comes next", async () => {
    const sampler = await smallSampler();
    const request = { tokens: randomTokens(1, 10), params: params(1) };
    const [expected] = await sampler.sample(request);
    let swapped: Promise<void> | undefined;
    const fails = vi.spyOn(GenerationStep.prototype, "run").mockImplementationOnce(() => {
      swapped = sampler.swapWeights(() => undefined, 5);
      return Promise.reject(new Error("out of memory"));
    });
    const other = { tokens: randomTokens(2, 100), params: params(2) };
    const results = await Promise.allSettled([sampler.sample(other), sampler.sample(other)]);
    fails.mockRestore();
    await swapped;
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const [after] = await sampler.sample(request);
    expect([...after!.tokens]).toEqual([...expected!.tokens]);
    expect(after!.weightVersion).toBe(5);
  });

  it.each([smallConfig.vocabSize, -1, 2 ** 31 - 1])(
    "refuses the prompt id %i by name, and samples for the others as without it",
    async (id) => {
      const sampler = await smallSampler();
      const good = { tokens: randomTokens(1, 70), params: params(1) };
      const [alone] = await sampler.sample(good);
      const bad = { tokens: Int32Array.of(3, 4, id, 5), params: params(2) };
      const [refused, sampled] = await Promise.allSettled([
        sampler.sample(bad),
        sampler.sample(good),
      ]);
      expect(refused).toMatchObject({
        status: "rejected",
        reason: { code: "REQUEST_INVALID", fields: { position: 2, id, vocabSize: 48 } },
      });
      expect(sampled).toEqual({ status: "fulfilled", value: [alone] });
    },
  );
});
