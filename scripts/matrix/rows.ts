/** The rows of the matrix: frameworks in examples/frameworks/, their versions, and what each can show. */

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
  /** Why there is no training in its rows. */
  readonly untrained?: string;
  /** Started by Python instead of Node. */
  readonly isPython?: boolean;
  /** Its calls are made by a process for each rollout: fewer and longer rollouts, counted at the gateway. */
  readonly startsProcesses?: boolean;
  /** The shop's tool, as the model calls it. @default "get_price" */
  readonly tool?: string;
}

const aiSdk = {
  folder: "ai-sdk",
  versions: [
    { ai: "7", "@ai-sdk/openai": "4" },
    { ai: "6", "@ai-sdk/openai": "3" },
  ],
  node: 22,
} as const;

export const frameworks: readonly Framework[] = [
  { name: "fetch", versions: [{}], protocol: "Chat Completions", node: 20 },
  {
    name: "openai",
    versions: [{ openai: "7" }, { openai: "6" }],
    protocol: "Chat Completions",
    node: 22,
  },
  { ...aiSdk, name: "ai-sdk agent loop", protocol: "Responses" },
  {
    ...aiSdk,
    name: "ai-sdk generateText",
    file: "generate-text.mjs",
    protocol: "Chat Completions",
  },
  { ...aiSdk, name: "ai-sdk streamText", file: "stream-text.mjs", protocol: "Responses" },
  { name: "anthropic", versions: [{ "@anthropic-ai/sdk": "1" }], protocol: "Messages", node: 20 },
  {
    name: "claude-agent-sdk",
    versions: [{ "@anthropic-ai/claude-agent-sdk": "0.3" }],
    protocol: "Messages",
    node: 20,
    untrained: "not trained: each rollout starts Claude Code",
    startsProcesses: true,
    tool: "mcp__shop__get_price",
  },
  {
    name: "openai-agents",
    versions: [{ "@openai/agents": "0.20" }],
    protocol: "Responses",
    node: 22,
  },
  {
    name: "langgraph",
    versions: [{ "@langchain/langgraph": "1" }],
    protocol: "Chat Completions",
    node: 22,
  },
  { name: "mastra", versions: [{ "@mastra/core": "1" }], protocol: "Chat Completions", node: 22 },
  { name: "genkit", versions: [{ genkit: "1" }], protocol: "Chat Completions", node: 20 },
  {
    name: "strands",
    versions: [{ "@strands-agents/sdk": "1" }],
    protocol: "Chat Completions",
    node: 22,
  },
  { name: "python-openai", versions: [{}], protocol: "Chat Completions", node: 20, isPython: true },
];

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
  readonly rewardFirst: number | null;
  readonly rewardLast: number | null;
  /** Steps of the training that the rewards are of. */
  readonly steps: number | null;
  readonly seconds: number;
  /** Why numbers are missing. */
  readonly note?: string;
}
