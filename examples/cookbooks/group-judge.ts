/**
 * Training without labels: a judge compares the rollouts of a task, and the answers are unknown. With
 * `labels` as the first argument, the same with an evaluator that knows them. Both are validated with labels,
 * which the training never sees. Further arguments are options, such as trainer.total_batches=5.
 *
 * The judge is a function here, so that the example runs anywhere: it reads the transcripts as a person
 * would who knows what the shop's tools are for. In its place, `relativeJudge` asks a language model.
 */
import { AgentTrainer, type Episode, loadConfig, type Task } from "agent-trainer";
import { agent } from "../shop/agent.ts";
import { evaluator } from "../shop/evaluator.ts";
import { makeTasks } from "../shop/tasks.ts";

const [first, ...rest] = process.argv.slice(2);
const hasLabels = first === "labels";
const { config } = loadConfig({
  overrides: [
    "model.name=builtin:shop-tiny",
    "data.train_batch_size=8",
    "rollout.n=8",
    "rollout.train.max_tokens=64",
    "rollout.val.max_tokens=64",
    "training.learning_rate=7e-4",
    "trainer.total_batches=16",
    "trainer.test_freq=4",
    ...(hasLabels || first === undefined ? rest : [first, ...rest]),
  ],
});

const textOf = (content: unknown): string => (typeof content === "string" ? content : "");

/** What a transcript shows: was the price looked up, was it multiplied, is the answer what came out? */
function read(episode: Episode, instruction: string): number {
  const { messages = [] } = episode.trajectories[0]?.steps.at(-1)?.trace ?? {};
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
  const results = messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => textOf(content));
  const looked = calls.findIndex(({ name }) => name === "get_price");
  const price = results[looked] ?? "none";
  const product = calls.findIndex(({ name, arguments: text }) => {
    const numbers: readonly string[] = text.match(/\d+/g) ?? [];
    const count = /\d+/.exec(instruction)?.[0] ?? "";
    return name === "multiply" && numbers.includes(price) && numbers.includes(count);
  });
  const hasUsed = product !== -1 && String(episode.output).trim() === results[product];
  return (looked === -1 ? 0 : 1) + (product === -1 ? 0 : 1) + (hasUsed ? 2 : 0);
}

/** Better or worse than the others: the share of them that an attempt beats. */
function rank(task: Pick<Task<unknown>, "instruction">, episodes: readonly Episode[]) {
  const marks = episodes.map((episode) => read(episode, task.instruction));
  return marks.map((mark) => ({
    reward: marks.filter((other) => other < mark).length / Math.max(1, marks.length - 1),
    isCorrect: null,
  }));
}

/** For the judge's training the answers are removed. */
const train = makeTasks("train", 512).map((task) =>
  hasLabels ? task : { ...task, metadata: { ...task.metadata, answer: Number.NaN } },
);

const trainer = new AgentTrainer({
  agentFlow: agent,
  evaluator,
  ...(hasLabels ? {} : { groupEvaluator: rank }),
  config,
  trainDataset: train,
  valDataset: makeTasks("val", 50),
});
for await (const event of trainer.events()) {
  if (event.type === "validation-end")
    console.log(`step ${event.step}  right ${event.metrics["val/pass@1"]?.toFixed(2)}`);
}
