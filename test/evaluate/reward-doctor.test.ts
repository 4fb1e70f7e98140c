import { describe, expect, it } from "vitest";
import type { Episode } from "../../src/core/trajectory.ts";
import {
  doctorReward,
  type RewardDoctorOptions,
} from "../../src/launch/evaluate/reward-doctor/doctor-reward.ts";
import { planted, right, sound, sums } from "./reward-faults.ts";

const faultsOf = async (options: RewardDoctorOptions): Promise<string[]> =>
  (await doctorReward({ timeoutMs: 150, maxTasks: 3, ...options })).findings.map(
    ({ fault }) => fault,
  );

it("finds every planted fault", async () => {
  expect(planted).toHaveLength(16);
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

it("gives its outputs the form of those of the agent", async () => {
  const output = { answer: "5", steps: 2 };
  const evaluator = (task: (typeof sums)[number], { output: given }: Episode): boolean =>
    (given as { answer: string }).answer.trim() === task.metadata["answer"];
  const report = await doctorReward({ evaluator, tasks: sums, output });
  expect(report).toMatchObject({ findings: [], reference: "answer", tasks: 8 });
  const unformed = await doctorReward({ evaluator, tasks: sums });
  expect(unformed.findings.map(({ fault }) => fault)).toEqual(["fails"]);
});

it("says what it could not check", async () => {
  const tasks = sums.map((task) => ({ ...task, metadata: {} }));
  const counted = await doctorReward({ evaluator: () => 1, tasks, output: 3 });
  expect(counted).toMatchObject({ calls: 0, findings: [] });
  expect(counted.notes[0]).toContain("holds no text");
  const unknown = await doctorReward({ evaluator: right, tasks });
  expect(unknown.reference).toBeNull();
  expect(unknown.notes[0]).toContain("No reference answer");
});

it("shows the case, and needs tasks", async () => {
  const { findings } = await doctorReward({ evaluator: () => 1, tasks: sums });
  expect(findings.map(({ fault }) => fault)).toEqual(["rejects_reference"]);
  expect(findings[0]!.case).toMatchObject({ reward: 1, taskId: "sum-0" });
  await expect(doctorReward({ evaluator: right, tasks: [] })).rejects.toThrow("no tasks");
});
