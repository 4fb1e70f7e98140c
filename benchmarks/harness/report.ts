/** The outcome of one benchmark on one machine: what `--json` prints and `--save` keeps. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, release, totalmem, type } from "node:os";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./benchmark.ts";
import { type CpuFeature, cpuFeatures } from "./cpu-features.ts";
import { forcedSet, kernels } from "./kernel-goals.ts";
import type { Result } from "./result.ts";

export interface Report {
  readonly name: string;
  /** Of the embedded engine. */
  readonly instructionSet: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    /** Instructions for matrix products. */
    readonly features: readonly CpuFeature[];
    readonly memoryGiB: number;
    readonly os: string;
  };
  readonly versions: {
    readonly node: string;
    readonly agentTrainer: string;
    /** Of peers, by their names. */
    readonly [peer: string]: string;
  };
  /** ISO 8601, of the end. */
  readonly date: string;
  /** Only where sizes were smaller than they should be. */
  readonly quick?: true;
  readonly results: readonly Result[];
}

const packageFile = new URL("../../package.json", import.meta.url);
const resultsFolder = new URL("../results/", import.meta.url);

export async function makeReport(
  name: string,
  { quick }: Pick<BenchmarkOptions, "quick">,
  results: readonly Result[],
  peerVersions: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const { version } = JSON.parse(await readFile(packageFile, "utf8")) as { version: string };
  return {
    name: forcedSet === undefined ? name : `${name}-${forcedSet}`,
    instructionSet: kernels.instructionSet.name,
    machine: {
      cpu: cpus()[0]?.model.trim() ?? "unknown",
      cores: availableParallelism(),
      features: cpuFeatures(),
      memoryGiB: Number((totalmem() / 2 ** 30).toFixed(1)),
      os: `${type()} ${release()} ${arch()}`,
    },
    versions: {
      node: process.versions.node,
      agentTrainer: version,
      ...peerVersions,
    },
    date: new Date().toISOString(),
    ...(quick ? { quick } : {}),
    results,
  };
}

/** Writes `benchmarks/results/NAME.json`; resolves with its path. */
export async function saveReport(report: Report): Promise<string> {
  await mkdir(resultsFolder, { recursive: true });
  const file = fileURLToPath(new URL(`${report.name}.json`, resultsFolder));
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return relative(process.cwd(), file);
}
