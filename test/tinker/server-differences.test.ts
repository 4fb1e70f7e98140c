/** Servers that do things differently, played by ours with answers changed on the way. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rowLossOf } from "../../src/core/loss/row-losses.ts";
import { createTinkerBackend, type TinkerBackend } from "../../src/backends/tinker/index.ts";
import type { RunContext, SamplerTarget } from "../../src/core/backend.ts";
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { defaultSampling, type SampleRequest } from "../../src/core/policy.ts";
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  decodeSampleOutput,
  encodeForwardBackwardOutput,
  encodeSampleOutput,
} from "../../src/tinker-api/codec/proto-codec.ts";
import { createFloatTensor } from "../../src/tinker-api/codec/tensor.ts";
import { loadConfig } from "../../src/config/load.ts";
import { planLoss } from "../../src/trainer/update/update-spec.ts";
import { updateWithTrainerLoss } from "../../src/trainer/update/trainer-loss.ts";
import { rowOf } from "../engine/small-model.ts";
import {
  fetchOf,
  modelPath,
  startServer,
  token,
  type Fetch,
  type LocalServer,
} from "./local-server.ts";

let local: LocalServer;
beforeAll(async () => {
  local = await startServer();
});
afterAll(() => local[Symbol.asyncDispose]());

const context: RunContext = {
  seed: 1,
  model: { name: "shop-tiny", lora: { rank: 4, alpha: 32 } },
  signal: new AbortController().signal,
};

function backendOf(fetch: Fetch): TinkerBackend {
  return createTinkerBackend({
    baseUrl: "http://tinker.test",
    apiKey: token,
    tokenizer: modelPath,
    client: { fetch },
  });
}

const request: SampleRequest = {
  tokens: Int32Array.of(40, 41, 42),
  params: { ...defaultSampling, maxTokens: 6, temperature: 0.6, seed: 9, stopTokenIds: [] },
};

async function sampleVia(fetch: Fetch, wanted: SampleRequest = request) {
  await using backend = backendOf(fetch);
  const { sampler } = (await backend.start(context)) as SamplerTarget;
  return (await sampler.sample(wanted))[0]!;
}

/** Changes results of the type named in the request. */
function changing(type: string, change: (bytes: Uint8Array) => Uint8Array<ArrayBuffer>): Fetch {
  return async (input, init) => {
    const response = await fetchOf(local.server)(input, init);
    const isWanted = new Headers(init.headers).get("x-tinker-request-type") === type;
    if (!isWanted || !(response.headers.get("content-type") ?? "").includes("protobuf"))
      return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    return new Response(change(bytes), { headers: response.headers });
  };
}

it("scores samples again where a server gives log-probabilities after temperature, as ours does", async () => {
  let scored = 0;
  const counting: Fetch = (input, init) => {
    if (input.endsWith("/asample")) {
      const body = JSON.parse(init.body as string) as { prompt_logprobs?: boolean };
      if (body.prompt_logprobs === true) scored += 1;
    }
    return fetchOf(local.server)(input, init);
  };
  await using backend = backendOf(counting);
  const { sampler } = (await backend.start(context)) as SamplerTarget;
  const probes = scored;
  const { tokens, logprobs } = (await sampler.sample(request))[0]!;
  expect(scored).toBe(probes + 1);
  // Its losses know temperature 1 only: ratios are 1 at the first update.
  const row = rowOf(Int32Array.of(...request.tokens, ...tokens), request.tokens.length, {
    logprobs,
  });
  const [now] = await backend.forward([row], "current");
  for (const [i, l] of logprobs.entries())
    expect(now![request.tokens.length + i]).toBeCloseTo(l, 4);
  const metrics = await backend.updatePolicy([row], defaultLoss, defaultOptim);
  expect(metrics["logprob_abs_diff_mean"]).toBeLessThan(1e-4);
});

it("takes those of a server that gives them at temperature 1 as they are", async () => {
  // As SkyRL's servers: what ours told of a sample is replaced by what it makes of it as a prompt.
  const client = await local.connect();
  const scorer = await client.createSampler({ baseModel: "shop-tiny" });
  let told = 0;
  const raw: Fetch = async (input, init) => {
    const response = await fetchOf(local.server)(input, init);
    const isSample = new Headers(init.headers).get("x-tinker-request-type") === "Sample";
    if (!isSample || !(response.headers.get("content-type") ?? "").includes("protobuf"))
      return response;
    const output = decodeSampleOutput(new Uint8Array(await response.arrayBuffer()));
    const prompt = prompts.get(output.sequences[0]!.tokens.length) ?? request.tokens;
    if (output.promptLogprobs === null) told += 1;
    const sequences = await Promise.all(
      output.sequences.map(async (sequence) => {
        if (output.promptLogprobs !== null) return sequence;
        const all = Int32Array.of(...prompt, ...sequence.tokens);
        return {
          ...sequence,
          logprobs: (await scorer.computeLogprobs(all)).slice(prompt.length),
        };
      }),
    );
    return new Response(encodeSampleOutput({ ...output, sequences }), {
      headers: response.headers,
    });
  };
  // The probe's, by the number of tokens that it asks for.
  const prompts = new Map([[8, Int32Array.of(5, 6, 7, 8)]]);
  let scored = 0;
  const counting: Fetch = (input, init) => {
    if (input.endsWith("/asample") && (init.body as string).includes('"prompt_logprobs":true'))
      scored += 1;
    return raw(input, init);
  };
  await using backend = backendOf(counting);
  const { sampler } = (await backend.start(context)) as SamplerTarget;
  const probes = scored;
  const { tokens, logprobs } = (await sampler.sample(request))[0]!;
  expect(scored).toBe(probes);
  expect(told).toBeGreaterThan(1);
  const all = Int32Array.of(...request.tokens, ...tokens);
  const expected = (await scorer.computeLogprobs(all)).slice(request.tokens.length);
  for (const [i, l] of expected.entries()) expect(logprobs[i]).toBeCloseTo(l, 4);
  client.close();
});

