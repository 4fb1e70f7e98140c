/** How a model family describes tools, writes calls and is read. Text only. */
import type { CallSyntax } from "../../../core/completion-reader.ts";
import type { Grammar } from "../../../core/grammar.ts";
import type { ToolDefinition } from "../../../core/message.ts";
import type { ParsedCompletion } from "../../../core/policy.ts";
import type { Part } from "../token-builder.ts";

/** Under the tool's schema where it is strict; any object elsewhere. */
export function argumentsGrammar({ parameters }: ToolDefinition, isStrict: boolean): Grammar {
  return { type: "json", schema: isStrict && parameters ? parameters : { type: "object" } };
}

export interface ToolFormat {
  /** The tools, for the system prompt. */
  readonly describe: (tools: readonly ToolDefinition[]) => readonly Part[];
  /** One call, as the model would have written it. `argumentsText` need not be JSON. */
  readonly call: (name: string, argumentsText: string) => readonly Part[];
  /** What is around the calls of one response, and between them. @default a line break between them */
  readonly list?: { readonly start: string; readonly separator: string; readonly end: string };
  /** What `call` writes, with arguments of the tool's schema; absent where it has no grammar. */
  readonly grammar?: {
    readonly call: (tool: ToolDefinition, isStrict: boolean) => Grammar;
    /** Between two calls. */
    readonly separator: string;
    /** What begins a call and never occurs in text; null where a call is the whole completion. */
    readonly start: string | null;
    /** What is around all calls of a completion. @default nothing */
    readonly wrap?: (calls: Grammar) => Grammar;
  };
  /** How calls are read; what cannot be read stays content. */
  readonly syntax: CallSyntax;
}

/** A call with what is wrong with it, or why it is not one. */
export type ReadCall =
  | (ParsedCompletion["toolCalls"][number] & { readonly malformed?: string })
  | string;
