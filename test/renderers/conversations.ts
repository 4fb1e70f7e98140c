/** A matrix of conversations that show what templates differ in. */
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";

export const tools: readonly ToolDefinition[] = [
  {
    name: "get_weather",
    description: "Current weather, e.g. in Zürich 🌧",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "  Name of the city " },
        unit: { type: "string", enum: ["c", "f"] },
        days: { type: "array", items: { type: "integer" }, default: [] },
      },
      required: ["city"],
    },
  },
  { name: "now" },
];

const system: ChatMessage = { role: "system", content: "Be brief." };
const user = (content: string): ChatMessage => ({ role: "user", content });
const said = (content: string, reasoning?: string): ChatMessage => ({
  role: "assistant",
  content,
  ...(reasoning === undefined ? {} : { reasoning }),
});
const calls = (content: string, ...argumentTexts: string[]): ChatMessage => ({
  role: "assistant",
  content,
  toolCalls: argumentTexts.map((text, i) => ({
    id: `c${i}`,
    name: "get_weather",
    arguments: text,
  })),
});
const result = (content: string, id = 0): ChatMessage => ({
  role: "tool",
  content,
  toolCallId: `c${id}`,
});

const one = '{"city":"Zürich","days":[1,2],"deep":{"a":null,"b":true,"c":1.5,"e":{},"f":[]}}';

export interface Case {
  readonly name: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** Several calls in one answer, which Llama's template refuses. */
  readonly parallel?: boolean;
}

const plainCases: readonly Case[] = [
  { name: "one question", messages: [user("Hi")] },
  { name: "system prompt", messages: [system, user("Hi")] },
  { name: "empty system prompt", messages: [{ role: "system", content: "" }, user("Hi")] },
  { name: "empty question", messages: [user("")] },
  { name: "spaces around", messages: [system, user("  a \n\n b\t\n"), said("\n\n x "), user(" ")] },
  {
    name: "unicode",
    messages: [user("日本語 👩‍👩‍👧 e\u0301 \u202e עברית \u0000"), said("ß→ﬁ"), user("🇨🇭")],
  },
  {
    name: "several turns",
    messages: [system, user("1"), said("one"), user("2"), said("two"), user("3")],
  },
  { name: "empty answer", messages: [user("1"), said(""), user("2")] },
  { name: "second system prompt", messages: [system, user("1"), said("a"), system, user("2")] },
  { name: "reasoning in the past", messages: [user("1"), said("a", "so\nso"), user("2")] },
  { name: "ends with an answer", messages: [user("1"), said("a", "why")] },
  { name: "ends with an answer without reasoning", messages: [user("1"), said("\n\na")] },
  {
    name: "digits and code",
    messages: [user("1234567 == 0x7f;\r\n\tif (a<b) {}"), said("```ts\nx\n```"), user("'s 're")],
  },
];

const toolCases: readonly Case[] = [
  { name: "tools offered", messages: [user("Hi")], tools },
  { name: "tools and system prompt", messages: [system, user("Hi")], tools },
  { name: "a call", messages: [user("w"), calls("", one), result("rain")], tools },
  {
    name: "a call with text",
    messages: [user("w"), calls("Let me see.", one), result("rain")],
    tools,
  },
  {
    name: "a call with empty arguments",
    messages: [user("w"), calls("", "{}"), result("")],
    tools,
  },
  {
    name: "calls one after the other",
    messages: [system, user("w"), calls("", one), result("a"), calls("", one), result("b")],
    tools,
  },
  {
    name: "a call and an answer",
    messages: [user("w"), calls("", one), result('rain\n"x" é'), said("It rains."), user("ok")],
    tools,
  },
  {
    name: "reasoning before calls",
    messages: [
      user("w"),
      { ...calls("", one), reasoning: "\nhm\n" },
      result("rain"),
      { ...calls("and", one), reasoning: "hm" },
      result("sun"),
    ],
    tools,
  },
  {
    name: "parallel calls",
    parallel: true,
    messages: [user("w"), calls("", one, "{}", one), result("a"), result("b", 1), result("c", 2)],
    tools,
  },
  {
    name: "parallel calls with text",
    parallel: true,
    messages: [
      system,
      user("w"),
      calls("both", one, one),
      result("a"),
      result("b", 1),
      said("done"),
      user("more"),
    ],
    tools,
  },
  {
    name: "a call after tools went away",
    messages: [user("w"), calls("", one), result("rain"), said("x"), user("y")],
  },
];

export const cases: readonly Case[] = [...plainCases, ...toolCases];
