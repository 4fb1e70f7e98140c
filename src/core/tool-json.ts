/** A tool as JSON, with the digits and the order of keys that the client sent: what a prompt says of it. */
import { exactOf, parseExact, type ExactJson } from "../util/exact-json.ts";
import { RawJson } from "../util/raw-json.ts";
import type { ToolDefinition } from "./message.ts";

/** The fields `name`, `description` and `parameters`, in this order, without those that are absent. */
export function toolJson(tool: ToolDefinition): ReadonlyMap<string, ExactJson> {
  const { name, description, parameters, parametersText } = tool;
  const fields = new Map<string, ExactJson>([["name", name]]);
  if (description !== undefined) fields.set("description", description);
  if (parametersText !== undefined) fields.set("parameters", parseExact(parametersText));
  else if (parameters !== undefined) fields.set("parameters", exactOf(parameters));
  return fields;
}

/** The same for JSON that is written by `writeJson`. */
export function wireFunction(tool: ToolDefinition): Readonly<Record<string, unknown>> {
  const { parametersText, ...rest } = tool;
  return parametersText === undefined ? rest : { ...rest, parameters: new RawJson(parametersText) };
}

/** As OpenAI's chat requests have a tool. */
export const wireTool = (tool: ToolDefinition): Readonly<Record<string, unknown>> => ({
  type: "function",
  function: wireFunction(tool),
});
