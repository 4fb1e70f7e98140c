/** `docs/metrics.md` has the metrics that runs report, and no others. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { AgentConfig, AgentFlow } from "../../src/core/agent.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { readMetrics } from "../../src/core/metric-names.ts";
import { defineEpisode, defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import { fineTune } from "../../src/launch/finetune/fine-tune.ts";
import { Workflow } from "../../src/rollouts/workflow/workflow.ts";
import { fetchOf, startServer } from "../tinker/local-server.ts";
import { viaTinker } from "../tinker/shop-run.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinTasks, coinTrainer, type CoinTrainerOptions } from "../trainer/coin-run.ts";
import { documentedName, metricNames } from "./metric-page.ts";
import { codeSpans, pages, readPage, root } from "./pages.ts";

const names = metricNames;

/** Reported only by programs that no unit test runs: file, and what is written there. */
const inSource: Readonly<Record<string, readonly [string, string]>> = {
  "train/ranks/rows": ["python/agent_trainer_bridge/verl_engine/engine.py", '"ranks/rows"'],
  "train/ranks/imbalance": [
    "python/agent_trainer_bridge/verl_engine/engine.py",
    '"ranks/imbalance"',
  ],
  "train/lr": ["python/agent_trainer_bridge/verl_engine/metrics.py", '"lr"'],
  "train/mfu": ["python/agent_trainer_bridge/verl_engine/metrics.py", '"mfu"'],
  "train/verl/{name}": ["python/agent_trainer_bridge/verl_engine/metrics.py", "verl/{name}"],
  "engine/quantization_kl": ["src/backends/local/backend.ts", '"engine/quantization_kl"'],
  "engine/quantization_ess_fraction": [
    "src/backends/local/backend.ts",
    '"engine/quantization_ess_fraction"',
  ],
  "engine/prompt_tokens": ["src/backends/fireworks/backend.ts", '"engine/prompt_tokens"'],
  "engine/trained_tokens": ["src/backends/fireworks/backend.ts", '"engine/trained_tokens"'],
  "train/server/{name}": ["src/backends/datum/update-metrics.ts", "`server/"],
};

const sourced = coinTasks.map((task) => ({ ...task, metadata: { data_source: "coins" } }));
const halfRight = (task: Task, { rolloutIndex }: { rolloutIndex: number }) => ({
  reward: (rolloutIndex % 2) * (task.id === "task-4" ? 0 : 1),
  isCorrect: rolloutIndex % 2 === 1,
  signals: [{ name: "length", value: 1 }],
});

/** Reports an advantage with its call, and a metric. */
const reporting: AgentFlow = async (task, config) => {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({ messages: [{ role: "user", content: task.instruction }] }),
  });
  const { id } = (await response.json()) as { id: string };
  const steps = [{ responseId: id, advantage: task.id.length }];
  return defineEpisode({
    metrics: { coins: 1 },
    trajectories: [defineTrajectory({ name: "agent", reward: 1, steps })],
  });
};

/** Gives a reward itself, in addition to the evaluator's. */
class Scoring extends Workflow {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: 0 });
    return content;
  }
}
const scoring = { agentFlow: undefined, workflowClass: Scoring } as unknown as CoinTrainerOptions;

