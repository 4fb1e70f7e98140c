/** The backend `fireworks` in front of a server of the recorded API whose policy has one weight. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { rowLossOf } from "../../src/core/loss/row-losses.ts";
import {
  createFireworksBackend,
  type FireworksBackendOptions,
} from "../../src/backends/fireworks/index.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { SamplerTarget, TrainingBackend } from "../../src/core/backend.ts";
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import { rowFactors } from "../../src/core/loss/aggregation.ts";
import {
  defaultLoss,
  defaultOptim,
  klEstimators,
  lossAggregations,
  lossNames,
  type LossSpec,
} from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { planLoss } from "../../src/trainer/update/update-spec.ts";
import { updateWithTrainerLoss } from "../../src/trainer/update/trainer-loss.ts";
import { coinAgent, coinTasks, readLines } from "../trainer/coin-run.ts";
import { countedSleep, fail, FireworksStandIn, listen } from "./stand-in.ts";
import { end, logprobOf, no, yes } from "./toy-policy.ts";

const tokenizer = fileURLToPath(new URL("../../models/shop-tiny", import.meta.url));
const newFolder = (): string => mkdtempSync(join(tmpdir(), "fireworks-"));
const baseModel = "accounts/fireworks/models/toy";

function backendOf(server: FireworksStandIn, options: FireworksBackendOptions = {}) {
  return createFireworksBackend({
    baseUrl: "http://fireworks.test",
    apiKey: "fw_test",
    tokenizer,
    contextLength: 512,
    ...options,
    client: { fetch: server.fetch, sleep: countedSleep().sleep, ...options.client },
  });
}

const context = (lora: { rank: number; alpha: number } | null = { rank: 8, alpha: 16 }) => ({
  seed: 5,
  model: { name: baseModel, lora },
  signal: new AbortController().signal,
});

const rowOf = (token: number, advantage: number, shift: number): TrainingRow => ({
  tokens: Int32Array.of(1, 2, token, end),
  targetMask: Uint8Array.of(0, 0, 1, 1),
  samplingLogprobs: Float32Array.of(0, 0, logprobOf(token, 0) + shift, 0),
  advantages: Float32Array.of(0, 0, advantage, advantage),
  segments: [],
  provenance: {
    taskId: "t",
    episodeId: "e",
    rolloutIndex: 0,
    trajectoryUid: "u",
    trajectoryName: "agent",
  },
});

/** Ratios on both sides of every bound, advantages of both signs. */
const rows = [rowOf(yes, 1, -0.5), rowOf(no, -0.7, 0.4), rowOf(yes, -0.3, 0.6), rowOf(no, 0.9, 0)];
const still = { ...defaultOptim, learningRate: 0 };

