/**
 * Whether two renderers are of the same family: they write the same ids for conversations that show all
 * that families differ in, and values that are easily written another way.
 */
import type { ChatMessage, JsonObject, ToolDefinition } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";

interface Probe {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  readonly thinking?: boolean;
}

const user: ChatMessage = { role: "user", content: "Q1" };
const again: ChatMessage = { role: "user", content: "Q2" };
const system: ChatMessage = { role: "system", content: "S" };
const answer: ChatMessage = { role: "assistant", content: "A" };
const thought: ChatMessage = { role: "assistant", content: "A", reasoning: "R" };
const call: ChatMessage = {
  role: "assistant",
  content: "",
  toolCalls: [
    {
      id: "call00001",
      name: "f",
      arguments: `{"a": 1, "b": ["x", null, true], "c": 1.0, "d": 12345678901234567890, "10": 1, "2": {"e": "it's é"}}`,
    },
  ],
};
const result: ChatMessage = { role: "tool", content: "out", toolCallId: "call00001", name: "f" };
const schema =
  '{"type": "object", "properties": {"a": {"type": "integer", "description": "n", "minimum": 1}, ' +
  '"b": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}, ' +
  '"c": {"type": ["number", "null"], "maximum": 1.0, "default": 1e-07}, ' +
  '"10": {"const": 12345678901234567890}, "2": {}}, "required": ["a"]}';
const tools: readonly ToolDefinition[] = [
  {
    name: "f",
    description: "d <é> 'q'",
    parameters: JSON.parse(schema) as JsonObject,
    parametersText: schema,
  },
];

const withoutTools: readonly Probe[] = [
  { messages: [user] },
  { messages: [system, user] },
  { messages: [system, user, answer, again] },
  { messages: [user, thought, again] },
  { messages: [user], thinking: true },
  { messages: [user, thought, again], thinking: false },
];
const withTools: readonly Probe[] = [
  { messages: [user], tools },
  { messages: [system, user, call, result], tools },
  { messages: [user, { ...call, reasoning: "R" }, result, answer, again], tools },
];

function attempt(renderer: Renderer, { messages, ...options }: Probe): string | null {
  try {
    return renderer.render(messages, options).tokens.join(" ");
  } catch {
    return null;
  }
}

/** Whether a model's own template writes tools that it is given. */
export function writesTools(renderer: Renderer): boolean {
  return attempt(renderer, { messages: [user], tools }) !== attempt(renderer, { messages: [user] });
}

/** @param hasTools whether the model's own template knows tools */
export function rendersAlike(a: Renderer, b: Renderer, hasTools: boolean): boolean {
  if ((a.choosesThinking ?? false) !== (b.choosesThinking ?? false)) return false;
  const probes = hasTools ? [...withoutTools, ...withTools] : withoutTools;
  return probes.every((probe) => {
    const ids = attempt(a, probe);
    return ids !== null && ids === attempt(b, probe);
  });
}
