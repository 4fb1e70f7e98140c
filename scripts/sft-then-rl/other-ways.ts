/**
 * The other ways to learn from examples, on the shop example: fine-tuning on the correct ones of recorded
 * episodes, DPO on the best and worst of each task, KTO on all of them, and a teacher. Writes OUT.json: pass@1 on the
 * same 100 validation tasks, with its 95 % interval.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/sft-then-rl/other-ways.ts OUT
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { AgentTrainer, evaluate, fineTune, type TrainOptions } from "agent-trainer";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { makeTasks, trainTasks, valTasks } from "../../examples/shop/tasks.ts";
import { demonstrate } from "../../examples/sft-then-rl/demonstrations.ts";

const [out] = process.argv.slice(2);
if (out === undefined) throw new Error("Usage: other-ways.ts OUT");
const builtIn = "builtin:shop-tiny";
const seed = 0;
const outputDir = mkdtempSync(join(tmpdir(), "other-ways-"));
process.on("exit", () => rmSync(outputDir, { recursive: true, force: true }));
const rollout = { n: 8, train: { maxTokens: 64 }, val: { maxTokens: 64 } };
const training = { learningRate: 5e-4 };

/** GRPO of `config` on the shop's tasks; resolves with its run folder. */
async function reinforce(config: TrainOptions, steps: number): Promise<string> {
  const trainer = new AgentTrainer({
    agentFlow: agent,
    evaluator,
    config: {
      rollout,
      training,
      ...config,
      trainer: { outputDir, totalBatches: steps, testFreq: 0, seed },
    },
    trainDataset: trainTasks,
  });
  return (await trainer.train()).runDir;
}

interface Learning {
  readonly fineTuning?: TrainOptions["fineTuning"];
  readonly train?: readonly object[];
  readonly steps?: number;
}

async function learn({ fineTuning = {}, train, steps = 8 }: Learning): Promise<string> {
  const { runDir } = await fineTune({
    config: {
      model: { name: builtIn },
      fineTuning,
      data: { trainBatchSize: 16 },
      training,
      trainer: { outputDir, totalBatches: steps, seed },
    },
    ...(train === undefined ? {} : { train }),
  });
  return runDir;
}

const ways: Record<string, () => Promise<string>> = {
  "the built-in model": () => Promise.resolve(builtIn),
  "sft --from-run: 8 steps on the correct ones of 128 recorded episodes": () =>
    learn({ fineTuning: { fromRun: recorded } }),
  "dpo --from-run: 8 steps on the best and worst of 16 tasks, the same episodes": () =>
    learn({ fineTuning: { fromRun: recorded, loss: "dpo" } }),
  "kto --from-run: 8 steps on the correct and incorrect ones, the same episodes": () =>
    learn({ fineTuning: { fromRun: recorded, loss: "kto" } }),
  "the teacher: 28 steps on 56 conversations": () => Promise.resolve(teacher),
  "distillation.teacher: 4 steps of 32 rollouts, from that teacher": () =>
    reinforce(
      {
        model: { name: builtIn },
        data: { trainBatchSize: 32 },
        // A teacher needs no group to compare with.
        rollout: { ...rollout, n: 1 },
        distillation: { teacher },
      },
      4,
    ),
};

// The episodes of a first step are those of the model before any update.
const recorded = await reinforce({ model: { name: builtIn }, data: { trainBatchSize: 16 } }, 1);
const conversations = demonstrate(makeTasks("demonstrations", 56));
const teacher = await learn({ train: conversations, steps: 28 });
const results: Record<string, unknown> = {};
for (const [name, way] of Object.entries(ways)) {
  const { summary } = await evaluate({
    agentFlow: agent,
    evaluator,
    dataset: valTasks.slice(0, 100),
    model: await way(),
    config: { rollout, trainer: { seed } },
  });
  results[name] = summary.passAt["1"];
  console.error(name, JSON.stringify(results[name]));
}
const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism() };
writeFileSync(
  `${out}.json`,
  `${JSON.stringify({ machine, date: new Date().toISOString(), seed, results }, null, 2)}\n`,
);