describe("an update", () => {
  const server = new FireworksStandIn();
  let backend: ReturnType<typeof backendOf>;
  const started = async (): Promise<TrainingBackend> => {
    if (backend === undefined) {
      backend = backendOf(server);
      await backend.start(context());
    }
    return backend;
  };

  /** The loss by the formulas in numbers. */
  function lossByHand(loss: LossSpec): number {
    const factors = rowFactors(rows, loss.aggregation, loss.aggregationLength);
    return rows.reduce((total, row, r) => {
      const pick = (of: ArrayLike<number>) => Float64Array.of(of[2]!, of[3]!);
      const { terms } = rowLossOf(
        loss.name,
        loss,
      )({
        role: "agent",
        logprobs: Float64Array.of(logprobOf(row.tokens[2]!, 0), 0),
        samplingLogprobs: pick(row.samplingLogprobs),
        advantages: pick(row.advantages),
        weights: Float64Array.of(1, 1),
      });
      return total + factors[r]! * terms.reduce((sum, term) => sum + term, 0);
    }, 0);
  }

  it.each(lossNames.flatMap((name) => lossAggregations.map((mode) => [name, mode] as const)))(
    "has the loss %s with %s, by the service's kernel or the trainer's formula",
    async (name, mode) => {
      const run = await started();
      const { config } = loadConfig({
        overrides: {
          "model.name": "m",
          "algorithm.loss": name,
          "algorithm.aggregation": mode,
        },
      });
      const { spec, byRole } = planLoss(config, run.capabilities, new Map());
      expect(byRole === null).toBe(capabilityMatrix.fireworks.losses.includes(name));
      const metrics =
        byRole === null
          ? await run.updatePolicy(rows, spec, still)
          : await updateWithTrainerLoss(run, rows, { spec, lossOfRole: byRole }, still);
      expect(metrics["loss"]).toBeCloseTo(lossByHand(spec), 5);
    },
  );

  it("refuses by name the losses that the service does not compute", async () => {
    const run = await started();
    for (const name of ["gspo", "gmpo", "sapo", "dro"] as const)
      await expect(run.updatePolicy(rows, { ...defaultLoss, name }, still)).rejects.toMatchObject({
        code: "OPTION_UNSUPPORTED",
      });
    for (const extra of [{ dualClip: 3 }, { entropyCoef: 0.1 }])
      await expect(
        run.updatePolicy(rows, { ...defaultLoss, ...extra }, still),
      ).rejects.toMatchObject({ code: "OPTION_UNSUPPORTED" });
  });

  it("sends no mask, the factors in the advantages, and no normalization on top", async () => {
    const run = await started();
    await run.updatePolicy(rows, { ...defaultLoss, name: "importance_sampling" }, still);
    const body = server.bodies("forward_backward").at(-1)!;
    const { data } = body["forward_backward_input"] as {
      data: { loss_fn_inputs: Record<string, { data: number[] }> }[];
    };
    expect(Object.keys(data[0]!.loss_fn_inputs).toSorted()).toEqual([
      "advantages",
      "logprobs",
      "target_tokens",
    ]);
    // The mean over 8 tokens, and nothing at the prompt.
    expect(data.map((one) => one.loss_fn_inputs["advantages"]!.data[1])).toEqual(
      rows.map((row) => Math.fround(row.advantages[2]! / 8)),
    );
    expect(data[0]!.loss_fn_inputs["advantages"]!.data[0]).toBe(0);
    expect(server.bodies("optim_step").at(-1)).toMatchObject({
      grad_accumulation_normalization: "none",
      adam_params: { learning_rate: 0, beta1: 0.9, beta2: 0.95, eps: 1e-8, grad_clip_norm: 1 },
    });
  });

  it.each(klEstimators)(
    "pulls towards the base model with %s, from one frozen model",
    async (estimator) => {
      const run = await started();
      const kl = { coef: 0.5, estimator };
      const { kl_reference: mean } = await run.updatePolicy(rows, { ...defaultLoss, kl }, still);
      expect(Number.isFinite(mean)).toBe(true);
      const frozen = server.bodies("create_model").filter((body) => body["base_only"] === true);
      expect(frozen).toHaveLength(1);
      expect(frozen[0]).not.toHaveProperty("lora_config");
    },
  );

  it("gives log-probabilities where tokens are trained, and 0 elsewhere", async () => {
    const run = await started();
    const [first] = await run.forward!(rows, "current");
    expect([...first!]).toEqual([0, 0, Math.fround(logprobOf(yes, 0)), 0]);
  });

  it("never steps on a part of a gradient", async () => {
    const other = new FireworksStandIn();
    await using run = backendOf(other);
    await run.start(context());
    other.fault = ({ path, headers }) =>
      path.endsWith("retrieve_future") && headers.get("x-tinker-request-type") === "ForwardBackward"
        ? Response.json({ error: "out of memory", category: "server" })
        : null;
    await expect(run.updatePolicy(rows, defaultLoss, still)).rejects.toThrow("out of memory");
    expect(other.bodies("optim_step")).toEqual([]);
  });
});

