/** How a program of each language is started: with a harness that reports that it ran to its end. */

/**
 * Languages of programs; `javascript` is an ES module, `commonjs` has `require`.
 *
 * @example
 * const language: CodeLanguage = "python";
 */
export type CodeLanguage = "javascript" | "commonjs" | "python";

/** What starts a program. */
export interface Runtime {
  readonly programFile: string;
  readonly harnessFile: string;
  readonly harness: string;
  readonly limitAddressSpace: boolean;
  args(folder: string, memoryMb: number): readonly string[];
}

// The harness replies with the secret only after the program has ended: a program that calls exit(0)
// before its tests have run does not pass.
const nodeHarness = (program: string): string => `
import { readFileSync, writeSync } from "node:fs";
const [exit, write] = [process.exit.bind(process), writeSync];
const secret = readFileSync(3, "utf8");
await import("./${program}");
write(3, secret);
exit(0);
`;

const pythonHarness = `
import os, runpy, sys
reply, leave, secret = os.write, os._exit, b""
while chunk := os.read(3, 65536):
    secret += chunk
flush = sys.stdout.flush
runpy.run_path("program.py", run_name="__main__")
flush()
reply(3, secret)
leave(0)
`;

const permission = process.allowedNodeEnvironmentFlags.has("--permission")
  ? "--permission"
  : "--experimental-permission";

const node = (programFile: string): Runtime => ({
  programFile,
  harnessFile: "harness.mjs",
  harness: nodeHarness(programFile),
  limitAddressSpace: false,
  args: (folder, memoryMb) => [
    permission,
    `--allow-fs-read=${folder}/*`,
    "--no-warnings",
    `--max-old-space-size=${memoryMb}`,
    `${folder}/harness.mjs`,
  ],
});

/** How each language is run. */
export const runtimes: Readonly<Record<CodeLanguage, Runtime>> = {
  javascript: node("program.mjs"),
  commonjs: node("program.cjs"),
  python: {
    programFile: "program.py",
    harnessFile: "harness.py",
    harness: pythonHarness,
    limitAddressSpace: true,
    args: (folder) => ["-I", "-S", "-B", `${folder}/harness.py`],
  },
};
