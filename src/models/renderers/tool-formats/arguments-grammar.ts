/** The arguments of a call. */
import type { Grammar } from "../../../core/grammar.ts";
import type { ToolDefinition } from "../../../core/message.ts";

/** Under the tool's schema where it is strict; any object elsewhere. */
export function argumentsGrammar({ parameters }: ToolDefinition, isStrict: boolean): Grammar {
  return { type: "json", schema: isStrict && parameters ? parameters : { type: "object" } };
}
