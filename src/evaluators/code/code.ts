/** Whether a program that a model wrote passes tests. */
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
import { type CodeTest, type RunOptions, runTest } from "./run-test.ts";
import { canIsolate } from "./sandbox.ts";

export type { CodeLanguage } from "./languages.ts";
export type { CodeTest } from "./run-test.ts";

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
  /** How outputs are compared: line by line, or only their words. @default "lines" */
  readonly whitespace?: "lines" | "words";
  /**
   * Maximum difference of a number in an output, the larger of both; integers are exact. @default none, numbers
   * are compared as text
   */
  readonly tolerance?: { readonly absolute?: number; readonly relative?: number };
  /** What a program may write to its outputs beyond what is expected, in bytes per test. @default 65536 */
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
 * on time, memory, output and files: for an output, the program as its language runs it, which must exit with
 * status 0; for code, the program imported and then the code, which must come to its end; what that does and does not keep apart is in docs/ready-evaluators.md.
 * The signal is `tests_passed`, a fraction.
 *
 * @example
 * const evaluator = code({
 *   language: "python",
 *   tests: () => ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
 * });
 */
export function code<Metadata = unknown>(options: CodeOptions<Metadata>): Scorer<Metadata> {
  const how = checkOptions(options);
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
      const reason = await runTest(program, test, how);
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

function checkOptions<Metadata>(options: CodeOptions<Metadata>): RunOptions {
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
  const { language, python = "python3", whitespace = "lines", tolerance = null } = options;
  return { language, python, limits, output: { whitespace, tolerance } };
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

const cannotIsolate = (): Error =>
  evaluatorError(
    "Programs cannot be isolated here: there is no `unshare` that may create namespaces.",
    "Run on Linux with user namespaces, or set `requireIsolation` to false inside of a container.",
  );
