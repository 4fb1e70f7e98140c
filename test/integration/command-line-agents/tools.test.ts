/** Real command-line agents from npm: a task of files and shell commands, by a scripted model, 4 at a time. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { claudeCode } from "../../../src/rollouts/agents/tools/claude-code.ts";
import { codex } from "../../../src/rollouts/agents/tools/codex.ts";
import { commandAgent } from "../../../src/rollouts/agents/command/command-agent.ts";
import { opencode } from "../../../src/rollouts/agents/tools/opencode.ts";
import { pi } from "../../../src/rollouts/agents/tools/pi.ts";
import type { CommandAgentOptions } from "../../../src/rollouts/agents/command/command-options.ts";
import { runThroughGateway } from "../../rollout/gateway-run.ts";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

const cache = join(root, ".cache", "command-line-agents");
const packages = [
  "@anthropic-ai/claude-code@2.1.197",
  "@openai/codex@0.169.0",
  "opencode-ai@1.18.33",
  "@mariozechner/pi-coding-agent@0.73.1",
];
const program = (name: string): string => join(cache, "node_modules/.bin", name);

beforeAll(() => {
  if (existsSync(program("pi"))) return;
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), '{"private": true}');
  // Their programs for this system are separate packages, which their scripts link.
  runCommand("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd: cache });
});

const shell = "cat given.txt given.txt > made.txt && echo SHELL-IS-DONE";

describe("a command-line agent works in its rollout's folder, each call captured", () => {
  it.each<[string, (program: string) => CommandAgentOptions, string, object]>([
    ["claude", (at) => claudeCode({ program: at }), "Bash", { command: shell, description: "x" }],
    ["codex", (at) => codex({ program: at }), "exec_command", { cmd: shell }],
    ["opencode", (at) => opencode({ program: at }), "bash", { command: shell, description: "x" }],
    ["pi", (at) => pi({ program: at }), "bash", { command: shell }],
  ])("%s", async (name, options, tool, input) => {
    const call = `<tool_call>\n${JSON.stringify({ name: tool, arguments: input })}\n</tool_call>`;
    const tasks = ["task-one", "task-two", "task-three", "task-four"];
    const { episodes } = await runThroughGateway({
      tasks,
      flow: commandAgent({
        ...options(program(name)),
        files: ({ task }) => ({ "given.txt": `of ${task.id}\n` }),
        collect: ["made.txt"],
        timeoutMs: 200_000,
      }),
      script: ({ text }) => (text.includes("SHELL-IS-DONE") ? "All done." : call),
      limits: { concurrency: 4, timeoutMs: 240_000 },
      callTimeoutMs: 60_000,
      contextLength: 1_000_000,
      maxTokens: 4096,
    });
    expect(episodes.map(({ error }) => error?.message ?? null)).toEqual(tasks.map(() => null));
    expect(episodes.map(({ metadata }) => metadata["files"])).toEqual(
      tasks.map((id) => ({ "made.txt": `of ${id}\nof ${id}\n` })),
    );
    for (const { task, output, trajectories } of episodes) {
      expect(output).toContain("All done.");
      const own = trajectories.filter(({ name: role }) => role === "agent");
      expect(own.flatMap(({ steps }) => steps)).toHaveLength(2);
      const messages = trajectories.flatMap(({ steps }) =>
        steps.map(({ trace }) => trace.messages),
      );
      expect(messages.filter((one) => !JSON.stringify(one).includes(task.id))).toEqual([]);
    }
  });
});
