/** Dedicated trainers in front of a stand-in: what is created, waited for, synced, and always deleted. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  createFireworksBackend,
  type FireworksBackendOptions,
  type FireworksDedicatedOptions,
} from "../../src/backends/fireworks/index.ts";
import type { SamplerTarget } from "../../src/core/backend.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { coinAgent, coinTasks, readLines } from "../trainer/coin-run.ts";
import { DedicatedStandIn, type DedicatedStandInOptions } from "./dedicated-stand-in.ts";
import { countedSleep, fail, type SeenRequest } from "./stand-in.ts";
import { end } from "./toy-policy.ts";

const tokenizer = fileURLToPath(new URL("../../models/shop-tiny", import.meta.url));
const newFolder = (): string => mkdtempSync(join(tmpdir(), "fireworks-dedicated-"));
const trainingShape = "accounts/fireworks/trainingShapes/toy";
const baseModel = "accounts/fireworks/models/toy";

interface Setup {
  readonly backend: ReturnType<typeof createFireworksBackend>;
  readonly progress: string[];
  readonly warnings: string[];
}

function setUp(
  server: DedicatedStandIn,
  dedicated: Partial<FireworksDedicatedOptions> = {},
  options: FireworksBackendOptions = {},
): Setup {
  const progress: string[] = [];
  const warnings: string[] = [];
  const backend = createFireworksBackend({
    baseUrl: "http://fireworks.test",
    apiKey: "fw_test",
    tokenizer,
    dedicated: { trainingShape, ...dedicated },
    onProgress: (message) => progress.push(message),
    onWarning: (message) => warnings.push(message),
    ...options,
    client: { fetch: server.fetch, sleep: countedSleep().sleep, ...options.client },
  });
  return { backend, progress, warnings };
}

const context = (more: { rank?: number; runDir?: string; signal?: AbortSignal } = {}) => ({
  seed: 5,
  model: { name: baseModel, lora: more.rank === 0 ? null : { rank: more.rank ?? 8, alpha: 16 } },
  signal: more.signal ?? new AbortController().signal,
  ...(more.runDir === undefined ? {} : { runDir: more.runDir }),
});

const nothingLeft = (server: DedicatedStandIn): void => {
  expect([...server.jobs.keys(), ...server.deployments.keys()]).toEqual([]);
};

describe("a run", () => {
  it("creates trainer and deployment, learns, syncs each version, and deletes both", async () => {
    const server = new DedicatedStandIn({ slow: { pending: 3, starting: 2, deployment: 2 } });
    const outputDir = newFolder();
    const { backend, progress } = setUp(
      server,
      { deploymentReplicas: 3, region: "EU" },
      { outputModel: "learned" },
    );
    const trainer = new AgentTrainer({
      backend,
      agentFlow: coinAgent,
      evaluator: (_, episode) => episode.output === "y",
      trainDataset: coinTasks,
      config: {
        "model.name": baseModel,
        "model.lora_rank": 8,
        "data.train_batch_size": 4,
        "rollout.n": 8,
        "rollout.train.max_tokens": 4,
        "algorithm.aggregation": "token-sum",
        "training.learning_rate": 0.1,
        "trainer.total_batches": 6,
        "trainer.seed": 3,
        "trainer.output_dir": outputDir,
      },
    });
    const { status, runDir } = await trainer.train();
    const held = readdirSync(runDir).filter((name) => name.startsWith("fireworks-resources"));
    expect(held).toHaveLength(1);
    const record = JSON.parse(readFileSync(join(runDir, held[0]!), "utf8")) as {
      resources: { kind: string }[];
    };
    expect(record.resources.map(({ kind }) => kind)).toEqual(["trainer", "deployment"]);
    const [id, job] = [...server.jobs][0]!;
    const [deployment] = [...server.deployments.values()];
    await backend[Symbol.asyncDispose]();
    expect(status).toBe("completed");
    const lines = readLines(runDir, "metrics.jsonl");
    const rewards = lines.map((line) => Number(line["reward/mean"]));
    expect(rewards[0]).toBeLessThan(0.75);
    expect(rewards.at(-1)).toBeGreaterThan(0.8);
    expect(job.query.get("trainingShape")).toBe(`${trainingShape}/versions/7`);
    expect(job.body).toMatchObject({
      serviceMode: true,
      trainingConfig: { baseModel, loraRank: 8, region: "EU" },
      inactivityTimeout: "3600s",
    });
    expect(deployment!.body).toMatchObject({
      maxReplicaCount: 3,
      enableHotLoad: true,
      forTraining: true,
      hotLoadTrainerJob: `accounts/demo/rlorTrainerJobs/${id}`,
      hotLoadTransitionType: "SYNC",
      deploymentShape: "accounts/fireworks/deploymentShapes/toy/versions/1",
    });
    expect(server.loads.map((identity) => identity.split("-")[0])).toEqual(
      Array.from({ length: Number(lines.at(-1)!["weight_version"]) + 1 }, (_, v) => `v${v}`),
    );
    expect(progress[0]).toContain("1 × 8 NVIDIA_H200_141GB, $56.00 per hour");
    expect(progress).toContain(
      `The trainer accounts/demo/rlorTrainerJobs/${id}: JOB_STATE_PENDING for 0 s.`,
    );
    expect(progress.at(-1)).toBe("The trainer and the deployment are deleted.");
    expect(server.promoted).toMatchObject([
      { output_model: "accounts/demo/models/learned", trainer_job_id: id, base_model: baseModel },
    ]);
    // The deployment first: it loads from the trainer.
    expect(server.deleted).toEqual([`deployments/${id}`, `rlorTrainerJobs/${id}`]);
    expect(readdirSync(runDir).filter((name) => name.startsWith("fireworks-resources"))).toEqual(
      [],
    );
    nothingLeft(server);
  });

  it("samples from the weights that are loaded, and from none while they change", async () => {
    const server = new DedicatedStandIn({ slow: { load: 3 }, refusesPromptCache: true });
    const { backend } = setUp(server);
    const { sampler } = (await backend.start(context())) as SamplerTarget;
    expect(sampler.contextLength).toBe(512);
    const params = { ...defaultSampling, maxTokens: 4, stopTokenIds: [end], seed: 3 };
    const request = { tokens: Int32Array.of(1, 2), params };
    const publishing = backend.publishWeights();
    const [late] = await sampler.sample(request);
    expect(late!.weightVersion).toBe(1);
    expect(await publishing).toBe(1);
    const last = server.requests.findLast(({ path }) => path.includes("completions"));
    const [deployment] = server.deployments.keys();
    expect(last!.body).toMatchObject({ model: `accounts/demo/deployments/${deployment}` });
    const bodies = server.requests.filter(
      ({ method, path }) => method === "POST" && path.startsWith("/hot_load"),
    );
    // Refused once, left out from then on.
    expect(bodies.map(({ body }) => "reset_prompt_cache" in body!)).toEqual([true, false, false]);
    await backend[Symbol.asyncDispose]();
    nothingLeft(server);
  });

  it("trains every weight where the shape does, without a reference", async () => {
    const server = new DedicatedStandIn({ trainerMode: "POLICY_TRAINER" });
    const { backend } = setUp(server);
    expect(backend.capabilities).toMatchObject({ fullFineTune: true, reference: true });
    await backend.start(context({ rank: 0 }));
    expect(backend.capabilities.reference).toBe(false);
    expect(server.inner.bodies("create_model")[0]).toMatchObject({ lora_config: { rank: 0 } });
    await backend[Symbol.asyncDispose]();
    nothingLeft(server);
  });

  it("knows what its hardware costs", async () => {
    const hardware = { acceleratorType: "NVIDIA_B200_180GB", acceleratorCount: 2 };
    const server = new DedicatedStandIn({ hardware });
    const { backend } = setUp(server, { trainerReplicas: 2, deploymentReplicas: 3 });
    await backend.start(context());
    // 2 trainers of 8 H200 at $7, 3 replicas of 2 B200 at $10.
    expect(backend.usdPerHour).toBe(2 * 8 * 7 + 3 * 2 * 10);
    await backend[Symbol.asyncDispose]();
  });
});

/** Routes of a start, by what is in their requests. */
const routes: Readonly<Record<string, (request: SeenRequest) => boolean>> = {
  shape: ({ path }) => path.includes("/versions?"),
  "create trainer": ({ method, path }) => method === "POST" && path.includes("/rlorTrainerJobs?"),
  "poll trainer": ({ method, path }) =>
    method === "GET" && path.startsWith("/v1/accounts/demo/rlorTrainerJobs/"),
  "create deployment": ({ method, path }) => method === "POST" && path.includes("/deployments?"),
  "poll deployment": ({ method, path }) => method === "GET" && path.includes("/deployments/"),
  "create session": ({ path }) => path.endsWith("/create_session"),
  "create model": ({ path }) => path.endsWith("/create_model"),
  "save snapshot": ({ path }) => path.endsWith("/save_weights_for_sampler"),
  "load weights": ({ method, path }) => method === "POST" && path.startsWith("/hot_load"),
  "poll weights": ({ method, path }) => method === "GET" && path.startsWith("/hot_load"),
};

