import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { inspectVerl, setupSteps } from "../../src/cli/load/verl-environment.ts";
import { runStep } from "../../src/cli/load/setup-step.ts";
import { hasPython } from "./fake-bridge.ts";

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const stdout = { isTTY: false, write: (text: string) => ((out += text), true) };
  const stderr = { isTTY: false, write: (text: string) => ((err += text), true) };
  return { code: await runCli(args, { stdout, stderr }), out, err };
}

describe("agent-trainer verl setup", () => {
  it("prints the commands that it would run", async () => {
    const { code, out } = await cli("verl", "setup", "--into", "env", "--dry-run");
    expect(code).toBe(0);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe("python3 -m venv env");
    expect(lines[2]).toMatch(/ verl\[vllm\]==0\.9\.\d+ .* vllm==[\d.]+ /);
  });

  it("installs flash-attn where it is asked for, since it may have to be compiled", async () => {
    const { out } = await cli("verl", "setup", "--flash-attn", "--dry-run");
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[3]).toMatch(/--no-build-isolation flash-attn$/);
  });

  it("leaves out what is not wanted", () => {
    const steps = setupSteps({
      ...{ folder: "env", python: "python3", inference: "none" },
      flashAttention: false,
    });
    expect(steps).toHaveLength(3);
    expect(steps[2]?.args.join(" ")).not.toMatch(/vllm|sglang/);
  });

  it("stops at a step that fails, with its last lines", async () => {
    const script = "console.error('no room'); process.exit(3)";
    const step = { title: "a step", command: process.execPath, args: ["-e", script] };
    const lines: string[] = [];
    const signal = new AbortController().signal;
    await expect(runStep(step, (line) => lines.push(line), signal)).rejects.toMatchObject({
      code: "ENGINE_NOT_INSTALLED",
      message: 'The step "a step" failed: it exited with 3. no room',
    });
    expect(lines).toEqual(["no room"]);
  });
});

describe("agent-trainer verl check", () => {
  it("names an interpreter that does not start", async () => {
    const { code, out } = await cli("verl", "check", "--python", "no-such-python", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      version: null,
      problems: [expect.stringMatching(/^no-such-python does not start/)],
    });
  });

  it.skipIf(!hasPython)("tells what is missing", async () => {
    const { version, packages, problems } = await inspectVerl("python3");
    expect(version).toMatch(/^3\.\d+\.\d+$/);
    expect(problems.some((problem) => problem.startsWith("verl"))).toBe(
      !/^0\.[89]\./.test(packages["verl"] ?? ""),
    );
    // The bridge does without it.
    expect(problems.join()).not.toMatch(/flash/);
  });
});
