/** The rows of the matrix: frameworks in examples/frameworks/, their versions, and what each can show. */

export interface Framework {
  /** Folder in examples/frameworks/. */
  readonly name: string;
  /** Packages of each version; the first decides what the row is called. */
  readonly versions: readonly Readonly<Record<string, string>>[];
  readonly protocol: "Chat Completions" | "Responses" | "Messages";
  /** The oldest major of Node that its packages accept. */
  readonly node: number;
  /** Why there is no training in its row. */
  readonly untrained?: string;
  /** Started by Python instead of Node. */
  readonly isPython?: boolean;
  /** Rollouts of the capture test, where a rollout is expensive. */
  readonly rollouts?: number;
}

/** Versions that a row may have in addition to that of its package.json, which is the newest. */
export const frameworks: readonly Framework[] = [
  { name: "fetch", versions: [{}], protocol: "Chat Completions", node: 20 },
  {
    name: "openai",
    versions: [{ openai: "7" }, { openai: "6" }],
    protocol: "Chat Completions",
    node: 22,
  },
  {
    name: "ai-sdk",
    versions: [
      { ai: "7", "@ai-sdk/openai": "4" },
      { ai: "6", "@ai-sdk/openai": "3" },
    ],
    protocol: "Responses",
    node: 22,
  },
  { name: "anthropic", versions: [{ "@anthropic-ai/sdk": "1" }], protocol: "Messages", node: 20 },
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
  {
    name: "claude-agent-sdk",
    versions: [{ "@anthropic-ai/claude-agent-sdk": "0.3" }],
    protocol: "Messages",
    node: 20,
    untrained: "its prompts are longer than the context of the built-in model",
    rollouts: 16,
  },
  { name: "python-openai", versions: [{}], protocol: "Chat Completions", node: 20, isPython: true },
];

/** One row of the table. */
export interface Row {
  readonly framework: string;
  readonly version: string;
  readonly node: string;
  readonly protocol: string;
  readonly lines: number;
  readonly calls: number;
  readonly captured: number;
  readonly misattributed: number;
  readonly rewardFirst: number | null;
  readonly rewardLast: number | null;
  readonly seconds: number;
  /** Why numbers are missing. */
  readonly note?: string;
}
