/** How a model family describes tools, writes calls and is read back. Text only; knows no ids. */
import type { ToolDefinition } from "../../core/message.ts";
import type { ParsedCompletion } from "../../core/policy.ts";
import type { Part } from "../token-builder.ts";

export interface ToolFormat {
  /** The tools, for the system prompt. */
  readonly describe: (tools: readonly ToolDefinition[]) => readonly Part[];
  /** One call, as the model would have written it. `argumentsText` need not be JSON. */
  readonly call: (name: string, argumentsText: string) => readonly Part[];
  /** Splits an answer into content and calls. Never throws; what cannot be read stays content. */
  readonly parse: (text: string) => ParsedCompletion;
}

/** A call, or why it is none. */
export type ReadCall = ParsedCompletion["toolCalls"][number] | string;
