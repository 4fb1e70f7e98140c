/** How a model family describes tools, writes calls and is parsed. Text only. */
import type { ToolDefinition } from "../../core/message.ts";
import type { ParsedCompletion } from "../../core/policy.ts";
import type { Part } from "../token-builder.ts";

export interface ToolFormat {
  /** The tools, for the system prompt. */
  readonly describe: (tools: readonly ToolDefinition[]) => readonly Part[];
  /** One call, as the model would have written it. `argumentsText` need not be JSON. */
  readonly call: (name: string, argumentsText: string) => readonly Part[];
  /** Splits a completion into content and calls. Never throws; what cannot be parsed stays content. */
  readonly parse: (text: string) => ParsedCompletion;
}

/** A call, or why it is not one. */
export type ReadCall = ParsedCompletion["toolCalls"][number] | string;
