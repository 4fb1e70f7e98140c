/** `rows`: from a million trajectories to rows with advantages, in time and memory. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { atMost, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import type { RowsInput, RowsOutput } from "./rows-case.ts";

const caseFile = new URL("rows-case.ts", import.meta.url);

export const rows: Benchmark = {
  name: "rows",
  summary: "grouping, advantages and rows of a million trajectories",
  async run({ quick, repetitions }, log) {
    const trajectories = quick ? 20_000 : 1_000_000;
    const input: RowsInput = { trajectories, groupSize: 8, promptTokens: 16, responseTokens: 16 };
    const runs: RowsOutput[] = [];
    for (let i = 0; i < repetitions; i++) {
      log(`${trajectories} trajectories, ${i + 1} of ${repetitions} ...`);
      runs.push(await runChild<RowsOutput>(caseFile, input));
    }
    const middle = (read: (run: RowsOutput) => number): number => median(runs.map(read));
    const label = `${trajectories} trajectories of 16 + 16 tokens, groups of 8`;
    const goal = (bound: number) => (quick ? undefined : atMost(bound));
    return [
      result(
        label,
        "s",
        middle(({ seconds }) => seconds),
        goal(5),
      ),
      result(
        `${label}: processor time`,
        "s",
        middle(({ cpuSeconds }) => cpuSeconds),
      ),
      result(
        `${label}: memory beyond the trajectories`,
        "MiB",
        middle(({ peakMiB, inputMiB }) => peakMiB - inputMiB),
        goal(2048),
      ),
      result(
        `${label}: peak memory, trajectories included`,
        "MiB",
        middle((run) => run.peakMiB),
      ),
      result(
        `${label}: rows`,
        "",
        middle((run) => run.rows),
      ),
    ];
  },
};
