/** `agent-trainer doctor`: checks the machine, and explains each problem in one sentence. */
import { constants, existsSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { availableParallelism, cpus, freemem, totalmem } from "node:os";
import { listCached } from "../../models/hub/hub-cache.ts";
import { readHubSettings } from "../../models/hub/hub-settings.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { type EngineReport, formatEngine, inspectEngine } from "../report/engine-report.ts";
import { inspectVerl, type VerlReport } from "../load/verl-environment.ts";
import { verlEnvironment } from "../../launch/verl-options.ts";
import { pythonIn } from "../../util/process/python-in.ts";

interface Report {
  readonly node: { readonly version: string; readonly platform: string };
  readonly processor: { readonly model: string; readonly cores: number };
  readonly memory: { readonly totalMiB: number; readonly freeMiB: number };
  /** Null where the kernels cannot be used. */
  readonly engine: EngineReport | null;
  readonly hub: {
    readonly endpoint: string;
    readonly cacheFolder: string;
    readonly models: readonly string[];
    readonly hasToken: boolean;
    readonly offline: boolean;
  };
  /** Null if `agent-trainer verl setup` has not created an environment. */
  readonly verl: VerlReport | null;
  readonly problems: readonly string[];
}

/** Below this, training does not fit in memory even for a small model. */
const littleMemoryMiB = 2048;

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);

async function inspectHub(problems: string[]): Promise<Report["hub"]> {
  const { endpoint, cacheFolder, token, offline } = readHubSettings();
  const exists = await stat(cacheFolder).then(
    () => true,
    () => false,
  );
  if (exists) {
    await access(cacheFolder, constants.W_OK).catch(() =>
      problems.push(
        `${cacheFolder} is not writable, so no model can be pulled; set HF_HOME to a writable folder.`,
      ),
    );
  }
  const models = await listCached(cacheFolder);
  return { endpoint, cacheFolder, models, hasToken: token !== null, offline };
}

async function makeReport(): Promise<Report> {
  const problems: string[] = [];
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    problems.push(`Node ${process.versions.node} is too old; install 20.19 or newer.`);
  const memory = { totalMiB: mib(totalmem()), freeMiB: mib(freemem()) };
  if (memory.freeMiB < littleMemoryMiB)
    problems.push(
      `Only ${memory.freeMiB} MiB of memory is free; close other programs, or lower local.training_memory_mib.`,
    );
  return {
    node: { version: process.versions.node, platform: `${process.platform} ${process.arch}` },
    processor: { model: cpus()[0]?.model ?? "unknown", cores: availableParallelism() },
    memory,
    engine: inspectEngine(problems),
    hub: await inspectHub(problems),
    verl: await inspectOwnVerl(problems),
    problems,
  };
}

async function inspectOwnVerl(problems: string[]): Promise<VerlReport | null> {
  const python = pythonIn(verlEnvironment);
  if (!existsSync(python)) return null;
  const report = await inspectVerl(python);
  problems.push(...report.problems.map((problem) => `${verlEnvironment}: ${problem}`));
  return report;
}

function formatReport(report: Report, io: CliIo): string {
  const colors = colorsFor(io.stdout);
  const row = (name: string, value: string): string => `${name.padEnd(12)} ${value}`;
  const { hub, memory, node, processor } = report;
  const models = hub.models.length === 0 ? "no models" : hub.models.join(", ");
  const problems = report.problems.map((problem) => `${colors.red("problem:")} ${problem}`);
  return [
    row("Node", `${node.version}, ${node.platform}`),
    row("CPU", `${processor.model}, ${processor.cores} cores`),
    row("memory", `${memory.freeMiB} of ${memory.totalMiB} MiB free`),
    ...(report.engine === null ? [] : formatEngine(report.engine, row)),
    row(
      "hub",
      `${hub.endpoint}${hub.offline ? ", offline" : ""}${hub.hasToken ? ", with a token" : ""}`,
    ),
    row("hub cache", `${hub.cacheFolder}: ${models}`),
    ...(report.verl === null ? [] : [row("verl", report.verl.packages["verl"] ?? "not installed")]),
    ...(problems.length === 0 ? [colors.green("No problems found.")] : problems),
    "",
  ].join("\n");
}

const help = `
Examples:
  $ agent-trainer doctor
  $ agent-trainer doctor --json
  $ agent-trainer doctor reward shop.yaml
`;

/** Resolves with 1 when there is a problem. */
export const command: CliCommand = defineCommand({
  flags: (doctor) => doctor,
  help,
  async run(_, { json = false }, io) {
    const report = await makeReport();
    writeResult(io, json, report, formatReport(report, io));
    return report.problems.length === 0 ? exitCodes.done : exitCodes.failed;
  },
});