describe("a session", () => {
  it("is created with the adapter that the run asks for", async () => {
    const server = new FireworksStandIn();
    await using backend = backendOf(server, { trainUnembed: false });
    await backend.start(context({ rank: 4, alpha: 12 }));
    expect(server.bodies("create_model")[0]).toMatchObject({
      base_model: baseModel,
      lora_config: { rank: 4, alpha: 12, seed: 5, train_unembed: false, train_attn: true },
    });
    expect(server.bodies("save_weights_for_sampler")[0]!["path"]).toMatch(/^v0-[0-9a-f]{8}$/u);
  });

  it("has an adapter on the parts that the run asks for", async () => {
    const server = new FireworksStandIn();
    await using backend = backendOf(server);
    const targets = ["q_proj", "k_proj", "v_proj", "o_proj"] as const;
    const { model, ...rest } = context({ rank: 4, alpha: 12 });
    await backend.start({ ...rest, model: { ...model, lora: { rank: 4, alpha: 12, targets } } });
    expect(server.bodies("create_model")[0]).toMatchObject({
      lora_config: { train_attn: true, train_mlp: false, train_unembed: false },
    });
    await using other = backendOf(server);
    const single = { rank: 4, alpha: 12, targets: ["q_proj"] as const };
    await expect(other.start({ ...rest, model: { ...model, lora: single } })).rejects.toThrow(
      'The backend "fireworks" does not support model.lora_targets=["q_proj"]. Backends that support it: local, verl.',
    );
  });

  it.each([
    ["the model cannot be created", "create_model"],
    ["the first snapshot fails", "save_weights_for_sampler"],
  ])("is deleted where %s", async (_, route) => {
    const server = new FireworksStandIn();
    server.fault = ({ path }) =>
      path.endsWith(route) ? fail(422, { error: { message: "refused" } }) : null;
    await expect(backendOf(server).start(context())).rejects.toThrow("refused");
    expect(server.requests.some(({ path }) => path.endsWith("create_session"))).toBe(true);
    expect([...server.sessions]).toEqual([]);
  });

  it("is deleted where the run is stopped while it starts", async () => {
    const server = new FireworksStandIn();
    const abort = new AbortController();
    server.fault = ({ path }) => {
      if (path.endsWith("create_session")) abort.abort(new Error("stopped"));
      return null;
    };
    const start = backendOf(server).start({ ...context(), signal: abort.signal });
    await expect(start).rejects.toThrow("stopped");
    expect([...server.sessions]).toEqual([]);
  });

  it("is listed where it could not be deleted", async () => {
    const server = new FireworksStandIn();
    const warnings: string[] = [];
    const backend = backendOf(server, { onWarning: (text) => warnings.push(text) });
    await backend.start(context());
    server.fault = ({ method }) => (method === "DELETE" ? "refused" : null);
    await backend[Symbol.asyncDispose]();
    expect(backend.undeletedSessions).toEqual([
      `accounts/demo/trainingSessions/${[...server.sessions][0]}`,
    ]);
    expect(warnings.at(-1)).toContain("could not be deleted");
  });

  it("is not opened without what Fireworks does not report", async () => {
    const server = new FireworksStandIn();
    const start = (options: FireworksBackendOptions) =>
      createFireworksBackend({ apiKey: "k", client: { fetch: server.fetch }, ...options }).start(
        context(),
      );
    await expect(start({ tokenizer })).rejects.toMatchObject({
      hint: "Set fireworks.context_length.",
    });
    await expect(start({ contextLength: 512 })).rejects.toMatchObject({
      hint: expect.stringContaining("fireworks.tokenizer"),
    });
    await expect(backendOf(server).start(context(null))).rejects.toMatchObject({
      code: "OPTION_UNSUPPORTED",
    });
    const several = new FireworksStandIn({ accounts: ["a", "b"] });
    await expect(backendOf(several).start(context())).rejects.toMatchObject({
      hint: expect.stringContaining("fireworks.account"),
    });
    expect(
      [...server.requests, ...several.requests].filter(({ method }) => method === "POST"),
    ).toEqual([]);
  });

  it("promotes its last checkpoint before it is deleted", async () => {
    const server = new FireworksStandIn();
    const backend = backendOf(server, { outputModel: "shop-agent" });
    await backend.start(context());
    await backend.saveState(newFolder());
    await backend.updatePolicy(rows, defaultLoss, { ...still, learningRate: 1 });
    const folder = newFolder();
    await backend.saveState(folder);
    const { snapshot_path: path } = JSON.parse(
      readFileSync(join(folder, "fireworks.json"), "utf8"),
    ) as { snapshot_path: string };
    await backend[Symbol.asyncDispose]();
    expect(Object.fromEntries(server.promoted)).toEqual({
      "accounts/demo/models/shop-agent": path.split("/").slice(1).join("."),
    });
    expect([...server.sessions]).toEqual([]);
  });

  it("keeps the weights under another name where that of the model is taken", async () => {
    const server = new FireworksStandIn();
    server.promoted.set("accounts/demo/models/shop-agent", "of an earlier run");
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const backend = backendOf(server, { outputModel: "shop-agent", onWarning });
    await backend.start(context());
    await backend.saveState(newFolder());
    await backend[Symbol.asyncDispose]();
    const [, made = ""] = [...server.promoted.keys()];
    expect(made).toMatch(/^accounts\/demo\/models\/shop-agent-[0-9a-f]{8}$/u);
    expect(warnings).toEqual([
      `The model shop-agent exists already; the last checkpoint is now ${made}.`,
    ]);
  });

  it("restores its own checkpoints, and refuses those of another", async () => {
    const server = new FireworksStandIn();
    await using backend = backendOf(server);
    await backend.start(context());
    const folder = newFolder();
    await backend.saveState(folder);
    const before = await backend.forward(rows, "current");
    await backend.updatePolicy(rows, defaultLoss, { ...still, learningRate: 5 });
    expect(await backend.forward(rows, "current")).not.toEqual(before);
    await backend.loadState(folder, 7);
    expect(await backend.forward(rows, "current")).toEqual(before);
    expect(await backend.publishWeights()).toBe(8);
    await using other = backendOf(server);
    await other.start(context());
    await expect(other.loadState(folder, 0)).rejects.toThrow("loads it in no other");
  });
});

