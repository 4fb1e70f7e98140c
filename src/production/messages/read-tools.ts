/** What a model was offered to call, as OpenAI, Anthropic, the AI SDK and OpenTelemetry record it. */
import type { JsonObject, ToolDefinition } from "../../core/message.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { parsed } from "./read-messages.ts";

function toolOf(value: unknown): readonly ToolDefinition[] {
  const given = parsed(value);
  if (!isJsonObject(given)) return [];
  // Google has a list in each, Amazon one more name.
  const listed = given["functionDeclarations"] ?? given["function_declarations"];
  if (Array.isArray(listed)) return (listed as unknown[]).flatMap(toolOf);
  if (isJsonObject(given["toolSpec"])) return toolOf(given["toolSpec"]);
  // OpenInference has the definition as JSON below a name; OpenAI below `function`.
  const inner = parsed(given["tool.json_schema"] ?? given["json_schema"]);
  if (isJsonObject(inner)) return toolOf(inner);
  const fields = isJsonObject(given["function"]) ? given["function"] : given;
  const { name, description } = fields;
  if (typeof name !== "string" || name === "") return [];
  const schema = parsed(fields["parameters"] ?? fields["inputSchema"] ?? fields["input_schema"]);
  const parameters = isJsonObject(schema) && isJsonObject(schema["json"]) ? schema["json"] : schema;
  return [
    {
      name,
      ...(typeof description === "string" ? { description } : {}),
      ...(isJsonObject(parameters) ? { parameters: parameters as JsonObject } : {}),
    },
  ];
}

/** Those that can be read: a call of another is still a call. */
export function readTools(value: unknown): readonly ToolDefinition[] {
  const list = parsed(value);
  const given = isJsonObject(list) ? list["tools"] : list;
  return Array.isArray(given) ? given.flatMap(toolOf) : [];
}
