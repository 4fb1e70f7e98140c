import { describe, expect, it, vi } from "vitest";
import { defaultLoss } from "../../core/loss/loss.ts";
import type { Sample, SamplingParams } from "../../core/policy.ts";
import { PolicyTrainer } from "../training/policy-trainer.ts";
import { randomTokens, rowOf, smallConfig, smallModel } from "../../../test/engine/small-model.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import { BatchSampler } from "./batch-sampler.ts";
import { minVocabulary } from "./sample-tokens.ts";
import { SamplingSession } from "./sampling-session.ts";

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

/** Requests of different lengths, up to five blocks; more of them with `SOAK=1`. */
const companions = process.env["SOAK"] === "1" ? 20 : 7;

const bits = (sample: Sample): unknown => ({
  ...sample,
  tokens: [...sample.tokens],
  logprobs: [...sample.logprobs],
});
const concat = (a: Int32Array, b: Int32Array): Int32Array => Int32Array.from([...a, ...b]);

describe("BatchSampler", () => {
  it.each([
    ["float32", null, 48],
    ["float32", { rank: 3, alpha: 6 }, 48],
    ["int8", { rank: 3, alpha: 6 }, 48],
    // Drawn from inside of the graph, unless a request has filters.
    ["float32", null, minVocabulary],
  ] as const)(
    "gives each request the same bits alone, in any company and with any cache (%s, LoRA %j, %i tokens)",
    async (precision, lora, vocabSize) => {
      const model = (): PolicyModel => smallModel(lora, { ...smallConfig, vocabSize });
      const paramsOf = (i: number): SamplingParams =>
        params(i, [{ topP: 0.9 }, {}, {}, { temperature: 0.7 }][i % 4]);
      const prompts = Array.from({ length: companions }, (_, i) =>
        randomTokens(i, 3 + Math.round((i * 266) / (companions - 1))),
      );
      const longest = prompts.at(-1)!;
      // Prompts that share a beginning with others, across several blocks.
      prompts.push(
        concat(longest, randomTokens(90, 5)),
        concat(longest.subarray(0, 70), randomTokens(91, 9)),
      );
      const alone: unknown[] = [];
      for (const [i, tokens] of prompts.entries()) {
        const sampler = await BatchSampler.create(model(), { threads: 2, precision });
        const [sample] = await sampler.sample({ tokens, params: paramsOf(i) });
        alone.push(bits(sample!));
        await sampler.close();
      }
      for (const options of [{}, { maxSequences: 3 }, { cacheBytes: 0 }, { cacheBytes: 800_000 }]) {
        const sampler = await BatchSampler.create(model(), {
          threads: 2,
          precision,
          ...options,
        });
        const together = await Promise.all(
          prompts.map(async (tokens, i) => {
            // Some come while others are being decoded.
            for (let wait = 0; wait < i % 4; wait++)
              await new Promise((resolve) => setImmediate(resolve));
            return (await sampler.sample({ tokens, params: paramsOf(i) }))[0]!;
          }),
        );
        expect(together.map(bits)).toEqual(alone);
        await sampler.close();
      }
    },
  );

  it("stays within its memory: the youngest wait and go on later with the same bits", async () => {
    const prompts = Array.from({ length: 6 }, (_, i) => randomTokens(i, 90 + i));
    const ask = (sampler: BatchSampler): Promise<unknown[]> =>
      Promise.all(
        prompts.map(async (tokens, i) => {
          const streamed: number[] = [];
          const samples = await sampler.sample({
            tokens,
            params: params(i, { maxTokens: 300 }),
            n: 2,
            onChunk: (chunk) => streamed.push(chunk.index, ...chunk.tokens),
          });
          // Nothing was sent twice.
          expect(streamed.length).toBe(2 * 2 * 300);
          return samples.map(bits);
        }),
      );
    const roomy = await BatchSampler.create(smallModel(), { threads: 1 });
    const expected = await ask(roomy);
    expect(roomy.totals.preempted).toBe(0);
    const { layers, kvHeads, headSize } = smallConfig;
    // Eight beginnings, or two sequences at their end; a fifth is for prompts.
    const sequenceBytes = 8 * 128 * (2 * layers * kvHeads * headSize * 4);
    const cacheBytes = (5 / 4) * sequenceBytes;
    const tight = await BatchSampler.create(smallModel(), { threads: 1, cacheBytes });
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, tight.allocatedBytes)), 1);
    expect(await ask(tight)).toEqual(expected);
    clearInterval(watch);
    expect(tight.totals.preempted).toBeGreaterThan(4);
    expect(most).toBeGreaterThan(sequenceBytes / 2);
    expect(most).toBeLessThanOrEqual(2 * sequenceBytes);
    await roomy.close();
    await tight.close();
  });

  it("ends parked, waiting and running sequences of an aborted request", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1, cacheBytes: 0 });
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
    await sampler.close();
  });

  it("draws in int8 from nearly the trained distribution, tells its own log-probabilities, and training shows the difference", async () => {
    const policy = smallModel({ rank: 3, alpha: 6 });
    const sampler = await BatchSampler.create(policy, { threads: 1, precision: "int8" });
    const prompts = Array.from({ length: 6 }, (_, i) => randomTokens(i, 10 + i));
    const samples = await Promise.all(
      prompts.map(async (tokens, i) => (await sampler.sample({ tokens, params: params(i) }))[0]!),
    );
    const rows = samples.map(({ tokens, logprobs }, i) =>
      rowOf(concat(prompts[i]!, tokens), prompts[i]!.length, { logprobs }),
    );
    const trainer = new PolicyTrainer(policy, { threads: 1, memoryMiB: 100 });
    const metrics = await trainer.forwardBackward(rows, defaultLoss);
    expect(metrics["logprob_abs_diff_mean"]).toBeGreaterThan(1e-3);
    expect(metrics["logprob_abs_diff_mean"]).toBeLessThan(0.1);
    expect(metrics["ratio_mean"]).toBeCloseTo(1, 1);
    await trainer.close();
    await sampler.close();
  });

  it("refuses int8 where every weight is trained", async () => {
    await expect(
      BatchSampler.create(smallModel(), { threads: 1, precision: "int8" }),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it.each([[{}], [{ temperature: 0.7 }], [{ temperature: 1.3, topP: 0.9 }], [{ temperature: 0 }]])(
    "crosses block and lane borders without a change in numbers: training agrees (%j)",
    async (extra) => {
      const policy = smallModel();
      const sampler = await BatchSampler.create(policy, { threads: 2 });
      const trainer = new PolicyTrainer(policy, { threads: 2, memoryMiB: 100 });
      const prompts = [5, 31, 32, 33, 64, 100, 126, 127, 128, 129, 250, 256].map((length, i) =>
        randomTokens(i, length),
      );
      const samples = await Promise.all(
        prompts.map(
          async (tokens, i) => (await sampler.sample({ tokens, params: params(i, extra) }))[0]!,
        ),
      );
      const rows = samples.map(({ tokens }, i) =>
        rowOf(concat(prompts[i]!, tokens), prompts[i]!.length),
      );
      const expectSame = async (
        temperature: number,
        told: (sample: Sample) => Float32Array,
      ): Promise<void> => {
        const logprobs = await trainer.forward(rows.map((row) => ({ ...row, temperature })));
        for (const [i, sample] of samples.entries()) {
          expect(told(sample).length).toBe(40);
          for (const [k, logprob] of told(sample).entries()) {
            expect(Math.abs(logprobs[i]![prompts[i]!.length + k]! - logprob)).toBeLessThan(1e-4);
          }
        }
      };
      await expectSame(1, ({ logprobs }) => logprobs);
      const { temperature = 1 } = extra as Partial<SamplingParams>;
      if (temperature === 1 || temperature === 0) {
        for (const sample of samples) expect(sample).not.toHaveProperty("temperedLogprobs");
      } else {
        await expectSame(temperature, ({ temperedLogprobs }) => temperedLogprobs!);
      }
      await sampler.close();
      await trainer.close();
    },
  );

  it("draws n different sequences from one prompt, streams them in order, and reports the version", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const streamed: number[][] = [[], [], []];
    const samples = await sampler.sample({
      tokens: randomTokens(1, 10),
      params: params(5),
      n: 3,
      onChunk: ({ index, tokens }) => streamed[index]!.push(...tokens),
    });
    expect(samples.map(({ tokens }) => [...tokens])).toEqual(streamed);
    expect(new Set(streamed.map(String)).size).toBe(3);
    expect(samples.map(({ weightVersion }) => weightVersion)).toEqual([0, 0, 0]);
    expect(sampler.totals.tokens).toBe(120);
    await sampler.close();
  });

  it("ends at a stop token, which belongs to the result, at the limit, and at the context's end", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const tokens = randomTokens(2, 12);
    const [free] = await sampler.sample({ tokens, params: params(1) });
    expect(free!.stopReason).toBe("length");
    const stop = free!.tokens[7]!;
    const [stopped] = await sampler.sample({ tokens, params: params(1, { stopTokenIds: [stop] }) });
    const expected = free!.tokens.subarray(0, free!.tokens.indexOf(stop) + 1);
    expect([...stopped!.tokens]).toEqual([...expected]);
    expect(stopped!.stopReason).toBe("stop");
    const long = randomTokens(3, smallConfig.contextLength - 2);
    const [cut] = await sampler.sample({ tokens: long, params: params(1) });
    expect([cut!.tokens.length, cut!.stopReason]).toEqual([2, "length"]);
    await expect(
      sampler.sample({ tokens: randomTokens(3, smallConfig.contextLength), params: params(1) }),
    ).rejects.toMatchObject({ code: "CONTEXT_OVERFLOW" });
    await sampler.close();
  });

  it("resolves an aborted request with what it had, and lets the others finish", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const controller = new AbortController();
    let seen = 0;
    const aborted = sampler.sample({
      tokens: randomTokens(1, 10),
      params: params(1),
      signal: controller.signal,
      onChunk: () => {
        seen += 1;
        if (seen === 5) controller.abort();
      },
    });
    const other = sampler.sample({ tokens: randomTokens(2, 10), params: params(2) });
    const [sample] = await aborted;
    expect(sample!.stopReason).toBe("aborted");
    expect(sample!.tokens.length).toBe(5);
    expect((await other)[0]!.tokens.length).toBe(40);
    const late = await sampler.sample({
      tokens: randomTokens(1, 10),
      params: params(1),
      signal: controller.signal,
    });
    expect(late[0]).toMatchObject({ stopReason: "aborted", tokens: new Int32Array(0) });
    await sampler.close();
  });

  it("tells from which token on other weights drew", async () => {
    const policy = smallModel();
    const sampler = await BatchSampler.create(policy, { threads: 1 });
    const norm = policy.data.get("model.norm.weight")!;
    let seen = 0;
    let swapped: Promise<void> | undefined;
    const [sample] = await sampler.sample({
      tokens: randomTokens(1, 10),
      params: params(1),
      onChunk: () => {
        seen += 1;
        if (seen === 5) swapped = sampler.swapWeights(() => norm.fill(0.5), 7);
      },
    });
    await swapped;
    expect(sample).toMatchObject({
      weightVersion: 0,
      weightChanges: [{ at: 5, weightVersion: 7 }],
    });
    const [later] = await sampler.sample({ tokens: randomTokens(1, 10), params: params(1) });
    expect(later!.weightVersion).toBe(7);
    expect(later!.weightChanges).toBeUndefined();
    await sampler.close();
  });

  it("rejects what a failed run was for, and goes on with what comes next", async () => {
    const policy = smallModel();
    const sampler = await BatchSampler.create(policy, { threads: 1 });
    const request = { tokens: randomTokens(1, 10), params: params(1) };
    const [expected] = await sampler.sample(request);
    let swapped: Promise<void> | undefined;
    const fails = vi.spyOn(SamplingSession.prototype, "step").mockImplementationOnce(() => {
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
    await sampler.close();
  });

  it.each([smallConfig.vocabSize, -1, 2 ** 31 - 1])(
    "refuses the prompt id %i by name, and draws for the others as without it",
    async (id) => {
      const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
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
      await sampler.close();
    },
  );

  it.each([
    ["a block of its prompt", { newTokens: 64, at: 128 }],
    ["a token of its answer", { newTokens: 1, at: 300 + 20 }],
  ])("fails one request whose run fails at %s, and no other", async (_where, { newTokens, at }) => {
    const prompts = [300, 10, 200, 270, 265].map((length, i) => randomTokens(i, length));
    const ask = (sampler: BatchSampler): Promise<PromiseSettledResult<readonly Sample[]>[]> =>
      Promise.allSettled(
        prompts.map((tokens, i) => sampler.sample({ tokens, params: params(i), n: 2 })),
      );
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const expected = await ask(sampler);
    await sampler.close();

    const victim = prompts[0]!;
    const step = SamplingSession.prototype.step;
    const isHit = ({ ids, positions, ...input }: Parameters<typeof step>[0]): boolean => {
      if (input.newTokens !== newTokens) return false;
      const hit = (_: bigint, i: number): boolean =>
        newTokens === 1
          ? positions[i] === BigInt(at)
          : i % newTokens === 0 &&
            ids[i] === BigInt(victim[at]!) &&
            ids[i + 1] === BigInt(victim[at + 1]!);
      return ids.some(hit);
    };
    const fails = vi.spyOn(SamplingSession.prototype, "step").mockImplementation(function (
      this: SamplingSession,
      input,
    ) {
      return isHit(input) ? Promise.reject(new Error("out of range")) : step.call(this, input);
    });
    const hurt = await BatchSampler.create(smallModel(), { threads: 1 });
    const [failed, ...others] = await ask(hurt);
    expect(fails.mock.calls.some(([input]) => isHit(input) && input.sequences > 2)).toBe(true);
    fails.mockRestore();
    expect(failed).toMatchObject({ status: "rejected", reason: { message: "out of range" } });
    expect(others).toEqual(expected.slice(1));
    // And nothing of it is left behind.
    expect(await ask(hurt)).toEqual(expected);
    await hurt.close();
  });

  it.each([{}, { cacheBytes: 200_000 }])(
    "fails sequences without numbers alone, and leaves none to the others (%j)",
    async (options) => {
      const model = (): PolicyModel => {
        const policy = smallModel(null, { ...smallConfig, tiedEmbeddings: false });
        const [poisoned, width] = [47, smallConfig.hiddenSize];
        policy.data
          .get("model.embed_tokens.weight")!
          .fill(NaN, poisoned * width, (poisoned + 1) * width);
        return policy;
      };
      const prompts = Array.from({ length: 16 }, (_, i) =>
        randomTokens(i, 5 + i * 14).map((id) => (id === 47 && i % 4 !== 0 ? 1 : id)),
      );
      const ask = (sampler: BatchSampler, i: number): ReturnType<BatchSampler["sample"]> =>
        sampler.sample({ tokens: prompts[i]!, params: params(i, { maxTokens: 60 }) });
      const alone: PromiseSettledResult<readonly Sample[]>[] = [];
      for (const i of prompts.keys()) {
        const sampler = await BatchSampler.create(model(), { threads: 1 });
        alone.push(...(await Promise.allSettled([ask(sampler, i)])));
        await sampler.close();
      }
      const failures = alone.filter(({ status }) => status === "rejected");
      expect(failures.length).toBeGreaterThan(3);
      expect(failures.length).toBeLessThan(alone.length - 3);
      for (const failure of failures)
        expect(failure).toMatchObject({ reason: { code: "NUMERICS" } });
      const sampler = await BatchSampler.create(model(), { threads: 1, ...options });
      for (let round = 0; round < 2; round++)
        expect(await Promise.allSettled(prompts.map((_, i) => ask(sampler, i)))).toEqual(alone);
      await sampler.close();
    },
  );

  it("fails only the request whose listener throws", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const onChunk = (): void => {
      throw new Error("listener");
    };
    const [bad, good] = await Promise.allSettled([
      sampler.sample({ tokens: randomTokens(1, 10), params: params(1), n: 3, onChunk }),
      sampler.sample({ tokens: randomTokens(2, 10), params: params(2) }),
    ]);
    expect(bad).toMatchObject({ status: "rejected", reason: { message: "listener" } });
    expect(good.status).toBe("fulfilled");
    await sampler.close();
  });

  it("rejects a change of weights that throws, and keeps serving the old ones", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const broken = (): void => {
      throw new RangeError("no such weights");
    };
    await expect(sampler.swapWeights(broken, 1)).rejects.toThrow("no such weights");
    const [sample] = await sampler.sample({ tokens: randomTokens(1, 10), params: params(1) });
    expect(sample!.weightVersion).toBe(0);
    await sampler.close();
  });

  it("draws as before once weights that gave no numbers were exchanged", async () => {
    const policy = smallModel();
    const sampler = await BatchSampler.create(policy, { threads: 1 });
    const request = { tokens: randomTokens(4, 70), params: params(1) };
    const [before] = await sampler.sample(request);
    const norm = policy.data.get("model.layers.0.input_layernorm.weight")!;
    const healthy = norm.slice();
    await sampler.swapWeights(() => norm.fill(NaN), 1);
    await expect(sampler.sample({ ...request, n: 6 })).rejects.toMatchObject({ code: "NUMERICS" });
    expect(sampler.totals.tokens).toBe(before!.tokens.length);
    await sampler.swapWeights(() => norm.set(healthy), 2);
    const [after] = await sampler.sample({ ...request, n: 6 });
    expect([...after!.logprobs]).toEqual([...before!.logprobs]);
    await sampler.close();
  });

  it("swaps weights between steps and forgets cached prompts", async () => {
    const policy = smallModel();
    const sampler = await BatchSampler.create(policy, { threads: 1 });
    const tokens = randomTokens(4, 70);
    const [before] = await sampler.sample({ tokens, params: params(1) });
    const norm = policy.data.get("model.norm.weight")!;
    await sampler.swapWeights(() => norm.set(norm.map((x) => x * 0.5)), 1);
    const [after] = await sampler.sample({ tokens, params: params(1) });
    expect(after!.weightVersion).toBe(1);
    expect([...after!.logprobs]).not.toEqual([...before!.logprobs]);
    await sampler.swapWeights(() => norm.set(norm.map((x) => x * 2)), 2);
    const [back] = await sampler.sample({ tokens, params: params(1) });
    expect([...back!.logprobs]).toEqual([...before!.logprobs]);
    await sampler.close();
  });
});
