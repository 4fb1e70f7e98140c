/** Everything in a step that needs log-probabilities of the same weights shares one forward pass. */
import { describe, expect, it } from "vitest";
import { coinBackend } from "./coin-backend.ts";
import { coinTrainer, newFolder, readLines, withoutClock } from "./coin-run.ts";

const everything = {
  "algorithm.use_kl_in_reward": true,
  "algorithm.kl_penalty": "k2",
  "algorithm.kl_ctrl.kl_coef": 0.1,
  "algorithm.rollout_correction.tis_mode": "token",
  // Another loss than the backend's for the only role: the trainer computes it.
  "algorithm.loss_fn_map": { agent: "cispo" },
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
      "algorithm.rollout_correction.rollout_rs": "token_k1",
      "algorithm.rollout_correction.rollout_rs_threshold": "1.2",
      "trainer.total_batches": 1,
    });
    expect(passes).toEqual(["current 8", "reference 8", "current 4", "update 4"]);
  });
});