describe("samples", () => {
  const params = { ...defaultSampling, maxTokens: 4, stopTokenIds: [end], seed: 3 };
  const tokens = Int32Array.of(1, 2);

  it("come from the weights that were published when they were requested", async () => {
    const server = new FireworksStandIn();
    await using backend = backendOf(server);
    const { sampler } = (await backend.start(context())) as SamplerTarget;
    await backend.updatePolicy([rowOf(yes, 1, 0)], defaultLoss, { ...still, learningRate: 1 });
    const [early] = await sampler.sample({ tokens, params });
    expect(early).toMatchObject({ weightVersion: 0, stopReason: "stop" });
    expect(early!.logprobs[0]).toBeCloseTo(Math.log(0.5), 6);
    await backend.publishWeights();
    const [late] = await sampler.sample({ tokens, params });
    expect(late!.weightVersion).toBe(1);
    const { weight } = [...server.models.values()][0]!;
    expect(weight).toBeGreaterThan(0);
    expect(late!.logprobs[0]).toBeCloseTo(logprobOf(late!.tokens[0]!, weight), 6);
    expect(await backend.metrics()).toMatchObject({
      "engine/sampled_tokens": 4,
      "engine/prompt_tokens": 4,
      "engine/trained_tokens": 3,
    });
  });

  it("have both kinds of log-probabilities away from temperature 1", async () => {
    const server = new FireworksStandIn();
    await using backend = backendOf(server);
    const { sampler } = (await backend.start(context())) as SamplerTarget;
    await backend.updatePolicy([rowOf(yes, 1, 0)], defaultLoss, { ...still, learningRate: 1 });
    await backend.publishWeights();
    const { weight } = [...server.models.values()][0]!;
    const request = (extra: object) => sampler.sample({ tokens, params: { ...params, ...extra } });
    const [hot] = await request({ temperature: 2 });
    const [token] = hot!.tokens;
    expect(hot!.logprobs[0]).toBeCloseTo(logprobOf(token!, weight), 6);
    expect(hot!.temperedLogprobs![0]).toBeCloseTo(logprobOf(token!, weight / 2), 6);
    // Of a truncated distribution the service returns what it sampled from, which is something else.
    const [cut] = await request({ temperature: 2, topP: 0.9 });
    expect(cut).not.toHaveProperty("temperedLogprobs");
    expect((await request({}))[0]).not.toHaveProperty("temperedLogprobs");
    const [last] = server.requests.filter(({ path }) => path.includes("completions")).slice(-1);
    expect(last!.body).toMatchObject({ top_p: 1, top_k: 0, raw_output: true, n: 1, seed: 3 });
  });

  it("are one request each, with a seed of its own, and end at stop tokens", async () => {
    const server = new FireworksStandIn();
    await using backend = backendOf(server);
    const { sampler } = (await backend.start(context())) as SamplerTarget;
    const samples = await sampler.sample({
      tokens,
      n: 3,
      params: { ...params, stopTokenIds: [yes, no] },
    });
    expect(samples.map((sample) => sample.tokens.length)).toEqual([1, 1, 1]);
    expect(samples.every(({ stopReason }) => stopReason === "stop")).toBe(true);
    const sent = server.requests.filter(({ path }) => path.includes("completions"));
    expect(new Set(sent.map(({ body }) => body!["seed"])).size).toBe(3);
    const long = { ...params, minP: 0.1 };
    await expect(sampler.sample({ tokens, params: long })).rejects.toThrow("min_p");
    await expect(sampler.sample({ tokens: new Int32Array(512), params })).rejects.toMatchObject({
      code: "CONTEXT_OVERFLOW",
    });
    const abort = new AbortController();
    const stopped = sampler.sample({ tokens, params, signal: abort.signal });
    abort.abort();
    expect((await stopped)[0]).toMatchObject({ stopReason: "aborted" });
  });
});

