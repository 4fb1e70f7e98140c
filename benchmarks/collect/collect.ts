/** `collect`: a million spans of production into a folder, and from there to rows for training. */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import type { CollectInput, CollectOutput } from "./collect-case.ts";
import { spansOfTrace, writeTraces } from "./write-traces.ts";

const caseFile = new URL("collect-case.ts", import.meta.url);

export const collect: Benchmark = {
  name: "collect",
  summary: "a million spans of production: import, and curation to rows",
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    const spans = quick ? 10_000 : 1_000_000;
    const file = join(folder.path, "traces.jsonl");
    log(`writing ${spans} spans ...`);
    writeTraces(file, spans / spansOfTrace);
    const runs: Record<CollectInput["work"], CollectOutput[]> = { import: [], curate: [] };
    for (let i = 0; i < repetitions; i++) {
      for (const work of ["import", "curate"] as const) {
        log(`${work}, ${i + 1} of ${repetitions} ...`);
        runs[work].push(await runChild<CollectOutput>(caseFile, { work, folder: folder.path }));
      }
      for (const made of ["production", "curated"])
        rmSync(join(folder.path, made), { recursive: true, force: true });
    }
    const size = result("size of the file", "MiB", statSync(file).size / 2 ** 20);
    const rows = (["import", "curate"] as const).flatMap((work) => {
      const middle = (read: (run: CollectOutput) => number): number => median(runs[work].map(read));
      const label = `${work} of ${spans} spans`;
      return [
        result(
          `${label}: speed`,
          "spans/s",
          middle((run) => run.spans / run.seconds),
        ),
        result(
          `${label}: peak memory`,
          "MiB",
          middle((run) => run.peakMiB),
        ),
        result(
          `${label}: of that, the program before it began`,
          "MiB",
          middle((run) => run.beforeMiB),
        ),
      ];
    });
    return [size, ...rows];
  },
};