it("folds seeds for a server of 31 bits, and only for such a one", async () => {
  const seeds: number[] = [];
  const narrow: Fetch = (input, init) => {
    if (!input.endsWith("/asample")) return fetchOf(local.server)(input, init);
    const body = JSON.parse(init.body as string) as { sampling_params: { seed?: number } };
    const { seed } = body.sampling_params;
    // Of a request that only scores.
    if (seed === undefined) return fetchOf(local.server)(input, init);
    if (seed >= 2 ** 31)
      return Promise.resolve(Response.json({ detail: "out of bounds" }, { status: 400 }));
    seeds.push(seed);
    return fetchOf(local.server)(input, init);
  };
  const large = { ...request, params: { ...request.params, seed: 3_000_000_000 } };
  const folded = await sampleVia(narrow, large);
  expect(folded.tokens.length).toBeGreaterThan(0);
  expect(seeds.at(-1)).toBe(3_000_000_000 % (2 ** 31 - 2 ** 12 + 1));
  const whole = await sampleVia(fetchOf(local.server), large);
  expect(whole.tokens.length).toBeGreaterThan(0);
});

it("refuses a server that clips elsewhere, with what it does", async () => {
  const clipsAt2 = changing("Forward", (bytes) => {
    const output = decodeForwardBackwardOutput(bytes);
    const sum = output.metrics["loss:sum"]!;
    // The probe's four tokens have the advantage 1, so its loss is -4 times the bound.
    const changed = Math.abs(sum + 4 * 1.2) < 1e-3 ? -8 : sum;
    return encodeForwardBackwardOutput({ ...output, metrics: { "loss:sum": changed } });
  });
  await using backend = backendOf(clipsAt2);
  await backend.start(context);
  const update = backend.updatePolicy(
    [rowOf(Int32Array.of(1, 2, 3), 1)],
    defaultLoss,
    defaultOptim,
  );
  await expect(update).rejects.toThrow("limits ratios to 2, though 1.2 was requested");
});

// As SkyRL's server on JAX answers: losses per token, and no sum.
const averaging = changing("Forward", (bytes) => {
  const output = decodeForwardBackwardOutput(bytes);
  const outputs = output.outputs.map(({ logprobs }) => ({
    logprobs: logprobs!,
    elementwise_loss: createFloatTensor(Float32Array.from(logprobs!.data, (l) => -l)),
  }));
  return encodeForwardBackwardOutput({ ...output, outputs, metrics: {} });
});

it("offers only the losses that the server at hand computes as they are meant", async () => {
  const losses = async (fetch: Fetch): Promise<readonly string[]> => {
    await using backend = backendOf(fetch);
    await backend.start(context);
    return backend.capabilities.losses;
  };
  const all = ["importance_sampling", "ppo", "cispo", "dro", "cross_entropy"];
  expect(await losses(fetchOf(local.server))).toEqual(all);
  expect(await losses(averaging)).toEqual(["importance_sampling", "ppo", "cispo"]);
  // As a server that does not know weights beside advantages.
  const weightless = changing("Forward", (bytes) => {
    const output = decodeForwardBackwardOutput(bytes);
    const isProbe = Math.abs(output.metrics["loss:sum"]! + 1.5) < 1e-3;
    return encodeForwardBackwardOutput(
      isProbe ? { ...output, metrics: { "loss:sum": -4 } } : output,
    );
  });
  expect(await losses(weightless)).toEqual(all.filter((name) => name !== "dro"));
});

it("trains on a loss that the server lacks: by gradients that the trainer computes", async () => {
  await using backend = backendOf(averaging);
  await backend.start(context);
  const row = { ...rowOf(Int32Array.of(1, 2, 3), 1), weights: Float32Array.of(1, 0.5, 2) };
  const spec = { ...defaultLoss, name: "dro" as const, aggregation: "token-sum" as const };
  const refused = backend.updatePolicy([row], spec, defaultOptim);
  await expect(refused).rejects.toThrow("dro has no weights");
  const lossOfRole = () => rowLossOf("dro", spec);
  const metrics = await updateWithTrainerLoss(backend, [row], { spec, lossOfRole }, defaultOptim);
  expect(metrics["grad_norm"]).toBeGreaterThan(0);
});

