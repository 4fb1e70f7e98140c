/** Child: groups, advantages and rows of many made-up trajectories, once. */
import { computeAdvantages } from "../../src/algorithms/advantages.ts";
import { dropUniform, groupTrajectories } from "../../src/algorithms/grouping.ts";
import { buildRows } from "../../src/algorithms/rows/rows.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { groupBy } from "../../src/util/group-by.ts";
import { createRandom } from "../../src/util/random.ts";
import { makeStep } from "../../test/make-step.ts";
import { answer, peakMiB } from "../harness/child-side.ts";

export interface RowsInput {
  readonly trajectories: number;
  readonly groupSize: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
}

export interface RowsOutput {
  readonly seconds: number;
  /** Of the processors, those of the garbage collector's threads included. */
  readonly cpuSeconds: number;
  readonly rows: number;
  /** Resident before: the program and the trajectories. */
  readonly inputMiB: number;
  readonly peakMiB: number;
}

const sampling = { ...defaultSampling, seed: 0, stopTokenIds: [] };
const response = { role: "assistant", content: "" } as const;

const nothing = {};

/** Episodes of one call each, by task. */
function makeTasks(input: RowsInput): { readonly episodes: readonly Episode[] }[] {
  const { trajectories, groupSize, promptTokens, responseTokens } = input;
  const random = createRandom(1);
  let task = { id: "", instruction: "", metadata: nothing };
  const episodes = Array.from({ length: trajectories }, (_, i): Episode => {
    if (i % groupSize === 0) task = { ...task, id: `task-${i / groupSize}` };
    const step = makeStep({
      id: `trace-${i}`,
      response,
      promptIds: new Int32Array(promptTokens).fill(i % 997),
      responseIds: new Int32Array(responseTokens).fill(i % 991),
      logprobs: new Float32Array(responseTokens).fill(-0.5),
      sampling,
    });
    const reward = random() < 0.5 ? 1 : 0;
    const trajectory = {
      uid: `u${i}`,
      name: "agent",
      steps: [step],
      reward,
      signals: nothing,
      metadata: nothing,
    };
    return {
      id: `1/${task.id}/${i % groupSize}`,
      task,
      rolloutIndex: i % groupSize,
      trajectories: [trajectory],
      output: undefined,
      isCorrect: reward === 1,
      reward,
      terminationReason: "completed",
      metrics: nothing,
      metadata: nothing,
      attempts: 1,
    };
  });
  return [...groupBy(episodes, ({ task: { id } }) => id).values()].map((own) => ({
    episodes: own,
  }));
}

answer(async (input: RowsInput): Promise<RowsOutput> => {
  const tasks = makeTasks(input);
  const inputMiB = process.memoryUsage.rss() / 2 ** 20;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { groups } = dropUniform(groupTrajectories(tasks).groups);
  const { advantages } = computeAdvantages(groups, { estimator: "grpo", normByStd: true });
  const { rows } = buildRows(groups, advantages);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const cpuSeconds = (user + system) / 1e6;
  return { seconds, cpuSeconds, rows: rows.length, inputMiB, peakMiB: peakMiB() };
});
