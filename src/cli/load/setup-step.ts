/** Steps that set up a Python environment: commands that are shown, or run one after the other. */
import { createInterface } from "node:readline";
import { AgentTrainerError } from "../../core/errors.ts";
import { startProcess } from "../../util/process/start-process.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { pythonIn } from "../../util/process/python-in.ts";

export interface SetupStep {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Runs a step; `onLine` receives its output. @throws AgentTrainerError with its last lines. */
export async function runStep(
  { title, command, args }: SetupStep,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { child, terminate } = startProcess({
    argv: [command, ...args],
    env: process.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  signal.addEventListener("abort", terminate, { once: true });
  const words: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream! }).on("line", (line) => {
      words.push(line);
      if (words.length > 20) words.shift();
      onLine(line);
    });
  }
  const problem = await new Promise<string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, name) =>
      resolve(code === 0 ? null : `it exited with ${code ?? name}`),
    );
  });
  signal.removeEventListener("abort", terminate);
  signal.throwIfAborted();
  if (problem === null) return;
  throw new AgentTrainerError({
    code: "ENGINE_NOT_INSTALLED",
    message: `The step "${title}" failed: ${problem}. ${words.at(-1) ?? ""}`.trim(),
    hint: "Its last lines are in the error's fields; you can run the command again by hand.",
    fields: { command: [command, ...args].join(" "), words },
  });
}

/** Runs the steps; unless `quiet`, what they write goes to stderr. */
export async function runSteps(
  steps: readonly SetupStep[],
  quiet: boolean,
  io: CliIo,
): Promise<void> {
  using interrupt = watchInterrupt(io, "Stopping.");
  for (const [i, step] of steps.entries()) {
    if (!quiet) io.stderr.write(`[${i + 1}/${steps.length}] ${step.title}\n`);
    const onLine = (line: string): void => {
      if (!quiet) io.stderr.write(`    ${line}\n`);
    };
    // Each step needs what the one before it installed.
    // oxlint-disable-next-line no-await-in-loop
    await runStep(step, onLine, interrupt.signal);
  }
}

/** Packages into an environment; `args` as pip takes them. */
export const installStep = (folder: string, title: string, args: readonly string[]): SetupStep => {
  const command = pythonIn(folder);
  return { title, command, args: ["-m", "uv", "pip", "install", "--python", command, ...args] };
};

/** A new environment with these packages. */
export const environmentSteps = (
  folder: string,
  python: string,
  title: string,
  packages: readonly string[],
): readonly SetupStep[] => [
  { title: `environment in ${folder}`, command: python, args: ["-m", "venv", folder] },
  { title: "uv", command: pythonIn(folder), args: ["-m", "pip", "install", "--quiet", "uv"] },
  installStep(folder, title, packages),
];

/** The commands of the steps, to copy. */
export const formatSteps = (steps: readonly SetupStep[]): string =>
  steps.map(({ command, args }) => `${[command, ...args].join(" ")}\n`).join("");
