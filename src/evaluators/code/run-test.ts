/** One test of a program, in a separate folder and process. */
import { randomUUID } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluatorError, note } from "../scorer.ts";
import { type CodeLanguage, runtimes } from "./languages.ts";
import { type OutputRules, isSameOutput } from "./same-output.ts";
import { type SandboxLimits, type SandboxResult, runSandboxed } from "./sandbox.ts";

/**
 * One test: code that is run after the program and throws where it fails, or what the program writes for
 * an input.
 *
 * @example
 * const tests: CodeTest[] = ["assert add(1, 2) == 3", { input: "1 2\n", output: "3\n" }];
 */
export type CodeTest = string | { readonly input: string; readonly output: string };

/** How programs are run. */
export interface RunOptions {
  readonly language: CodeLanguage;
  readonly python: string;
  readonly limits: SandboxLimits;
  readonly output: OutputRules;
}

/** Why a program did not pass; null where it did. */
export async function runTest(
  program: string,
  test: CodeTest,
  options: RunOptions,
): Promise<string | null> {
  const { language, python, limits, output } = options;
  const runtime = runtimes[language];
  const secret = randomUUID();
  const launch =
    typeof test === "string" ? runtime.tested(program, test, secret) : runtime.alone(program);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "agent-trainer-code-")));
  const execute = (args: readonly string[], channel?: string): Promise<SandboxResult> =>
    runSandboxed(
      {
        executable: language === "python" ? python : process.execPath,
        args,
        cwd: folder,
        stdin: typeof test === "string" ? "" : test.input,
        limitAddressSpace: runtime.limitAddressSpace,
        ...(channel === undefined ? {} : { channel }),
      },
      typeof test === "string" ? limits : withRoomFor(test.output, limits),
    );
  try {
    for (const [name, text] of Object.entries(launch.files)) {
      await writeFile(join(folder, name), text);
    }
    const args = runtime.args(launch.start, folder, limits.memoryMb);
    const result = await execute(args, launch.channel);
    // A program may say the same of itself.
    if (looksMissing(result) && looksMissing(await execute(["--version"]))) {
      throw cannotStart(python, result.stderr);
    }
    const problem = whyEnded(result);
    if (problem !== null) return problem;
    if (typeof test === "string") {
      return result.reply === secret ? null : "the program ended before its tests were done";
    }
    return isSameOutput(result.stdout, test.output, output)
      ? null
      : `the output is ${JSON.stringify(note(result.stdout))}`;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What is expected does not count as too much. */
const withRoomFor = (output: string, limits: SandboxLimits): SandboxLimits => ({
  ...limits,
  maxOutputBytes: limits.maxOutputBytes + Buffer.byteLength(output),
});

/** The shell's and `unshare`'s status for a program that is not there. */
const looksMissing = ({ exitCode, stderr }: SandboxResult): boolean =>
  (exitCode === 127 || exitCode === 126) && /not found|No such file/u.test(stderr);

const limitNames = {
  timeout: "time limit",
  memory: "memory limit",
  output: "output limit",
  abort: "it was stopped",
};

/** Which limit or status ended it; null for a success. */
function whyEnded({ ended, exitCode, stderr }: SandboxResult): string | null {
  if (ended !== "exit") return limitNames[ended];
  if (exitCode === 0) return null;
  // Node ends with its own version, and Python's interpreters begin with where they are.
  const lines = stderr
    .split("\n")
    .filter((line) => /^\S/u.test(line) && !line.startsWith("Node.js v"));
  const said = lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b/u.test(line)) ?? lines.at(-1);
  return `exit status ${exitCode}${said === undefined ? "" : `: ${said}`}`;
}

const cannotStart = (program: string, stderr: string): Error =>
  evaluatorError(
    `"${program}" cannot be started: ${note(stderr.trim())}`,
    "Install it, or set `python` to the path of the program.",
    { program },
  );