describe("a run", () => {
  afterEach(() => {
    delete process.env["FIREWORKS_API_KEY"];
  });

  const config = (outputDir: string) => ({
    "model.name": baseModel,
    "model.lora_rank": 8,
    "data.train_batch_size": 4,
    "rollout.n": 8,
    "rollout.train.max_tokens": 4,
    "algorithm.aggregation": "token-sum",
    "training.learning_rate": 0.1,
    "trainer.total_batches": 8,
    "trainer.seed": 3,
    "trainer.output_dir": outputDir,
    "workflow.retry_limit": 0,
  });

  const evaluator = (_: unknown, episode: { readonly output?: unknown }): boolean =>
    episode.output === "y";

  it.each(["ppo", "gspo"])("learns with %s, saves, and leaves no session behind", async (loss) => {
    const server = new FireworksStandIn();
    const backend = backendOf(server);
    const outputDir = newFolder();
    const trainer = new AgentTrainer({
      backend,
      agentFlow: coinAgent,
      evaluator,
      trainDataset: coinTasks,
      config: {
        ...config(outputDir),
        "algorithm.loss": loss,
        ...(loss === "gspo" ? { "algorithm.kl_beta": 0.001 } : {}),
      },
    });
    const { status, runDir } = await trainer.train();
    await backend[Symbol.asyncDispose]();
    expect(status).toBe("completed");
    const steps = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
    const reward = (line: (typeof steps)[number]): number => Number(line["reward/mean"]);
    expect(steps).toHaveLength(8);
    expect(reward(steps[0]!)).toBeLessThan(0.75);
    expect(reward(steps.at(-1)!)).toBeGreaterThan(0.85);
    expect(server.bodies("optim_step").length).toBeGreaterThan(3);
    expect([...server.sessions]).toEqual([]);
  });

  it("cannot be resumed, and says so before anything is sent", () => {
    const server = new FireworksStandIn();
    const resume = () =>
      new AgentTrainer({
        backend: backendOf(server),
        agentFlow: coinAgent,
        evaluator,
        trainDataset: coinTasks,
        config: config(newFolder()),
        resume: newFolder(),
      });
    expect(resume).toThrow(
      expect.objectContaining({
        message:
          'The backend "fireworks" does not support resume=true. Backends that support it: local, tinker, verl.',
        hint: "Its checkpoints can be loaded only by the run that saved them. Start a new run.",
      }),
    );
    expect(server.requests).toEqual([]);
  });

  it.each(["completes", "fails", "is stopped"])(
    "by name, over HTTP, deletes its session where it %s",
    async (how) => {
      const server = new FireworksStandIn({ polls: 0 });
      const socket = await listen(server);
      process.env["FIREWORKS_API_KEY"] = "fw_test";
      const abort = new AbortController();
      if (how !== "completes")
        server.fault = ({ path }) => {
          if (!path.endsWith("optim_step")) return null;
          if (how === "is stopped") abort.abort();
          return how === "fails" ? fail(422, { error: { message: "refused" } }) : null;
        };
      const trainer = new AgentTrainer({
        agentFlow: coinAgent,
        evaluator,
        trainDataset: coinTasks,
        signal: abort.signal,
        config: {
          ...config(newFolder()),
          backend: "fireworks",
          "trainer.total_batches": 2,
          "fireworks.base_url": socket.url,
          "fireworks.tokenizer": tokenizer,
          "fireworks.context_length": 512,
        },
      });
      const ended = await trainer.train().then(
        ({ status }) => status,
        (error: unknown) => String(error),
      );
      await socket.close();
      if (how === "completes") expect(ended).toBe("completed");
      if (how === "fails") expect(ended).toContain("status 422: refused");
      if (how === "is stopped") expect(ended).not.toBe("completed");
      expect(server.requests.filter(({ path }) => path.endsWith("create_session"))).toHaveLength(1);
      expect([...server.sessions]).toEqual([]);
    },
  );
});
