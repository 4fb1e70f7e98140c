/** Roles with LoRA adapters of their own on the embedded engine: what learns, what is frozen, and exact resumes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { readSafetensors } from "../../src/engine/checkpoint/safetensors.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Task } from "../../src/core/task.ts";
import { createModelServer } from "../../src/launch/serve/model-server.ts";
import { findModel } from "../../src/backends/local/find-model.ts";
import { defineTrajectory } from "../../src/core/report.ts";
import {
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

async function say(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  model: string,
  content: string,
): Promise<string> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  if (!response.ok) throw new Error(await response.text());
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]!.message.content;
}

/** Two solvers and a judge at the same time, then a coach that has no adapter; one call has no role. */
async function agentRunFunc(task: Task, config: AgentConfig): Promise<unknown> {
  const named = [
    { name: "solver 1", role: "solver" },
    { name: "solver 2", role: "solver" },
    { name: "judge", role: "judge" },
    { name: "coach", role: "coach" },
  ];
  const found = await Promise.all(
    named.map(async ({ name, role }) => {
      const handle = config.trajectory(name, { role });
      const text = await say(handle, config.model, `${name}: ${task.instruction}`);
      return defineTrajectory({ name: role, uid: handle.uid, reward: text.length % 5 });
    }),
  );
  const text = await say(config, config.model, task.instruction);
  return [...found, defineTrajectory({ name: "agent", reward: text.length % 5 })];
}

const options: CoinTrainerOptions = {
  agentFlow: undefined as never,
  evaluator: undefined as never,
  agentRunFunc: agentRunFunc as never,
  trainDataset: ["a", "b", "c"].map((id) => ({ id, instruction: `Say ${id}.`, metadata: {} })),
  set: {
    "model.name": "builtin:shop-tiny",
    "model.lora_rank": 4,
    "model.adapter_by_role": { solver: "solver", judge: "judge-1", coach: "none" },
    "rollout.n": 2,
    "algorithm.filter_uniform_groups": false,
    "rollout.train.max_tokens": 6,
    "training.learning_rate": 1e-2,
    "trainer.total_batches": 2,
    "trainer.save_freq": 1,
  },
};

async function run(more: CoinTrainerOptions = {}) {
  await using backend = createLocalBackend({ threads: 1 });
  const set = { ...options.set, ...more.set };
  const { trainer, events } = coinTrainer({ ...options, ...more, set, backend });
  const { runDir } = await trainer.train();
  return { runDir, events, lines: readLines(runDir, "metrics.jsonl").map(withoutClock) };
}

const warnings = (events: readonly TrainerEvent[]): string =>
  events.flatMap((event) => (event.type === "warning" ? [event.message] : [])).join("\n");

const names = ["default", "solver", "judge-1"] as const;
const folderOf = (runDir: string, step: number, name: string): string =>
  join(
    runDir,
    "checkpoints",
    String(step).padStart(6, "0"),
    "weights",
    name === "default" ? "" : name,
  );