const prices = { prompt: 1, sampled: 1, trained: 1 };
const scripted: Readonly<Record<string, CoinTrainerOptions>> = {
  "rejection sampling and validation": {
    evaluator: halfRight,
    valDataset: sourced,
    hooks: { setUp: async () => ({}) },
    set: {
      "rejection_sample.enable": true,
      "trainer.test_freq": 2,
      "rollout.n_val": 2,
      "algorithm.overlong_buffer.enable": true,
      "algorithm.overlong_buffer.len": 2,
      "algorithm.overlong_buffer.max_length": 4,
    },
  },
  "a backend with metrics": {
    backend: coinBackend({ metrics: () => ({ "engine/busy_s": 0.001, "engine/heat": 1 }) }),
  },
  "several rewards, of tasks with a source": {
    trainDataset: sourced,
    evaluator: (task: Task, episode: { rolloutIndex: number }) => ({
      ...halfRight(task, episode),
      signals: [{ name: "length", value: episode.rolloutIndex % 2 }],
    }),
    set: { "algorithm.estimator": "gdpo" },
  },
  "a budget": { set: { "budget.usd": 1, "budget.minutes": 1e6, "budget.prices": prices } },
  "a curriculum": {
    evaluator: halfRight,
    set: { "data.curriculum": "solve_rate" },
  },
  "asynchronous training": {
    evaluator: halfRight,
    set: { "async_training.enable": true },
  },
  "advantages that the agent reports": {
    agentFlow: reporting,
    set: { "algorithm.use_precomputed_advantage": true },
  },
  "advantages that are ignored": { agentFlow: reporting },
  "two rewards, the evaluator's trained": { ...scoring },
  "scores of a group": {
    groupEvaluator: (_task: unknown, episodes: readonly object[]) => episodes.map((_, i) => i % 2),
  },
  "advantages that are all 0, and a penalty": {
    backend: coinBackend({
      capabilities: { forward: true, reference: true, klEstimators: ["k3"] },
      onForward: () => {},
    }),
    evaluator: () => true,
    set: {
      "algorithm.filter_uniform_groups": false,
      "algorithm.kl_beta": 0.1,
      "algorithm.kl_estimator": "k3",
    },
  },
  "two rewards, the rollout's trained": {
    ...scoring,
    set: { "rollout.reward_source": "rollout" },
  },
};

const trained = {
  "model.name": "builtin:shop-tiny",
  "model.lora_rank": 4,
  "rollout.train.max_tokens": 8,
  "trainer.total_batches": 1,
  "training.learning_rate": 1e-4,
};
const byLength = (_task: Task, { output }: { output: unknown }): number =>
  (String(output).length % 5) / 5;

