/** How programs of each language are started, alone or with tests behind them. */
import { randomUUID } from "node:crypto";
import { withTests } from "./node-tests.ts";
import { pythonHarness } from "./python-tests.ts";

/**
 * Languages of programs; `javascript` is an ES module, `commonjs` has `require`.
 *
 * @example
 * const language: CodeLanguage = "python";
 */
export type CodeLanguage = "javascript" | "commonjs" | "python";

/** Files to write and start, by name. */
export interface Launch {
  readonly files: Readonly<Record<string, string>>;
  readonly start: string;
  /** What it reads from its file descriptor 3, to which it then writes the secret. */
  readonly channel?: string;
}

/** What starts a program. */
export interface Runtime {
  readonly limitAddressSpace: boolean;
  /** The program, as its language runs it. */
  alone(program: string): Launch;
  /** The program with tests, which write `secret` at their end. */
  tested(program: string, tests: string, secret: string): Launch;
  args(start: string, folder: string, memoryMb: number): readonly string[];
}

const permission = process.allowedNodeEnvironmentFlags.has("--permission")
  ? "--permission"
  : "--experimental-permission";

/** Else Node forgets what a pipe has not taken yet where a program calls `process.exit()`. */
const wholeOutput = `for (const stream of [process.stdout, process.stderr]) stream._handle?.setBlocking?.(true);`;

const node = (file: string): Runtime => ({
  limitAddressSpace: false,
  alone: (program) => ({
    files: { [file]: program, "whole-output.cjs": wholeOutput },
    start: file,
  }),
  tested: (program, tests, secret) => {
    const both = withTests(program, tests, { file, id: randomUUID() });
    return {
      files: {
        [file]: both.program,
        "harness.mjs": both.harness,
        "whole-output.cjs": wholeOutput,
      },
      start: "harness.mjs",
      channel: secret,
    };
  },
  args: (start, folder, memoryMb) => [
    permission,
    `--allow-fs-read=${folder}/*`,
    "--allow-fs-read=/dev/stdin",
    "--no-warnings",
    `--max-old-space-size=${memoryMb}`,
    `--require=${folder}/whole-output.cjs`,
    `${folder}/${start}`,
  ],
});

/** How each language is run. */
export const runtimes: Readonly<Record<CodeLanguage, Runtime>> = {
  javascript: node("program.mjs"),
  commonjs: node("program.cjs"),
  python: {
    limitAddressSpace: true,
    alone: (program) => ({ files: { "program.py": program }, start: "program.py" }),
    tested: (program, tests, secret) => ({
      files: { "program.py": program, "run-tests.py": pythonHarness },
      start: "run-tests.py",
      channel: JSON.stringify({ secret, tests }),
    }),
    args: (start, folder) => ["-s", "-B", `${folder}/${start}`],
  },
};