describe("roles with adapters", () => {
  it("train each by its own calls, and continue bit by bit after a stop", async () => {
    const whole = await run();
    expect(whole.lines).toHaveLength(2);
    for (const line of whole.lines) {
      // What samples is what trains, to the bit.
      expect(line["train/logprob_abs_diff_mean"]).toBe(0);
      const tokens = names.map((name) => Number(line[`train/adapters/${name}/tokens`] ?? 0));
      expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(line["train/tokens"]);
      expect(Math.min(...tokens.slice(1))).toBeGreaterThan(0);
    }
    expect(warnings(whole.events)).toContain("coach is sampled from the base model");
    const traces = readLines(whole.runDir, "episodes", "000001.jsonl").flatMap(
      (episode) => episode["trajectories"] as readonly Trajectory[],
    );
    const sampledBy = new Map(
      traces.map(({ name, steps, untrained }) => [name, [steps[0]!.trace.adapter, untrained]]),
    );
    expect(Object.fromEntries(sampledBy)).toEqual({
      solver: ["solver", undefined],
      judge: ["judge-1", undefined],
      coach: [null, 'model.adapter_by_role gives "coach" no adapter'],
      agent: ["default", undefined],
    });

    const outputDir = newFolder();
    const controller = new AbortController();
    await run({
      outputDir,
      signal: controller.signal,
      onEvent: ({ type, step }) => {
        if (type === "step-end" && step === 1) controller.abort();
      },
    });
    const resumed = await run({ outputDir, resume: "auto" });
    expect(resumed.lines).toEqual(whole.lines);
    for (const name of names)
      for (const file of ["adapter_model.safetensors", "optimizer.state"]) {
        const [own, other] = [whole, resumed].map(({ runDir }) =>
          readFileSync(join(folderOf(runDir, 2, name), file)),
        );
        expect(own!.equals(other!)).toBe(true);
      }

    // Of several adapters, none is the run's model; served, each role is a model.
    await expect(findModel(whole.runDir)).rejects.toThrow("adapters of several roles");
    await using server = await createModelServer({
      models: [{ name: "shop", model: whole.runDir }, "builtin:shop-tiny"],
      threads: 1,
    });
    const models = ["shop", "shop/solver", "shop/judge", "shop/coach", "builtin:shop-tiny"];
    expect(server.models).toEqual(models);
    const answers = await Promise.all(models.map((model) => ask(server, model)));
    const [, solver, judge, coach, base] = answers;
    expect(coach).toBe(base);
    expect(new Set([solver, judge, base]).size).toBe(3);
  }, 120_000);

  it("train asynchronously, and with a loss that the trainer computes", async () => {
    const { lines } = await run({
      set: {
        "async_training.enable": true,
        "training.num_minibatches": 2,
        "algorithm.loss_by_role": { judge: "dro" },
        "algorithm.use_kl_in_reward": true,
        "algorithm.kl_beta": 0.01,
      },
    });
    expect(lines).toHaveLength(2);
    for (const name of ["solver", "judge-1"])
      expect(lines.some((line) => Number(line[`train/adapters/${name}/grad_norm`]) > 0)).toBe(true);
  }, 120_000);

  it("learn at rates of single adapters, of which 0 freezes one and its schedule is that of the run", async () => {
    const { runDir, lines } = await run({
      set: {
        "trainer.total_batches": 1,
        "training.learning_rate_by_adapter": { "judge-1": 0, solver: 1e-2 },
        "training.learning_rate": 1e-3,
      },
    });
    const plain = await run({ set: { "trainer.total_batches": 1 } });
    const factors = (folder: string, name: string) =>
      readFileSync(join(folderOf(folder, 1, name), "adapter_model.safetensors"));
    // As in a run whose common rate is 1e-2.
    expect(factors(runDir, "solver").equals(factors(plain.runDir, "solver"))).toBe(true);
    expect(factors(runDir, "judge-1").equals(factors(plain.runDir, "judge-1"))).toBe(false);
    // Its factors of B are still 0: it has a gradient, and takes no step.
    expect(lines[0]!["train/adapters/judge-1/grad_norm"]).toBeGreaterThan(0);
    const zeros = await readSafetensors(
      join(folderOf(runDir, 1, "judge-1"), "adapter_model.safetensors"),
    );
    const changed = [...zeros].filter(
      ([key, { data }]) => key.includes("lora_B") && data.some(Boolean),
    );
    expect(changed).toEqual([]);
    await expect(
      run({ set: { "training.learning_rate_by_adapter": { coach: 1 } } }),
    ).rejects.toThrow(
      "names the adapter coach, which model.adapter_by_role does not have. It has solver, judge-1, default.",
    );
  }, 120_000);

  it("go on from a checkpoint of asynchronous training with all of them", async () => {
    const set = { "async_training.enable": true, "trainer.total_batches": 3 };
    const outputDir = newFolder();
    const controller = new AbortController();
    const { runDir } = await run({
      ...{ outputDir, set, signal: controller.signal },
      onEvent: ({ type, step }) => {
        if (type === "step-end" && step === 1) controller.abort();
      },
    });
    const saved = names.map((name) =>
      readFileSync(join(folderOf(runDir, 1, name), "optimizer.state")),
    );
    const resumed = await run({ outputDir, set, resume: "auto" });
    expect(resumed.runDir).toBe(runDir);
    expect(resumed.lines.map((line) => line["step"])).toEqual([1, 2, 3]);
    expect(resumed.lines.at(-1)!["weight_version"]).toBe(3);
    for (const [i, name] of names.slice(1).entries()) {
      const later = readFileSync(join(folderOf(runDir, 3, name), "optimizer.state"));
      expect(later.equals(saved[i + 1]!)).toBe(false);
    }
  }, 120_000);

  it("fails rollouts that report calls of one adapter as those of another", async () => {
    const mixed = async (task: Task, config: AgentConfig) => {
      const text = await say(config.trajectory("judge"), config.model, task.instruction);
      return [
        defineTrajectory({
          name: "solver",
          uid: `${config.sessionUid}:judge`,
          reward: text.length,
        }),
      ];
    };
    await expect(run({ agentRunFunc: mixed })).rejects.toThrow(
      'Calls of the role "solver", which has the adapter "solver", were sampled from the adapter "judge-1"',
    );
  }, 60_000);

  it("are nothing beyond the model's own where a role is frozen only", async () => {
    const { runDir, lines } = await run({
      set: { "model.adapter_by_role": ["judge=none"], "trainer.total_batches": 1 },
    });
    expect(lines[0]!["train/adapters/default/tokens"]).toBeUndefined();
    expect(existsSync(join(folderOf(runDir, 1, "default"), "adapter_config.json"))).toBe(true);
    await expect(findModel(runDir)).resolves.toMatchObject({
      path: expect.stringContaining("merged") as string,
    });
  }, 60_000);
});

interface Trajectory {
  readonly name: string;
  readonly untrained?: string;
  readonly steps: readonly { readonly trace: { readonly adapter?: string | null } }[];
}

async function ask(server: { fetch(request: Request): Promise<Response> }, model: string) {
  const response = await server.fetch(
    new Request("http://127.0.0.1/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model,
        seed: 1,
        max_tokens: 10,
        logprobs: true,
        messages: [{ role: "user", content: "How much do 3 mugs cost?" }],
      }),
    }),
  );
  expect(response.status).toBe(200);
  return JSON.stringify(((await response.json()) as { choices: unknown }).choices);
}