describe.each(Object.entries(routes))("a fault at %s", (_, isRoute) => {
  const once = (fault: () => Response | "refused" | "lost") => {
    let seen = false;
    return (request: SeenRequest) => {
      if (seen || !isRoute(request)) return null;
      seen = true;
      return fault();
    };
  };

  it.each([
    ["a lost response", () => "lost" as const],
    ["a refused connection", () => "refused" as const],
    ["a 429", () => fail(429, { error: { message: "slow down" } })],
    ["a 503", () => fail(503, { error: { message: "overloaded" } })],
  ])("is survived: %s", async (_name, fault) => {
    const server = new DedicatedStandIn({ fault: once(fault) });
    const { backend } = setUp(server);
    await backend.start(context());
    expect([server.jobs.size, server.deployments.size]).toEqual([1, 1]);
    expect(server.created).toHaveLength(2);
    await backend[Symbol.asyncDispose]();
    nothingLeft(server);
  });

  it.each([
    ["403", () => fail(403, { error: { message: "not allowed" } })],
    ["no connection for ever", () => "refused" as const],
    ["only lost responses", () => "lost" as const],
  ])("that stays leaves nothing behind: %s", async (_name, fault) => {
    const server = new DedicatedStandIn({
      fault: (request) => (isRoute(request) ? fault() : null),
    });
    const { backend } = setUp(server, {}, { client: { patienceMs: 5_000 } });
    await expect(backend.start(context())).rejects.toMatchObject({ code: "FIREWORKS_FAILED" });
    nothingLeft(server);
    expect(backend.undeletedSessions).toEqual([]);
  });
});

