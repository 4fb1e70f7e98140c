/** `agent-trainer verl setup` and `agent-trainer verl check`: the Python environment for verl. */
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import {
  type InferenceName,
  inspectVerl,
  setupSteps,
  type VerlReport,
} from "../load/verl-environment.ts";
import { formatSteps, runSteps } from "../load/setup-step.ts";
import { pythonIn } from "../../util/process/python-in.ts";

export interface VerlSetupFlags {
  readonly python: string;
  readonly into: string;
  readonly inference: InferenceName;
  readonly flashAttn: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export interface VerlCheckFlags {
  readonly python?: string;
  readonly into: string;
  readonly json?: boolean;
}

function write(report: VerlReport, asJson: boolean | undefined, { stdout }: CliIo): void {
  if (asJson === true) {
    stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const versions = Object.entries(report.packages).map(
    ([name, version]) => `${name} ${version ?? "-"}`,
  );
  stdout.write(`Python ${report.version ?? "-"} (${report.python})\n`);
  if (versions.length > 0) stdout.write(`${versions.join(", ")}\n`);
  for (const problem of report.problems) stdout.write(`- ${problem}\n`);
}

/** Creates the environment. @throws AgentTrainerError for a step that fails. */
export async function verlSetupCommand(flags: VerlSetupFlags, io: CliIo): Promise<number> {
  const { python, into: folder, inference, flashAttn: flashAttention } = flags;
  const steps = setupSteps({ folder, python, inference, flashAttention });
  if (flags.dryRun === true) {
    io.stdout.write(formatSteps(steps));
    return exitCodes.done;
  }
  await runSteps(steps, flags.quiet === true, io);
  write(await inspectVerl(pythonIn(folder)), flags.json, io);
  return exitCodes.done;
}

/** Reports what an environment contains; fails when something is missing. */
export async function verlCheckCommand(flags: VerlCheckFlags, io: CliIo): Promise<number> {
  const report = await inspectVerl(flags.python ?? pythonIn(flags.into));
  write(report, flags.json, io);
  return report.problems.length === 0 ? exitCodes.done : exitCodes.failed;
}
