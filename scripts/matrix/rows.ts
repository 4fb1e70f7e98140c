/** The rows of the matrix: frameworks in examples/frameworks/, their versions, and what each can show. */

import { toolSideCalls } from "../../src/rollouts/agents/tools/side-calls.ts";
import type { SideCallRule } from "../../src/core/side-call.ts";
import type { dialects } from "./script.ts";

export type Protocol = "Chat Completions" | "Responses" | "Messages";

export interface Framework {
  /** What its rows are called. */
  readonly name: string;
  /** Folder in examples/frameworks/. @default its name */
  readonly folder?: string;
  /** Its agent. @default "agent.mjs", of Python "agent.py" */
  readonly file?: string;
  /** Packages of each version, the newest first; the first package decides what a row is called. */
  readonly versions: readonly Readonly<Record<string, string>>[];
  readonly protocol: Protocol;
  /** The oldest major of Node that its newest packages accept. */
  readonly node: number;
  /** Questions that its agent takes in one rollout. @default 1 */
  readonly turns?: 1 | 2;
  /** How its model has to answer. @default "native" */
  readonly dialect?: keyof typeof dialects;
  /** Its distribution on PyPI, for agents that `serve.py` serves; their calls are counted by a proxy. */
  readonly requirement?: string;
  /** What a reader of its rows has to know. */
  readonly note?: string;
  /** Why there is no training in its rows. */
  readonly untrained?: string;
  /** Started by Python instead of Node. */
  readonly isPython?: boolean;
  /** Its calls are made by a process for each rollout: fewer and longer rollouts, counted at the gateway. */
  readonly startsProcesses?: boolean;
  /** What its own calls next to the task are told by. */
  readonly sideCalls?: readonly SideCallRule[];
  /** The shop's tool, as the model calls it. @default "get_price" */
  readonly tool?: string;
}

const aiSdk = {
  folder: "ai-sdk",
  turns: 2,
  versions: [
    { ai: "7", "@ai-sdk/openai": "4" },
    { ai: "6", "@ai-sdk/openai": "3" },
  ],
  node: 22,
} as const;

export const frameworks: readonly Framework[] = [
  { name: "fetch", versions: [{}], protocol: "Chat Completions", node: 20, turns: 2 },
  {
    name: "openai",
    versions: [{ openai: "7" }, { openai: "6" }],
    turns: 2,
    protocol: "Chat Completions",
    node: 22,
  },
  { ...aiSdk, name: "ai-sdk agent loop", protocol: "Responses" },
  { ...aiSdk, name: "ai-sdk agent generate", file: "agent-generate.mjs", protocol: "Responses" },
  {
    ...aiSdk,
    name: "ai-sdk generateText",
    file: "generate-text.mjs",
    protocol: "Chat Completions",
  },
  { ...aiSdk, name: "ai-sdk streamText", file: "stream-text.mjs", protocol: "Responses" },
  {
    name: "anthropic",
    versions: [{ "@anthropic-ai/sdk": "1" }],
    protocol: "Messages",
    node: 20,
    turns: 2,
  },
  {
    name: "claude-agent-sdk",
    versions: [{ "@anthropic-ai/claude-agent-sdk": "0.3" }],
    protocol: "Messages",
    node: 20,
    untrained: "not trained: each question starts Claude Code",
    startsProcesses: true,
    sideCalls: toolSideCalls,
    turns: 2,
    tool: "mcp__shop__get_price",
  },
  {
    name: "openai-agents",
    versions: [{ "@openai/agents": "0.20" }],
    turns: 2,
    protocol: "Responses",
    node: 22,
  },
  {
    name: "langgraph",
    versions: [{ "@langchain/langgraph": "1" }],
    turns: 2,
    protocol: "Chat Completions",
    node: 22,
  },
  {
    name: "mastra",
    versions: [{ "@mastra/core": "1" }],
    turns: 2,
    protocol: "Chat Completions",
    node: 22,
  },
  {
    name: "genkit",
    versions: [{ genkit: "1" }],
    turns: 2,
    protocol: "Chat Completions",
    node: 20,
  },
  {
    name: "strands",
    versions: [{ "@strands-agents/sdk": "1" }],
    turns: 2,
    protocol: "Chat Completions",
    node: 22,
  },
  {
    name: "copilotkit",
    versions: [{ "@copilotkit/runtime": "1", "@ai-sdk/openai": "3" }],
    protocol: "Responses",
    node: 20,
    turns: 2,
  },
  {
    name: "tanstack-ai",
    versions: [{ "@tanstack/ai": "0.58", "@tanstack/ai-openai": "0.23" }],
    turns: 2,
    protocol: "Responses",
    node: 20,
  },
  {
    name: "llamaindex-ts",
    versions: [
      { llamaindex: "0.12", "@llamaindex/openai": "0.4", "@llamaindex/workflow": "1", zod: "4" },
    ],
    turns: 2,
    protocol: "Chat Completions",
    node: 20,
  },
  {
    name: "python-openai",
    versions: [{}],
    turns: 2,
    protocol: "Chat Completions",
    node: 20,
    isPython: true,
  },
  ...python("langchain-python", "langchain"),
  ...python("pydantic-ai", "pydantic-ai-slim"),
  ...python("openai-agents-python", "openai-agents", { protocol: "Responses" }),
  ...python("instructor", "instructor", {
    note: "answers are asked for without the schema's tool, so they begin separate rows",
  }),
  ...python("smolagents", "smolagents", {
    dialect: "smolagents",
    note: "rewrites its history: calls and results come back as custom text, so rows do not merge",
  }),
  ...python("dspy", "dspy", {
    dialect: "dspy",
    note: "rewrites its history: each call is a separate prompt with all steps in it, so rows do not merge",
  }),
  ...python("autogen", "autogen-agentchat"),
  ...python("agent-framework", "agent-framework-openai"),
  ...python("google-adk", "google-adk"),
  ...python("crewai", "crewai", {
    note: "its second question continues texts only, without calls and results: another row",
  }),
];

/** An agent that serve.py serves. */
function python(
  name: string,
  requirement: string,
  more: Partial<Framework> = {},
): readonly Framework[] {
  const known = { protocol: "Chat Completions", node: 20, isPython: true } as const;
  return [{ name, requirement, versions: [{}], turns: 2, ...known, ...more }];
}

/** Majors of Node that the whole matrix is run on. */
export const nodeMajors: readonly number[] = [20, 22, 24];

/** The major of Node that a version of a framework is trained on: the oldest that it accepts. */
export const oldestNode = (
  { versions, node }: Framework,
  packages: Readonly<Record<string, string>>,
): number => (packages === versions[0] ? node : nodeMajors[0]!);

/** One row of the table. */
export interface Row {
  readonly framework: string;
  readonly version: string;
  /** Its major, "Python", or "–" for a native program. */
  readonly node: string;
  readonly protocol: string;
  readonly lines: number;
  readonly calls: number;
  readonly captured: number;
  readonly misattributed: number;
  /** Training rows per rollout; absent where it was not measured. */
  readonly rows?: number;
  readonly rewardFirst: number | null;
  readonly rewardLast: number | null;
  /** Steps of the training that the rewards are of. */
  readonly steps: number | null;
  readonly seconds: number;
  /** Why numbers are missing. */
  readonly note?: string;
}
