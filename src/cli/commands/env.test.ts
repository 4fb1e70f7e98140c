import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../program.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-env-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function show(...args: readonly string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["env", "show", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

describe("env show", () => {
  it("shows the environment that a module exports", async () => {
    const file = join(folder, "sums.mjs");
    writeFileSync(
      file,
      `export const sums = {
  name: "sums",
  async *tasks(split) { yield { id: "0", instruction: "1 + 1 (" + split + ")", metadata: {} }; },
  open: async () => ({
    prompt: [{ role: "user", content: "What is 1 + 1?" }],
    tools: [{ name: "answer", description: "Ends the episode", parameters: {} }],
    close: async () => {},
  }),
};
`,
    );
    const { code, out, err } = await show(`${file}#sums`, "--split", "test");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe(
      [
        "sums",
        "first tasks of test:",
        "  0  1 + 1 (test)",
        "prompt of the first one:",
        "  user: What is 1 + 1?",
        "tools:",
        "  answer  Ends the episode",
        "agent: any agent, or the one that agent-trainer has",
        "rewards: its own",
        "",
      ].join("\n"),
    );
  });
  it("shows the tools of an MCP server, which has no tasks", async () => {
    const server = join(import.meta.dirname, "../../../test/environments/mcp-stdio-server.mjs");
    const { code, out, err } = await show(`mcp:${process.execPath} ${server}`);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").slice(1, 4)).toEqual([
      "tasks: none; set dataset.train",
      "tools:",
      "  add  Adds",
    ]);
    expect(out).toContain("rewards: none; set evaluator");
  });
  it("says what to write for names that it does not know", async () => {
    const { code, err } = await show("gym:gcd");
    expect(code).toBe(2);
    expect(err).toMatch(/no known protocol.*reasoning-gym:.*\n.*openenv:http/u);
  });
  it("refuses a family of reasoning-gym without a name, and a size that is none", async () => {
    for (const name of ["reasoning-gym:", "reasoning-gym:gcd?size=0", "reasoning-gym:gcd?size=x"]) {
      const { code, err } = await show(name);
      expect(code).toBe(2);
      expect(err).toContain("reasoning-gym:leg_counting");
    }
  });
  it("says how to install reasoning-gym where Python or its packages are missing", async () => {
    const missing = await show("reasoning-gym:gcd", "--python", "/nowhere/python");
    expect(missing.code).not.toBe(0);
    expect(missing.err).toContain("agent-trainer env setup reasoning-gym");
  });
  it("refuses fields of verifiers that contradict each other", async () => {
    const { code, err } = await show("verifiers:sums?a=1&a.b=2");
    expect(code).toBe(2);
    expect(err).toContain('give "a" both a value and the field a.b');
  });
});