/** Two calls, of which the second has an answer to the first. */
async function conversing(task: Task, config: AgentConfig): Promise<string> {
  const messages = [{ role: "user", content: task.instruction }];
  for (let turn = 0; turn < 2; turn++) {
    const response = await fetch(`${config.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
      body: JSON.stringify({ model: config.model, messages }),
    });
    const body = (await response.json()) as { choices: { message: { content: string } }[] };
    const content = body.choices[0]?.message.content ?? "";
    messages.push({ role: "assistant", content }, { role: "user", content: "Go on." });
  }
  return messages.at(-2)?.content ?? "";
}

/** Names that one run reports. */
async function reported(options: CoinTrainerOptions): Promise<readonly string[]> {
  const set = { "trainer.total_batches": 2, ...options.set };
  const { trainer, events } = coinTrainer({ ...options, set });
  await trainer.train();
  return events.flatMap((event) =>
    event.type === "step-end" || event.type === "validation-end" ? Object.keys(event.metrics) : [],
  );
}

async function onBackend(backend: TrainingBackend, set: Record<string, unknown>) {
  await using owned = backend;
  return await reported({ backend: owned, evaluator: byLength, set: { ...trained, ...set } });
}

/** Names that fine-tuning on an example or two reports. */
async function reportedByFineTuning(loss: "sft" | "dpo" | "kto"): Promise<readonly string[]> {
  const say = (role: string, content: string) => [{ role, content }];
  const prompt = "How much?";
  const examples = {
    sft: [{ prompt, completion: "12" }],
    dpo: [{ prompt, chosen: "12", rejected: say("assistant", "much") }],
    kto: [
      { prompt, completion: "12", label: true },
      { prompt, completion: "much", label: false },
    ],
  }[loss];
  const reportedNames: string[] = [];
  await fineTune({
    config: {
      model: { name: "builtin:shop-tiny" },
      fineTuning: { loss },
      trainer: { totalBatches: 1, outputDir: mkdtempSync(join(tmpdir(), "fine-tuned-")) },
    },
    train: examples,
    val: examples,
    onEvent(event) {
      if (event.type === "step-end" || event.type === "validation-end")
        reportedNames.push(...Object.keys(event.metrics));
    },
  });
  return reportedNames;
}

describe("metrics", () => {
  const found = new Set<string>();
  beforeAll(async () => {
    for (const options of Object.values(scripted)) {
      for (const name of await reported(options)) found.add(name);
    }
    const local = await onBackend(createLocalBackend({ threads: 1 }), {
      "algorithm.entropy_coef": 0.01,
      "algorithm.kl_beta": 0.01,
      "algorithm.use_kl_in_reward": true,
      "algorithm.rollout_correction": { type: "token", reject: { token_k1: 2 } },
      "algorithm.rollout_correction.rollout_token_veto_threshold": 1e-4,
      "distillation.teacher": "builtin:shop-tiny",
      "distillation.clip": 1,
    });
    const observing = await reported({
      backend: createLocalBackend({ threads: 1 }),
      ...{ agentFlow: conversing, evaluator: byLength },
      set: {
        ...trained,
        "trainer.total_batches": 2,
        "algorithm.observation_loss": { user: 0.05 },
        "algorithm.estimator": { type: "gae", critic_warmup: 1 },
      },
    });
    const itself = await onBackend(createLocalBackend({ threads: 1 }), {
      "distillation.teacher": "self",
      "distillation.hint": "price",
      "model.lora_rank": 2,
      "model.adapter_by_role": { agent: "own" },
    });
    await using server = await startServer({ modelName: "shop-tiny" });
    const tinker = await onBackend(viaTinker({ fetch: fetchOf(server.server) }), {
      "model.name": "shop-tiny",
    });
    const tuned: string[] = [];
    for (const loss of ["sft", "dpo", "kto"] as const)
      tuned.push(...(await reportedByFineTuning(loss)));
    for (const name of [...local, ...observing, ...itself, ...tinker, ...tuned]) found.add(name);
  }, 300_000);

  it("are in the page if a run reports them", () => {
    expect([...found].filter((name) => documentedName(name) === undefined)).toEqual([]);
    // Placeholders for custom names hide no metric of this package.
    const custom = new Set(["episode/{name}", "engine/{name}", "train/{name}"]);
    const open = [...found].filter((name) => custom.has(documentedName(name) ?? ""));
    expect(open.sort()).toEqual(["engine/heat", "episode/coins", "train/weight"]);
    const ofRollouts = [...found].flatMap((name) => /(?<=^val\/)episode\/.*/u.exec(name) ?? []);
    expect(ofRollouts.filter((name) => !found.has(name))).toEqual([]);
  });

  it("are reported if they are in the page", () => {
    const seen = new Set([...found].map(documentedName));
    const missing = names.filter((name) => !seen.has(name));
    expect(missing.filter((name) => inSource[name] === undefined)).toEqual([]);
  });

  it("say fraction, and no other word for it", () => {
    const other = /share|ratio(?!_(?:mean|max|min|fraction)|$)|percent|rate/u;
    expect(names.filter((name) => other.test(name))).toEqual([]);
  });
});

it.each(Object.entries(inSource))("%s is in the source of its backend", (name, [file, text]) => {
  expect(names).toContain(name);
  expect(readFileSync(join(root, file), "utf8")).toContain(text);
});

it("has every metric that the documents name", () => {
  const prefixes = new Set(names.map((name) => name.split("/")[0]));
  const isMetric = (span: string): boolean =>
    prefixes.has(span.split("/")[0]) && /^\w+(?:\/[\w{}@]+)+$/u.test(span);
  const open = new Set<string | undefined>(["train/{name}", "engine/{name}", undefined]);
  const unknown = pages.flatMap((page) =>
    codeSpans(readPage(page))
      .filter((span) => isMetric(span) && !names.includes(span) && open.has(documentedName(span)))
      .map((span) => `${page}: ${span}`),
  );
  expect(unknown).toEqual([]);
});

it("names no metric twice", () => {
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});

it("has the metrics that code reads by name", () => {
  // Of placeholders, those for custom names would hide a wrong one.
  const custom = new Set<string | undefined>(["episode/{name}", "engine/{name}", "train/{name}"]);
  const isKnown = (name: string): boolean =>
    documentedName(name) !== undefined && !custom.has(documentedName(name));
  expect(readMetrics.filter((name) => !isKnown(name))).toEqual([]);
});
