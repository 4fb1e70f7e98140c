/** Whether a program that a model wrote passes tests. */
import { randomUUID } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Task } from "../../core/task.ts";
import { ConfigError } from "../../core/errors.ts";
import {
  type Scorer,
  type TextOptions,
  evaluatorError,
  fieldOf,
  noReference,
  note,
  readText,
  scored,
  tooLong,
} from "../scorer.ts";
import { fencedCode } from "./fenced-code.ts";
import { type CodeLanguage, runtimes } from "./languages.ts";
import { type SandboxLimits, type SandboxResult, canIsolate, runSandboxed } from "./sandbox.ts";

export type { CodeLanguage } from "./languages.ts";

/**
 * One test: code that is run after the program and throws where it fails, or what the program writes for
 * an input.
 *
 * @example
 * const tests: CodeTest[] = ["assert add(1, 2) == 3", { input: "1 2\n", output: "3\n" }];
 */
export type CodeTest = string | { readonly input: string; readonly output: string };

/**
 * Options of {@link code}.
 *
 * @example
 * const options: CodeOptions<{ asserts: string[] }> = {
 *   language: "python",
 *   tests: (task) => task.metadata.asserts,
 *   timeoutMs: 5000,
 * };
 */
export interface CodeOptions<Metadata> extends TextOptions {
  readonly language: CodeLanguage;
  /** The tests of a task, at most 100; each runs in a separate process. @default `task.metadata.tests` */
  readonly tests?: (task: Task<Metadata>) => string | readonly CodeTest[];
  /** Whether the reward is the fraction of tests passed. @default false: 1 for all, else 0 */
  readonly partial?: boolean;
  /** Time per test in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
  /** Memory per test in MiB. @default 256 */
  readonly memoryMb?: number;
  /** Size of each file that a Python program may write, in MiB; JavaScript may write none. @default 8 */
  readonly maxFileMb?: number;
  /** What a program may write to its outputs, in bytes per test. @default 65536 */
  readonly maxOutputBytes?: number;
  /** Whether to refuse to run where network and processes cannot be isolated. @default false */
  readonly requireIsolation?: boolean;
  /** The Python program. @default "python3" */
  readonly python?: string;
}

const maxTests = 100;

/**
 * 1 where the program in the text passes all tests, else 0, or the fraction that it passes. Takes the
 * last fenced block of the language, else the whole text. Each test runs in a child process with limits
 * on time, memory, output and files; what that does and does not keep apart is in docs/ready-evaluators.md.
 * The signal is `tests_passed`, a fraction.
 *
 * @example
 * const evaluator = code({
 *   language: "python",
 *   tests: () => ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
 * });
 */
export function code<Metadata = unknown>(options: CodeOptions<Metadata>): Scorer<Metadata> {
  const limits = checkOptions(options);
  const { language, partial = false, requireIsolation = false } = options;
  return async (task, episode) => {
    const tests = readTests(task, options.tests);
    const text = readText(episode, options);
    if (text === null) return tooLong();
    if (requireIsolation && !(await canIsolate())) throw cannotIsolate();
    const program = fencedCode(text, language);
    let passed = 0;
    const reasons: string[] = [];
    for (const test of tests) {
      const reason = await runTest(program, test, options, limits);
      if (reason === null) passed++;
      else reasons.push(reason);
      if (reason !== null && !partial) break;
    }
    const fraction = passed / tests.length;
    const reward = partial || fraction === 1 ? fraction : 0;
    const metadata = reasons.length === 0 ? {} : { reason: note(reasons[0]!) };
    return scored(reward, metadata, [{ name: "tests_passed", value: fraction }]);
  };
}

