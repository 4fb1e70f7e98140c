/**
 * Eight demonstrations, then reinforcement learning from there: the agent of `examples/shop/`, several
 * turns with two tools, on the built-in model. Arguments are options of the second part, such as
 * trainer.total_batches=5.
 */
import { AgentTrainer, fineTune, loadConfig } from "agent-trainer";
import { agent } from "../shop/agent.ts";
import { evaluator } from "../shop/evaluator.ts";
import { trainTasks, valTasks } from "../shop/tasks.ts";
import { demonstrations } from "./demonstrations.ts";

const warm = await fineTune({
  config: {
    model: { name: "builtin:shop-tiny" },
    data: { trainBatchSize: 8 },
    training: { learningRate: 5e-4 },
    trainer: { totalBatches: 4 },
  },
  train: demonstrations,
  onEvent: ({ type, step, ...event }) => {
    if (type === "step-end" && "metrics" in event)
      console.log(`demonstrations ${step}  loss ${event.metrics["train/loss"]?.toFixed(3)}`);
  },
});

const { config } = loadConfig({
  overrides: [
    `model.name=${JSON.stringify(warm.runDir)}`,
    "data.train_batch_size=8",
    "rollout.n=8",
    "rollout.train.max_tokens=64",
    "rollout.val.max_tokens=64",
    "training.learning_rate=5e-4",
    "trainer.total_batches=6",
    "trainer.test_freq=2",
    ...process.argv.slice(2),
  ],
});
const trainer = new AgentTrainer({
  agentFlow: agent,
  evaluator,
  config,
  trainDataset: trainTasks,
  valDataset: valTasks.slice(0, 50),
});
for await (const event of trainer.events()) {
  if (event.type === "step-end")
    console.log(`rollouts ${event.step}  reward ${event.metrics["reward/mean"]?.toFixed(3)}`);
  if (event.type === "validation-end")
    console.log(`validation: right ${event.metrics["val/pass@1"]?.toFixed(2)}`);
}