describe("a start that cannot succeed", () => {
  const cases: readonly (readonly [
    name: string,
    server: DedicatedStandInOptions,
    options: Partial<FireworksDedicatedOptions>,
    message: string,
  ])[] = [
    ["failed job", { finalJobState: "JOB_STATE_FAILED" }, {}, "JOB_STATE_FAILED"],
    ["stopped job", { finalJobState: "JOB_STATE_CANCELLED" }, {}, "JOB_STATE_CANCELLED"],
    ["no hardware", { slow: { pending: 1e6 } }, { capacityTimeoutMs: 20_000 }, "hardware"],
    ["a job that never starts", { slow: { starting: 1e6 } }, { readyTimeoutMs: 20_000 }, "ready"],
    ["failed deployment", { finalDeploymentState: "FAILED" }, {}, "FAILED"],
    [
      "a deployment that never starts",
      { slow: { deployment: 1e6 } },
      { readyTimeoutMs: 20_000 },
      "ready",
    ],
    ["weights that cannot be loaded", { failsToLoad: true }, {}, "cannot load the snapshot"],
    [
      "weights that never load",
      { slow: { load: 1e6 } },
      { weightSyncTimeoutMs: 20_000 },
      "Loading the snapshot",
    ],
    ["a shape for every weight", { trainerMode: "POLICY_TRAINER" }, {}, "model.lora_rank is 8"],
    [
      "unknown hardware with a budget in dollars",
      { acceleratorType: "NEW_GPU" },
      { requiresPrice: true },
      "no price is known for NEW_GPU",
    ],
    [
      "a deployment that does not name its hardware, with a budget in dollars",
      {},
      { requiresPrice: true },
      "budget.usd cannot be kept",
    ],
  ];
  it.each(cases)("leaves nothing behind: %s", async (_name, options, dedicated, message) => {
    const server = new DedicatedStandIn(options);
    const { backend } = setUp(server, dedicated);
    await expect(backend.start(context())).rejects.toThrow(message);
    nothingLeft(server);
  });

  it("leaves nothing behind when it is interrupted while it waits", async () => {
    const server = new DedicatedStandIn({ slow: { starting: 1e6 } });
    const abort = new AbortController();
    server.fault = ({ path }) => {
      if (path.includes("rlorTrainerJobs/") && server.requests.length > 12) abort.abort();
      return null;
    };
    const { backend } = setUp(server);
    await expect(backend.start(context({ signal: abort.signal }))).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(server.created).toHaveLength(1);
    nothingLeft(server);
  });
});