function checkOptions<Metadata>(options: CodeOptions<Metadata>): SandboxLimits {
  const { timeoutMs = 10_000, memoryMb = 256, maxFileMb = 8, maxOutputBytes = 65_536 } = options;
  const limits = { timeoutMs, memoryMb, maxFileMb, maxOutputBytes };
  const wrong = Object.entries(limits).find(([, value]) => !Number.isInteger(value) || value < 1);
  if (wrong !== undefined) {
    throw new ConfigError({
      message: `The limit ${wrong[0]} of code() is ${wrong[1]}.`,
      hint: "Give a whole number from 1 on.",
      fields: { option: wrong[0], value: wrong[1] },
    });
  }
  if (!Object.hasOwn(runtimes, options.language)) {
    throw new ConfigError({
      message: `The language "${options.language}" of code() is not known.`,
      hint: `Use one of ${Object.keys(runtimes).join(", ")}.`,
    });
  }
  return limits;
}

function readTests<Metadata>(
  task: Task<Metadata>,
  tests?: (task: Task<Metadata>) => string | readonly CodeTest[],
): readonly CodeTest[] {
  const found: unknown = tests === undefined ? fieldOf(task, "tests") : tests(task);
  if (found === undefined || found === null) {
    throw noReference(task, tests === undefined ? "tests" : undefined);
  }
  const list = (Array.isArray(found) ? found : [found]) as readonly CodeTest[];
  const areValid = list.every(
    (one) =>
      typeof one === "string" || (typeof one?.input === "string" && typeof one.output === "string"),
  );
  if (areValid && list.length > 0 && list.length <= maxTests) return list;
  throw evaluatorError(
    `Task "${task.id}" has ${list.length} tests${areValid ? "" : ", and not all are code or { input, output }"}.`,
    `Give 1 to ${maxTests} tests, each as code or as { input, output }.`,
    { taskId: task.id },
  );
}

/** Why a program did not pass; null where it did. */
async function runTest<Metadata>(
  program: string,
  test: CodeTest,
  options: CodeOptions<Metadata>,
  limits: SandboxLimits,
): Promise<string | null> {
  const runtime = runtimes[options.language];
  const folder = await realpath(await mkdtemp(join(tmpdir(), "agent-trainer-code-")));
  try {
    const source = typeof test === "string" ? `${program}\n${test}\n` : program;
    await writeFile(join(folder, runtime.programFile), source);
    await writeFile(join(folder, runtime.harnessFile), runtime.harness);
    const secret = randomUUID();
    const isPython = options.language === "python";
    const result = await runSandboxed(
      {
        executable: isPython ? (options.python ?? "python3") : process.execPath,
        args: runtime.args(folder, limits.memoryMb),
        cwd: folder,
        stdin: typeof test === "string" ? "" : test.input,
        secret,
        limitAddressSpace: runtime.limitAddressSpace,
      },
      limits,
    );
    if (isMissing(result)) throw cannotStart(options.python ?? "python3", result.stderr);
    return verdict(result, test, secret);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The shell's and `unshare`'s status for a program that is not there. */
const isMissing = ({ exitCode, reply, stderr }: SandboxResult): boolean =>
  (exitCode === 127 || exitCode === 126) && reply === "" && /not found|No such file/u.test(stderr);

function verdict(result: SandboxResult, test: CodeTest, secret: string): string | null {
  const { ended, exitCode, stdout, stderr, reply } = result;
  if (ended !== "exit")
    return {
      timeout: "time limit",
      memory: "memory limit",
      output: "output limit",
      abort: "it was stopped",
    }[ended];
  if (exitCode !== 0 || reply !== secret) {
    const last = stderr.trim().split("\n").at(-1) ?? "";
    return exitCode === 0
      ? "the program ended before its tests"
      : `exit status ${exitCode}: ${last}`;
  }
  if (typeof test === "string") return null;
  return lines(stdout) === lines(test.output)
    ? null
    : `the output is ${JSON.stringify(note(stdout))}`;
}

/** Without white space at the ends of lines and of the whole. */
const lines = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim();

const cannotStart = (program: string, stderr: string): Error =>
  evaluatorError(
    `"${program}" cannot be started: ${note(stderr.trim())}`,
    "Install it, or set `python` to the path of the program.",
    { program },
  );

const cannotIsolate = (): Error =>
  evaluatorError(
    "Programs cannot be isolated here: there is no `unshare` that may create namespaces.",
    "Run on Linux with user namespaces, or set `requireIsolation` to false inside of a container.",
  );
