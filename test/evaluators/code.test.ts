/** Programs that models wrote, in a child process with limits. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { code, type CodeOptions, type CodeTest } from "../../src/evaluators/index.ts";
import { canIsolate } from "../../src/evaluators/code/sandbox.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const isLinux = process.platform === "linux";
const isolated = await canIsolate();

function run(
  language: CodeOptions<unknown>["language"],
  program: string,
  tests: string | readonly CodeTest[],
  options: Partial<CodeOptions<Record<string, unknown>>> = {},
) {
  const evaluate = code({ language, timeoutMs: 20_000, ...options });
  return evaluate(taskOf({ tests }), episodeOf(program));
}

const add = "Here it is:\n```js\nconst add = (a, b) => a + b;\n```\nDone.";
const check = (expected: number): string => `if (add(1, 2) !== ${expected}) throw new Error("no");`;

describe.skipIf(process.platform === "win32")("code", () => {
  it("passes and fails tests", async () => {
    expect(await run("javascript", add, check(3))).toMatchObject({ reward: 1, isCorrect: true });
    expect(await run("javascript", add, check(4))).toMatchObject({ reward: 0, isCorrect: false });
    expect(await run("javascript", "not { code", check(3))).toMatchObject({ reward: 0 });
    expect(await run("javascript", add, [check(3), check(4)])).toMatchObject({ reward: 0 });
    const partial = await run("javascript", add, [check(3), check(4)], { partial: true });
    expect(partial).toMatchObject({
      reward: 0.5,
      signals: [{ name: "tests_passed", value: 0.5 }],
    });
  });

  it("runs CommonJS, ES modules and asynchronous tests", async () => {
    const cjs = 'const assert = require("node:assert"); module.exports = 1;';
    expect(await run("commonjs", cjs, "assert.equal(module.exports, 1)")).toMatchObject({
      reward: 1,
    });
    const mjs = 'import assert from "node:assert"; const f = async () => 1;';
    expect(await run("javascript", mjs, "assert.equal(await f(), 1)")).toMatchObject({ reward: 1 });
    expect(await run("javascript", mjs, "assert.equal(await f(), 2)")).toMatchObject({ reward: 0 });
  });

  it("compares outputs for inputs", async () => {
    const echo =
      'process.stdin.on("data", (x) => process.stdout.write(x));\nawait new Promise((r) => process.stdin.on("end", r));';
    expect(await run("javascript", echo, [{ input: "a\nb\n", output: "a \nb" }])).toMatchObject({
      reward: 1,
    });
    expect(await run("javascript", echo, [{ input: "a", output: "b" }])).toMatchObject({
      reward: 0,
    });
  });

  it.each([
    ["leaves early", "process.exit(0)", "ended before its tests"],
    ["leaves early with an own output", 'console.log("ok"); process.reallyExit(0)', "ended before"],
    ["loops", "for (;;);", "time limit"],
    ["waits", "await new Promise((r) => setTimeout(r, 1e6))", "time limit"],
    ["writes without end", 'for (;;) process.stdout.write("x".repeat(1e5))', "output limit"],
    ["reads a file", 'import fs from "node:fs"; fs.readFileSync("/etc/passwd")', "exit status 1"],
    ["writes a file", 'import fs from "node:fs"; fs.writeFileSync("x", "x")', "exit status 1"],
    ["starts a process", 'import c from "node:child_process"; c.execSync("true")', "exit status 1"],
    [
      "starts a thread",
      'import w from "node:worker_threads"; new w.Worker("1", { eval: true })',
      "exit status 1",
    ],
    [
      "reads the environment",
      "if (process.env.CODE_TEST_SECRET === undefined) throw 1",
      "exit status 1",
    ],
  ])("is 0 for a program that %s", async (_name, program, reason) => {
    process.env.CODE_TEST_SECRET = "1";
    try {
      const timeoutMs = reason === "time limit" ? 1_500 : 20_000;
      const result = await run("javascript", program, "1", { timeoutMs });
      expect(result).toMatchObject({
        reward: 0,
        metadata: { reason: expect.stringContaining(reason) as string },
      });
    } finally {
      delete process.env.CODE_TEST_SECRET;
    }
  });

  it.runIf(isLinux).each([
    ["heap", "const a = []; for (;;) a.push(new Array(1e4).fill(1.5))"],
    [
      "buffers",
      "const a = []; for (;;) { a.push(Buffer.alloc(2 ** 24, 1)); await new Promise((r) => setTimeout(r, 2)); }",
    ],
  ])("limits memory: %s", async (_name, program) => {
    expect(await run("javascript", program, "1", { memoryMb: 128 })).toMatchObject({ reward: 0 });
  });

  it.runIf(isolated)("has no network where namespaces are available", async () => {
    const program =
      'import net from "node:net";\nawait new Promise((ok, no) => net.connect(1, "127.0.0.1").on("connect", ok).on("error", (e) => no(e.code)))';
    const result = await run("javascript", program, "1");
    expect(JSON.stringify(result.metadata)).toMatch(/ENETUNREACH|exit status 1/u);
  });

  it("leaves no folder behind", async () => {
    await run("javascript", add, check(3));
    const left = readdirSync(tmpdir()).filter((name) => name.startsWith("agent-trainer-code-"));
    expect(left.filter((name) => existsSync(join(tmpdir(), name, "program.mjs")))).toEqual([]);
  });

  it.each([
    [undefined, /no reference/u],
    [[], /has 0 tests/u],
    [[{ input: "a" }], /not all are code/u],
  ])("refuses the tests %j", async (tests, message) => {
    const evaluate = code({ language: "javascript" });
    await expect(evaluate(taskOf({ tests }), episodeOf(""))).rejects.toThrow(message);
  });

  it("refuses limits and languages that make no sense", () => {
    expect(() => code({ language: "javascript", timeoutMs: 0 })).toThrow(
      /timeoutMs of code\(\) is 0/u,
    );
    expect(() => code({ language: "cobol" as "python" })).toThrow(/"cobol"/u);
  });

  it("names a Python that is missing", async () => {
    await expect(run("python", "x = 1", "1", { python: "no-such-python" })).rejects.toThrow(
      expect.objectContaining({ code: "EVALUATOR_FAILED" }),
    );
  });

  describe.skipIf(!hasPython)("Python", () => {
    const program = "```python\ndef add(a, b):\n    return a + b\n```";

    it("passes and fails tests", async () => {
      expect(await run("python", program, "assert add(1, 2) == 3")).toMatchObject({ reward: 1 });
      expect(await run("python", program, "assert add(1, 2) == 4")).toMatchObject({ reward: 0 });
      const echo = "print(int(input()) * 2)";
      expect(await run("python", echo, [{ input: "21\n", output: "42" }])).toMatchObject({
        reward: 1,
      });
    });

    it.each([
      ["leaves early", "import sys; sys.exit(0)", /exit|ended before/u],
      ["leaves at once", "import os; os._exit(0)", /ended before/u],
      ["takes memory", "x = bytearray(10**9)", /MemoryError/u],
      [
        "writes a large file",
        'f = open("x", "wb")\nfor _ in range(64): f.write(b"x" * 2**20)\nf.close()',
        /exit status/u,
      ],
      ["raises", "raise ValueError('no')", /ValueError: no/u],
      ["waits with a child", "import os, time\nos.fork()\ntime.sleep(60)", /time limit/u],
    ])("is 0 for a program that %s", async (_name, text, reason) => {
      const timeoutMs = String(reason).includes("time") ? 1_500 : 20_000;
      const result = await run("python", text, "pass", { timeoutMs });
      expect(result.reward).toBe(0);
      expect(JSON.stringify(result.metadata)).toMatch(reason);
    });
  });
});
