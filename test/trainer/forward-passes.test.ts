/** Everything in a step that needs log-probabilities of the same weights shares one forward pass. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinAgent,
  coinTasks,
  coinTrainer,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

const everything = {
  "algorithm.use_kl_in_reward": true,
  "algorithm.kl_penalty": "k2",
  "algorithm.kl_ctrl.kl_coef": 0.1,
  "algorithm.rollout_correction.type": "token",
  // Another loss than the backend's for the only role: the trainer computes it.
  "algorithm.loss_by_role": { agent: "cispo" },
};

async function run(set: Readonly<Record<string, unknown>>) {
  const passes: string[] = [];
  const outputDir = newFolder();
  const { trainer } = coinTrainer({
    outputDir,
    backend: coinBackend({
      capabilities: { forward: true, reference: true },
      onForward: (rows, which) => passes.push(`${which} ${rows.length}`),
      onUpdate: ({ rows }) => passes.push(`update ${rows.length}`),
    }),
    set: { ...everything, "trainer.total_batches": 2, ...set },
  });
  await trainer.train();
  return { passes, metrics: readLines(outputDir, "coin", "metrics.jsonl").map(withoutClock) };
}

describe("forward passes of a step", () => {
  it("are one of the current weights and one of the reference, for all three uses", async () => {
    const { passes, metrics } = await run({});
    // In step 2 one of two groups has equal rewards, so its rows are scored, but not trained on.
    const expected = [
      "current 8",
      "reference 8",
      "update 8",
      "current 8",
      "reference 8",
      "update 4",
    ];
    expect(passes).toEqual(expected);
    // Digit by digit what a pass for each of the three gave.
    expect(metrics[1]).toMatchObject({
      "shaping/reward_kl_penalty": 0.004778798900982688,
      "off_policy/ess_fraction": 0.8952655631679237,
      "rollout_correction/rollout_is_mean": 1.391409716704399,
      "train/loss": -0.537369711924514,
      "train/weight": 1.1450151428580284,
    });
  });

  it("are repeated once weights have changed", async () => {
    const { passes } = await run({ "training.num_minibatches": 2, "trainer.total_batches": 1 });
    expect(passes).toEqual(["current 8", "reference 8", "update 4", "current 4", "update 4"]);
  });

  it("are repeated for rows of which rejection dropped tokens", async () => {
    const { passes } = await run({
      "algorithm.rollout_correction.reject": ["token_k1=1.2"],
      "trainer.total_batches": 1,
    });
    expect(passes).toEqual(["current 8", "reference 8", "current 4", "update 4"]);
  });
});

it("what record.token_rows looks at leaves the passes of updates as they are", async () => {
  const own = {
    "algorithm.use_kl_in_reward": false,
    "algorithm.rollout_correction.type": "none",
    "trainer.total_batches": 2,
  };
  const bare = await run(own);
  const recorded = await run({ ...own, "record.token_rows": 3 });
  const looking = "current 3";
  expect(recorded.passes.filter((pass) => pass === looking)).toHaveLength(2);
  expect(recorded.passes.filter((pass) => pass !== looking)).toEqual(bare.passes);
  // What is known is not asked again.
  const shared = await run({ "record.token_rows": 3 });
  expect(shared.passes).not.toContain(looking);
});

it(
  "record.token_rows does not change weights in their last bits",
  { timeout: 120_000 },
  async () => {
    const weightsOf = async (tokenRows: number): Promise<string> => {
      let scored = 0;
      const { runDir } = await new AgentTrainer({
        agentFlow: coinAgent,
        evaluator: () => (scored++ % 4) / 3,
        trainDataset: coinTasks,
        config: {
          "model.name": "builtin:shop-tiny",
          // Prompts and responses of several lengths, and a loss that the trainer computes.
          "rollout.train": { max_tokens: 24 },
          "algorithm.loss_by_role": { agent: "cispo" },
          "data.train_batch_size": 2,
          "rollout.n": 4,
          "record.token_rows": tokenRows,
          "training.learning_rate": 1e-3,
          "workflow.n_parallel_tasks": 1,
          "trainer.seed": 7,
          "trainer.total_batches": 2,
          "trainer.save_freq": 2,
          "trainer.output_dir": newFolder(),
        },
      }).train();
      const folder = join(runDir, "checkpoints", "000002", "weights");
      const hash = createHash("sha256");
      for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted())
        if (statSync(join(folder, file)).isFile())
          hash.update(file).update(readFileSync(join(folder, file)));
      return hash.digest("hex");
    };
    expect(await weightsOf(3)).toBe(await weightsOf(0));
  },
);
