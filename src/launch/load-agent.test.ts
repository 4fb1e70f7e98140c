import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import { loadAgent, requireAgent } from "./load-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "load-agent-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(
  join(folder, "parts.mjs"),
  `export function flow() {}
   export const flowObject = { name: "solver", run() {} };
   export class Turns { run() {} }
   export class Player {}
   export class Board {}
   export const game = { agentClass: Player, envClass: Board };
   export const scored = { agentRunFunc: () => 1, evaluator: () => 1 };
   export const hooked = { agentFlow: flow, hooks: { setUp() {} } };
   export const score = () => 1;`,
);
const { agentCommand: noCommand } = loadConfig({ overrides: ["model.name=m"] }).config;
const load = (
  agent: string | null,
  evaluator: string | null = null,
  command: string | null = null,
) => {
  const at = (name: string | null): string | null => (name === null ? null : `parts.mjs#${name}`);
  const agentCommand = { ...noCommand, run: command };
  return loadAgent({ agent: at(agent), agentCommand, evaluator: at(evaluator) }, folder);
};
const parts = (await import(pathToFileURL(join(folder, "parts.mjs")).href)) as Record<
  string,
  unknown
>;

describe("an agent from a module", () => {
  const { flow, flowObject, Turns, Player, Board, hooked, score } = parts;
  it.each<[string, string | null, object]>([
    ["flow", "score", { agentFlow: flow, evaluator: score }],
    ["flowObject", "score", { agentFlow: flowObject, evaluator: score }],
    ["Turns", null, { workflowClass: Turns }],
    ["Turns", "score", { workflowClass: Turns, evaluator: score }],
    ["game", null, { agentClass: Player, envClass: Board }],
    ["hooked", null, hooked as object],
  ])("%s with the evaluator %s", async (agent, evaluator, expected) => {
    expect(await load(agent, evaluator)).toEqual(expected);
  });

  it.each<[string | null, string | null, string]>([
    [null, null, "agent is not set"],
    ["flow", null, "evaluator is not set"],
    [
      "flowObject",
      null,
      "the agent parts.mjs#flowObject is a flow, which needs an evaluator to score it",
    ],
    ["scored", "score", "parts.mjs#scored already defines an evaluator"],
  ])("%s with the evaluator %s is refused", async (agent, evaluator, message) => {
    await expect(load(agent, evaluator)).rejects.toThrow(message);
  });

  it("is a command where agent_command.run names one", async () => {
    expect(await load(null, "score", "node agent.js")).toMatchObject({
      agentFlow: { run: expect.any(Function) as unknown },
      evaluator: score,
    });
    await expect(load(null, null, "node agent.js")).rejects.toThrow(
      "agent node agent.js is a flow",
    );
    const both = { agent: "a.ts", agentCommand: { ...noCommand, run: "node agent.js" } };
    expect(() => requireAgent(both, {})).toThrow("agent is a.ts, but agent_command.run names");
  });

  it("says how a function that scores itself is exported, and takes that", async () => {
    await expect(load("flow")).rejects.toMatchObject({
      hint: expect.stringContaining(
        "export const agent = { agentRunFunc: yourFunction }",
      ) as string,
    });
    expect(Object.keys(await load("scored"))).toContain("agentRunFunc");
  });
});
