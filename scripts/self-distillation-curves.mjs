/**
 * Runs examples/real-model/train.ts with GRPO and with the model as its own teacher, and writes
 * docs/self-distillation.json: rewards by step and in validations, sampled tokens, and the peak of the memory.
 *
 *   npx tsx scripts/self-distillation-curves.mjs          seeds 0 to 4; what is in the file already is not run again
 *   npx tsx scripts/self-distillation-curves.mjs 5 6      other seeds
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { meanInterval } from "../src/runs/sweeps/mean-interval.ts";
import { smollm2 } from "../test/integration/llama/smollm2.ts";
import { runCurves } from "./seeded-curves.mjs";

/** A run ends at the first validation with it. */
const goal = 0.9;

const teacher = [
  "distillation.teacher=self",
  "distillation.hint=./examples/real-model/orders.ts#hint",
  "distillation.teacher_temperature=0.25",
  "distillation.teacher_average=0.9",
  "distillation.divergence=forward",
  "distillation.clip=4",
  "rollout.n=2",
  "training.learning_rate=5e-4",
];
const optionsOf = {
  self: [...teacher, "trainer.total_batches=30"],
  grpo: ["trainer.total_batches=30"],
  // For the memory: as many rows, without and with a teacher.
  "grpo, 3 steps": [
    "rollout.n=2",
    "algorithm.filter_uniform_groups=false",
    "training.learning_rate=5e-4",
    "trainer.total_batches=3",
  ],
  "self, 3 steps": [...teacher, "trainer.total_batches=3"],
};

const model = smollm2();
const curves = await runCurves({
  file: "docs/self-distillation.json",
  example: "examples/real-model/train.ts",
  ways: Object.keys(optionsOf),
  seeds: [0, 1, 2, 3, 4],
  argumentsOf: (way, seed) => [
    model,
    "trainer.test_freq=2",
    ...optionsOf[way],
    `trainer.seed=${seed}`,
    `trainer.output_dir=${JSON.stringify(join(tmpdir(), `self-${seed}-${Date.now()}`))}`,
  ],
  // `step 3  reward 0.4  sampled tokens 900`
  pointOf: ([, , , reward, , , tokens]) => ({ tokens: Number(tokens), reward: Number(reward) }),
  // `validation: reward 0.4, right 0.2`
  validationOf: ([, , reward, , right]) => ({ reward: parseFloat(reward), right: Number(right) }),
  isDone: (_, { reward }) => reward >= goal,
});

const find = (way, seed) => curves.find((one) => one.way === way && one.seed === seed);
const seeds = [...new Set(curves.map(({ seed }) => seed))];
/** Sampled until the first validation with the goal; undefined where there is none. */
function tokensToGoal({ steps, validations }) {
  const first = validations.find(({ reward }) => reward >= goal);
  return first === undefined ? undefined : steps[first.step - 1].tokens;
}

/** The ratio of two ways seed by seed: its geometric mean and interval, and each. */
function ratios(one, other, of) {
  const found = seeds.flatMap((seed) => {
    const values = [find(one, seed), find(other, seed)].map((run) => run && of(run));
    return values.includes(undefined) ? [] : [values[0] / values[1]];
  });
  if (found.length === 0) return "not measured";
  const { mean, low, high } = meanInterval(found.map(Math.log));
  const [ratio, from, to] = [mean, low ?? NaN, high ?? NaN].map((x) => Math.exp(x).toFixed(3));
  return `${ratio} (${from} to ${to}) of ${found.map((x) => x.toFixed(2)).join(", ")}`;
}

for (const run of curves.filter(({ way }) => !way.endsWith("steps"))) {
  const rewards = run.validations.map(({ reward }) => reward);
  const reached = tokensToGoal(run) ?? `never, of ${run.steps.at(-1).tokens}`;
  console.log(
    `${run.way} ${run.seed}: tokens to ${goal} ${reached}; best ${Math.max(...rewards)}, last ${rewards.at(-1)}; peak ${run.peakMiB} MiB`,
  );
}
console.log(`tokens, self / grpo: ${ratios("self", "grpo", tokensToGoal)}`);
console.log(
  `memory, self / grpo: ${ratios("self, 3 steps", "grpo, 3 steps", ({ peakMiB }) => peakMiB)}`,
);
