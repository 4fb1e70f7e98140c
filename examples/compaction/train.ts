/**
 * Eight turns in a window of 256 tokens. The answer to the last one was said in one of the first, and no longer fits: it
 * is right only if the agent's notes have it. From demonstrations the model knows what notes look like and how they are
 * read, but not what is worth a note. Two runs begin there. In one, notes are trained with the reward of their rollout;
 * in the other, `rollout.side_calls=exclude` leaves them out, and nothing is learned. Arguments are options of both.
 */
import { AgentTrainer, fineTune, loadConfig } from "agent-trainer";
import { agentFlow, window } from "./agent.ts";
import { demonstrations } from "./demonstrations.ts";
import { makeTask } from "./orders.ts";

const responseTokens = 8;
const warm = await fineTune({
  config: {
    model: { name: "builtin:shop-tiny", loraRank: 0 },
    data: { trainBatchSize: 32 },
    training: { learningRate: 1e-3 },
    trainer: { totalBatches: 300 },
  },
  train: demonstrations(300 * 32),
  onEvent: ({ type, step, ...event }) => {
    if (type === "step-end" && "metrics" in event && step % 50 === 0)
      console.log(`demonstrations ${step}  loss ${event.metrics["train/loss"]?.toFixed(3)}`);
  },
});

const firstNumber = (text: string): number => Number(/\d+/.exec(text)?.[0]);

/** Rewards by step. */
async function reinforce(notes: "train" | "exclude"): Promise<number[]> {
  const { config } = loadConfig({
    overrides: [
      `model.name=${JSON.stringify(warm.runDir)}`,
      "model.lora_rank=0",
      `data.max_prompt_length=${window - responseTokens}`,
      "data.train_batch_size=16",
      "rollout.n=8",
      `rollout.train.max_tokens=${responseTokens}`,
      "training.learning_rate=1e-4",
      "trainer.total_batches=20",
      ...process.argv.slice(2),
      `rollout.side_calls=${notes}`,
    ],
  });
  const trainer = new AgentTrainer({
    config,
    agentFlow,
    evaluator: ({ metadata }, { output }) => firstNumber(String(output)) === metadata.count,
    trainDataset: Array.from({ length: 256 }, (_, i) => makeTask("train", 50_000 + i)),
  });
  const rewards: number[] = [];
  for await (const event of trainer.events()) {
    if (event.type !== "step-end") continue;
    const { "reward/agent/mean": reward = 0, "lineages/summary_fraction": share = 0 } =
      event.metrics;
    rewards.push(reward);
    console.log(
      `step ${event.step}  notes ${notes}  reward ${reward.toFixed(3)}  share of notes ${share.toFixed(3)}`,
    );
  }
  return rewards;
}

for (const notes of ["train", "exclude"] as const) {
  const last = (await reinforce(notes)).slice(-5);
  const mean = last.reduce((sum, reward) => sum + reward, 0) / last.length;
  console.log(`rollout.side_calls=${notes}: reward ${mean.toFixed(2)} in the last five steps`);
}