it("does not train under samples where samplers share the adapter that is trained", async () => {
  await using backend = backendOf(averaging);
  const { sampler } = (await backend.start(context)) as SamplerTarget;
  expect(backend.capabilities.losses).not.toContain("cross_entropy");
  expect(backend.capabilities.servesWhileTraining).toBe(false);
  const long = sampler.sample({ ...request, params: { ...request.params, maxTokens: 300 } });
  const row = rowOf(Int32Array.of(1, 2, 3), 1);
  const loss = { ...defaultLoss, name: "importance_sampling" as const };
  const update = backend.updatePolicy([row], loss, defaultOptim);
  await expect(update).rejects.toThrow("Samples are in flight (1)");
  await long;
  expect(await backend.updatePolicy([row], loss, defaultOptim)).toMatchObject({ tokens: 2 });
});

it("leaves dro and cross_entropy to the trainer where a server would compute others", async () => {
  const dro = { ...defaultLoss, name: "dro" as const };
  const rows = [rowOf(Int32Array.of(1, 2, 3, 4), 1)];
  /** As the service is documented: policy losses take no weights. */
  const withoutWeights: Fetch = (input, init) => {
    const body = init.body;
    if (/\/forward(?:_backward)?$/u.test(input) && body instanceof Uint8Array) {
      const { lossFn, data } = decodeForwardBackwardRequest(body);
      if (lossFn !== "cross_entropy" && data.some(({ lossInputs }) => "weights" in lossInputs))
        return Promise.resolve(Response.json({ detail: "unknown input weights" }, { status: 422 }));
    }
    return fetchOf(local.server)(input, init);
  };
  await using backend = backendOf(withoutWeights);
  expect(backend.capabilities.losses).toContain("dro");
  await backend.start(context);
  expect(backend.capabilities.losses).not.toContain("dro");
  expect(backend.capabilities.losses).toContain("cross_entropy");
  const config = loadConfig({
    overrides: ["model.name=m", "model.lora_rank=4", "algorithm.loss=dro"],
  }).config;
  const { spec, byRole } = planLoss(config, backend.capabilities, new Map());
  expect(spec).toMatchObject(dro);
  const now = await backend.forward(rows, "current");
  const still = { ...defaultOptim, learningRate: 0 };
  const { loss } = await updateWithTrainerLoss(backend, rows, { spec, lossOfRole: byRole! }, still);
  // Sampled with log-probabilities of 0 and the advantage 1: -(l - 0.5 * 0.05 * l^2), on average.
  const l = [...now[0]!].slice(1);
  const byHand = l.reduce((sum, value) => sum - (value - 0.025 * value ** 2), 0) / l.length;
  expect(loss).toBeCloseTo(byHand, 4);

  await using plain = backendOf(fetchOf(local.server));
  await plain.start(context);
  expect(plain.capabilities).toEqual(capabilityMatrix.tinker);
});

it("refuses a server that averages in a way that is not known", async () => {
  const halved = changing("Forward", (bytes) => {
    const output = decodeForwardBackwardOutput(bytes);
    const metrics = { "loss:sum": output.metrics["loss:sum"]! / 2 };
    return encodeForwardBackwardOutput({ ...output, metrics });
  });
  await using backend = backendOf(halved);
  await expect(backend.start(context)).rejects.toThrow("averages in a way that is not known");
});

it.each([
  ["a model that is not there", { name: "Qwen/Qwen3-8B", lora: context.model.lora }, "shop-tiny"],
  ["all weights", { name: "shop-tiny", lora: null }, "lora_rank"],
  ["another scale", { name: "shop-tiny", lora: { rank: 4, alpha: 16 } }, "lora_alpha"],
] as const)("refuses %s before anything is trained", async (_, model, text) => {
  await using backend = backendOf(fetchOf(local.server));
  await expect(backend.start({ ...context, model })).rejects.toThrow(text);
});

it("refuses what the API has no words for", async () => {
  await using backend = backendOf(fetchOf(local.server));
  const { sampler } = (await backend.start(context)) as SamplerTarget;
  const params = { ...request.params, minP: 0.1 };
  await expect(sampler.sample({ ...request, params })).rejects.toThrow("min_p");
  const row = rowOf(Int32Array.of(1, 2, 3), 1);
  for (const [option, loss] of [
    ["algorithm.loss=", { ...defaultLoss, name: "gspo" as const }],
    ["clip_ratio_c", { ...defaultLoss, dualClip: 3 }],
    ["entropy_coef", { ...defaultLoss, entropyCoef: 0.1 }],
  ] as const)
    await expect(backend.updatePolicy([row], loss, defaultOptim)).rejects.toThrow(option);
});