describe("what cannot be deleted", () => {
  it("is named with its command, kept in the run folder, and listed at the next start", async () => {
    const root = newFolder();
    const runDir = join(root, "first");
    mkdirSync(runDir);
    const server = new DedicatedStandIn();
    const { backend, warnings, progress } = setUp(server);
    await backend.start(context({ runDir }));
    server.fault = ({ method }) => (method === "DELETE" ? fail(500, { message: "down" }) : null);
    await backend[Symbol.asyncDispose]();
    const [id] = server.jobs.keys();
    const names = [`accounts/demo/deployments/${id}`, `accounts/demo/rlorTrainerJobs/${id}`];
    expect(backend.undeletedSessions).toEqual(names);
    expect(progress.at(-1)).toBe(`Not deleted: ${names.join(", ")}.`);
    for (const name of names)
      expect(warnings.join("\n")).toContain(`"http://fireworks.test/v1/${name}`);
    const [file] = readdirSync(runDir);
    // Its process is gone: that of a program that has ended.
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const record = JSON.parse(readFileSync(join(runDir, file!), "utf8")) as { pid: number };
    expect(record).toMatchObject({ host: hostname(), pid: process.pid });
    writeFileSync(join(runDir, file!), JSON.stringify({ ...record, pid }));

    server.fault = () => null;
    const next = setUp(server);
    await next.backend.start(context({ runDir: join(root, "second") }));
    await next.backend[Symbol.asyncDispose]();
    const [warning] = next.warnings;
    expect(warning).toContain("Earlier runs ended without deleting");
    expect(warning).toContain(join(runDir, file!));
    expect(warning).toContain(
      `deployment: curl -X DELETE -H "X-Api-Key: $FIREWORKS_API_KEY" "http://fireworks.test/v1/accounts/demo/deployments/${id}?ignoreChecks=true&hard=true"`,
    );
  });

  it("is not what a process still holds", async () => {
    const root = newFolder();
    const server = new DedicatedStandIn();
    const first = setUp(server);
    await first.backend.start(context({ runDir: join(root, "first") }));
    const second = setUp(server);
    await second.backend.start(context({ runDir: join(root, "second") }));
    expect(second.warnings).toEqual([]);
    await first.backend[Symbol.asyncDispose]();
    await second.backend[Symbol.asyncDispose]();
    nothingLeft(server);
  });
});
