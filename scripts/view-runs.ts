/**
 * Runs for the pictures of the viewer: the shop agent with parts of its reward, from two seeds and with another
 * learning rate, then one whose tool is broken and one that fails.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/view-runs.ts OUT
 */
import { agent } from "../examples/shop/agent.ts";
import { makeTasks, type ShopTask } from "../examples/shop/tasks.ts";
import { AgentTrainer, type AgentConfig, type Episode, type Task } from "../src/index.ts";

const [outputDir] = process.argv.slice(2);
if (outputDir === undefined) {
  console.error("Usage: view-runs.ts OUT");
  process.exit(2);
}
const trainDataset = makeTasks("train", 64);
const valDataset = makeTasks("val", 40, trainDataset);

const numbersIn = (text: unknown): readonly number[] =>
  (String(text).match(/\d+/gu) ?? []).map(Number);

/** Most of the reward is the right answer; looking the price up and multiplying give the rest. */
function evaluator({ metadata }: Task<ShopTask>, { output, trajectories }: Episode) {
  const calls = trajectories
    .flatMap(({ steps }) => steps)
    .flatMap(({ trace }) => trace.response.toolCalls ?? []);
  const lookedUp = calls.some(
    ({ name, arguments: given }) => name === "get_price" && given.includes(`"${metadata.item}"`),
  );
  const multiplied = calls.some(
    ({ name, arguments: given }) =>
      name === "multiply" &&
      [metadata.count, metadata.price].every((one) => numbersIn(given).includes(one)),
  );
  const isCorrect = numbersIn(output).at(-1) === metadata.answer;
  return {
    reward: 0.6 * Number(isCorrect) + 0.2 * Number(lookedUp) + 0.2 * Number(multiplied),
    isCorrect,
    signals: [
      { name: "right_answer", value: Number(isCorrect) },
      { name: "looked_up", value: Number(lookedUp) },
      { name: "multiplied", value: Number(multiplied) },
    ],
  };
}

type Flow = (task: Task<ShopTask>, config: AgentConfig) => Promise<string>;

const brokenTool: Flow = (task, config) =>
  agent({ ...task, metadata: { ...task.metadata, item: "not for sale" } }, config);
const failing: Flow = async (task, config) => {
  await agent(task, config);
  throw new Error("connect ECONNREFUSED 127.0.0.1:5432: the price database does not answer");
};

async function train(
  name: string,
  overrides: Readonly<Record<string, unknown>>,
  agentFlow: Flow = agent,
): Promise<void> {
  const started = performance.now();
  const result = await new AgentTrainer({
    agentFlow,
    evaluator,
    trainDataset,
    valDataset,
    config: {
      "model.name": "builtin:shop-tiny",
      "model.lora_rank": 0,
      backend: "local",
      "data.train_batch_size": 16,
      "rollout.n": 8,
      "rollout.train.max_tokens": 64,
      "rollout.val.max_tokens": 64,
      "rollout.val.temperature": 0.6,
      "algorithm.estimator": "grpo",
      "training.learning_rate": 2e-4,
      "training.lr_schedule": "linear",
      "trainer.total_batches": 32,
      "trainer.test_freq": 2,
      "trainer.output_dir": outputDir,
      "trainer.experiment_name": name,
      "record.token_rows": 32,
      "record.http_body_kb": 8,
      ...overrides,
    },
  })
    .train()
    .catch((error: unknown) => ({ status: (error as Error).message }));
  console.log(`${name}: ${result.status}, ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

await train("shop", { "trainer.seed": 1 });
await train("shop-seed-2", { "trainer.seed": 2 });
await train("shop-fast", { "trainer.seed": 1, "training.learning_rate": 1e-3 });
await train("shop-broken-tool", { "trainer.seed": 1, "trainer.total_batches": 12 }, brokenTool);
await train("shop-failed", { "trainer.seed": 1 }, failing);
