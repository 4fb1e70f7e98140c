/** Evaluates the agent on the tasks of val.jsonl, with the trained model if there is one. */
import { existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Episode, AgentTrainer, loadConfig } from "agent-trainer";
import { expect, test } from "vitest";
import { agent } from "./agent.ts";
import { evaluator } from "./evaluator.ts";

const runs = join(import.meta.dirname, "runs");

/** When a run saved its newest checkpoint; 0 where it has none, as one that failed to start. */
function savedAt(run: string): number {
  const folder = join(run, "checkpoints");
  const saved = (existsSync(folder) ? readdirSync(folder) : []).filter((name) =>
    /^\d+$/.test(name),
  );
  return Math.max(0, ...saved.map((name) => statSync(join(folder, name)).mtimeMs));
}

const [newestRun] = (existsSync(runs) ? readdirSync(runs) : [])
  .map((name) => join(runs, name))
  .filter((run) => savedAt(run) > 0)
  .sort((a, b) => savedAt(b) - savedAt(a));

/** The least mean reward of a trained model; the model that training starts from gets about 0.05. */
const minReward = Number(process.env["MIN_REWARD"] ?? 0.5);

interface Evaluation {
  reward: number;
  episodes: readonly Episode[];
}

async function evaluate(model: string): Promise<Evaluation> {
  const { config } = loadConfig({
    file: join(import.meta.dirname, "train.yaml"),
    overrides: [
      `model.name=${model}`,
      "trainer.val_only=true",
      `trainer.output_dir=${mkdtempSync(join(tmpdir(), "evaluation-"))}`,
      // Both are imported above.
      ...["agent=null", "evaluator=null"],
    ],
  });
  for await (const event of new AgentTrainer({ config, agentFlow: agent, evaluator }).events()) {
    if (event.type !== "validation-end") continue;
    return { reward: event.metrics["val/reward/mean"] ?? 0, episodes: event.episodes };
  }
  throw new Error("There was no validation.");
}

test("the evaluator accepts the price alone", () => {
  const task = { id: "1", instruction: "", metadata: { answer: 180 } } as never;
  const score = (output: string): boolean => evaluator(task, { output } as Episode);
  expect(["180", "90", "180 dollars", ""].map(score)).toEqual([true, false, false, false]);
});

test("the agent handles whatever the untrained model does", { timeout: 300_000 }, async () => {
  const { episodes } = await evaluate("builtin:shop-tiny");
  expect(episodes.length).toBeGreaterThan(0);
  expect(episodes.filter(({ terminationReason }) => terminationReason === "error")).toEqual([]);
});

test.skipIf(newestRun === undefined)(
  `the trained model earns a mean reward of at least ${minReward}`,
  { timeout: 300_000 },
  async () => {
    const { reward } = await evaluate(newestRun!);
    console.log(`mean reward ${reward.toFixed(3)}: ${newestRun}`);
    expect(reward).toBeGreaterThanOrEqual(minReward);
  },
);
