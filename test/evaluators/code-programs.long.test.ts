/** Programs as their languages run them: how they read, wait and end, alone and under tests. */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { code, type CodeOptions, type CodeTest } from "../../src/evaluators/index.ts";
import { sharedCases } from "../shared-cases.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const isWindows = process.platform === "win32";

type Language = CodeOptions<unknown>["language"];
type Options = Partial<CodeOptions<Record<string, unknown>>>;

const run = (
  language: Language,
  program: string,
  tests: string | readonly CodeTest[],
  options: Options = {},
) => code({ language, timeoutMs: 20_000, ...options })(taskOf({ tests }), episodeOf(program));

const large = "x".repeat(99).concat("\n").repeat(3_000);
const three: CodeTest = { input: "1 2\n", output: "3\n" };
const tolerance = { absolute: 1e-6, relative: 1e-6 };

/** [what, program, test, options, reason of the failure or null for a pass] */
const outputs: readonly (readonly [string, string, CodeTest, Options, RegExp | null])[] = [
  [
    "as much as is expected",
    "print(open(0).read(), end='')",
    { input: large, output: large },
    {},
    null,
  ],
  [
    "more than that",
    "print(open(0).read() * 9)",
    { input: large, output: large },
    {},
    /output limit/u,
  ],
  ["without reading", "print(3)", { input: large, output: "3" }, {}, null],
  ["an input without a line end", "print(input())", { input: "a", output: "a\n" }, {}, null],
  ["no input", "import sys\nprint(len(sys.stdin.read()))", { input: "", output: "0" }, {}, null],
  ["letters beyond ASCII", "print(input()[::-1])", { input: "aé𝄞\n", output: "𝄞éa" }, {}, null],
  [
    "errors beside it",
    "import sys\nprint('3')\nprint('4', file=sys.stderr)",
    { input: "", output: "3" },
    {},
    null,
  ],
  ["words", "print('1  2 3 ')", { input: "", output: "1 2 3\n" }, { whitespace: "words" }, null],
  ["white space", "print('1  2 3 ')", { input: "", output: "1 2 3\n" }, {}, /the output is/u],
  [
    "about the same",
    "print('%.6f' % (1 / 3))",
    { input: "", output: "0.333333333333\n" },
    { tolerance },
    null,
  ],
  [
    "the same",
    "print('%.6f' % (1 / 3))",
    { input: "", output: "0.333333333333\n" },
    {},
    /the output is/u,
  ],
];

const canRun = (language: Language): boolean => !isWindows && (language !== "python" || hasPython);
const whyNot = isWindows ? " (not on Windows)" : hasPython ? "" : " (python3 is missing)";

interface ProgramCase {
  readonly kind: string;
  readonly language: Language;
  readonly response: string;
  readonly tests: readonly CodeTest[];
  /** Text where there was no option for what is wanted. */
  readonly reward: number | string;
  /** What the reason of a failure says. */
  readonly reason?: string;
  readonly timeoutMs?: number;
}

const own = readFileSync(new URL("code-programs.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as ProgramCase);
const file = sharedCases("training/code.json");
const shared = file === null ? [] : (JSON.parse(readFileSync(file, "utf8")) as ProgramCase[]);

describe.each([
  ["programs", own],
  ["shared programs", shared],
])(`%s${whyNot}`, (_from, cases) => {
  it.skipIf(cases.length === 0)("are there (the shared cases may be missing)", () => {
    expect(cases.length).toBeGreaterThan(10);
  });

  for (const { kind, language, response, tests, reward, reason, timeoutMs } of cases) {
    const how = typeof tests[0] === "string" ? "tested" : "alone";
    it.runIf(canRun(language))(`${language}, ${how}: ${kind}`, async () => {
      const options: Options =
        typeof reward === "number" ? {} : { whitespace: "words", tolerance: { absolute: 1e-6 } };
      const result = await run(language, response, tests, {
        ...options,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      const wanted = typeof reward === "number" ? reward : 1;
      expect(result.reward, JSON.stringify(result.metadata)).toBe(wanted);
      if (wanted === 1) expect(result.metadata).toBeUndefined();
      if (reason !== undefined)
        expect(result.metadata?.["reason"]).toMatch(new RegExp(reason, "u"));
      if (typeof reward !== "number") expect((await run(language, response, tests)).reward).toBe(0);
    });
  }
});

describe.skipIf(!canRun("python"))(`outputs${whyNot}`, () => {
  it.each(outputs)("%s", async (_name, program, test, options, reason) => {
    const { metadata, reward } = await run("python", program, [test], options);
    expect(JSON.stringify(metadata?.["reason"] ?? "")).toMatch(reason ?? /^""$/u);
    expect(reward).toBe(reason === null ? 1 : 0);
  });

  it.runIf(process.platform === "linux")("leave no process behind", async () => {
    const seconds = "61.0625";
    const spawn = `import subprocess\nsubprocess.Popen(["sleep", "${seconds}"], start_new_session=True, stdout=subprocess.DEVNULL)\n`;
    expect((await run("python", `${spawn}print(3)`, [three])).reward).toBe(1);
    expect(
      (await run("python", `${spawn}def add(a, b):\n    return a + b`, "assert add(1, 2) == 3"))
        .reward,
    ).toBe(1);
    const waits = `${spawn}import time\ntime.sleep(60)`;
    expect((await run("python", waits, [three], { timeoutMs: 1_000 })).reward).toBe(0);
    const running = readdirSync("/proc")
      .filter((pid) => /^\d+$/u.test(pid))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(seconds);
        } catch {
          return false;
        }
      });
    expect(running).toEqual([]);
  });

  it("are whole where a program of Node ends itself", async () => {
    const program = `console.log("x".repeat(300_000)); process.exit(0);`;
    const test = { input: "", output: "x".repeat(300_000) };
    expect((await run("javascript", program, [test])).reward).toBe(1);
    expect((await run("commonjs", program, [test])).reward).toBe(1);
  });

  it("takes a program that says it is missing for one that fails", async () => {
    const program = "import sys\nprint('python3: not found', file=sys.stderr)\nsys.exit(127)";
    expect((await run("python", program, [three])).metadata).toEqual({
      reason: "exit status 127: python3: not found",
    });
  });
});
