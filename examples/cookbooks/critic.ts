/**
 * A critic in place of groups: the shop agent with one rollout of each task. The first argument is another way to
 * use as many rollouts: `gae` (the critic, 8 rollouts of each task), `grpo` (8, compared with each other) or `batch`
 * (1, compared with all of the step, REINFORCE++). Further arguments are options, such as trainer.seed=1.
 */
import { AgentTrainer, loadConfig } from "agent-trainer";
import { agent } from "../shop/agent.ts";
import { evaluator } from "../shop/evaluator.ts";
import { trainTasks } from "../shop/tasks.ts";

const critic = "algorithm.estimator={type: gae, lambda: 0.95}";
const single = ["data.train_batch_size=128", "rollout.n=1"];
const groups = ["data.train_batch_size=16", "rollout.n=8"];
const ways: Readonly<Record<string, readonly string[]>> = {
  critic: [critic, ...single],
  gae: [critic, ...groups],
  grpo: ["algorithm.estimator=grpo", ...groups],
  batch: ["algorithm.estimator=reinforce_plus_plus", ...single],
};
const [first = "critic", ...rest] = process.argv.slice(2);
const way = ways[first];
const { config } = loadConfig({
  overrides: [
    "model.name=builtin:shop-tiny",
    "model.lora_rank=0",
    "rollout.train.max_tokens=64",
    "training.learning_rate=7e-4",
    "training.lr_schedule=linear",
    "trainer.total_batches=20",
    ...(way ?? [...ways["critic"]!, first]),
    ...rest,
  ],
});

const trainer = new AgentTrainer({ agentFlow: agent, evaluator, config, trainDataset: trainTasks });
let tokens = 0;
for await (const event of trainer.events()) {
  if (event.type !== "step-end") continue;
  const { metrics, step } = event;
  const rollouts = metrics["rollout/episodes"] ?? 0;
  tokens += Math.round((metrics["episode/tokens/response"] ?? 0) * rollouts);
  const explained = metrics["critic/explained_variance"]?.toFixed(3) ?? "-";
  console.log(
    `step ${step}  tokens ${tokens}  reward ${metrics["reward/mean"]?.toFixed(3)}  explained ${explained}`,
  );
}
