import { describe, expect, it } from "vitest";
import type { Episode } from "../../src/core/trajectory.ts";
import {
  doctorReward,
  type RewardDoctorOptions,
} from "../../src/launch/evaluate/reward-doctor/doctor-reward.ts";
import { probeEpisode } from "../../src/launch/evaluate/reward-doctor/probe-episode.ts";
import { incomplete, planted, right, sound, sums } from "./reward-faults.ts";

const faultsOf = async (options: RewardDoctorOptions): Promise<string[]> =>
  (await doctorReward({ timeoutMs: 150, maxTasks: 3, ...options })).findings.map(
    ({ fault }) => fault,
  );

it("finds at least 18 of 20 planted faults, and shows the case", async () => {
  expect(planted).toHaveLength(20);
  const missed: string[] = [];
  for (const { fault, about, evaluator, tasks = sums } of planted) {
    const found = await faultsOf({ evaluator, tasks });
    if (!found.includes(fault)) missed.push(`${fault} (${about}): found ${found.join(", ")}`);
  }
  expect(missed).toEqual([]);
});

describe("a sound evaluator", () => {
  it.each(sound)("$name is not blamed", async ({ evaluator, tasks }) => {
    expect(await faultsOf({ evaluator, tasks })).toEqual([]);
  });
});

const rollout = (reward: number | null, output: unknown): Episode => ({
  ...probeEpisode(sums[0]!, "", undefined),
  output,
  reward,
});

it("looks at real rollouts: their variance, and the form of their output", async () => {
  const episodes = Array.from({ length: 12 }, () => rollout(0, { answer: "5", steps: 2 }));
  const evaluator = (task: (typeof sums)[number], { output }: Episode): boolean =>
    (output as { answer: string }).answer.trim() === task.metadata["answer"];
  const report = await doctorReward({ evaluator, tasks: sums, episodes });
  expect(report.findings.map(({ fault }) => fault)).toEqual(["no_variance"]);
  expect(report).toMatchObject({ rollouts: 12, reference: "answer", tasks: 8 });
});

it("says what it could not check", async () => {
  const episodes = [rollout(1, 3)];
  const tasks = sums.map((task) => ({ ...task, metadata: {} }));
  const counted = await doctorReward({ evaluator: () => 1, tasks, episodes });
  expect(counted).toMatchObject({ calls: 0, findings: [] });
  expect(counted.notes[0]).toContain("holds no text");
  const unknown = await doctorReward({ evaluator: right, tasks });
  expect(unknown.reference).toBeNull();
  expect(unknown.notes[0]).toContain("No reference answer");
});

it("shows the case, and finds rows without a reference answer", async () => {
  const { findings } = await doctorReward({ evaluator: () => 1, tasks: incomplete });
  expect(findings.map(({ fault }) => fault)).toEqual(["constant", "few_references"]);
  expect(findings[0]!.case).toMatchObject({ reward: 1, taskId: "sum-0" });
  await expect(doctorReward({ evaluator: right, tasks: [] })).rejects.toThrow("no tasks");
});
