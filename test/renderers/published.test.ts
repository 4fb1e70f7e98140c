/** Published chat templates against what Python writes with them; recorded by `scripts/fixtures/make_published.py`. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";
import { createChatTemplate } from "../../src/models/renderers/jinja/jinja-template.ts";
import { tryParseExact, writeExact, type ExactJson } from "../../src/util/exact-json.ts";

interface WireMessage {
  readonly role: ChatMessage["role"];
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

const file = (name: string): string =>
  readFileSync(new URL(`../fixtures/templates/${name}`, import.meta.url), "utf8");
const { tools, conversations, digests } = JSON.parse(file("published.json")) as {
  readonly tools: string;
  readonly conversations: Readonly<
    Record<string, { readonly messages: readonly WireMessage[]; readonly tools: boolean }>
  >;
  readonly digests: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
};

const toMessage = (wire: WireMessage): ChatMessage => ({
  role: wire.role,
  content: wire.content,
  ...(wire.reasoning_content === undefined ? {} : { reasoning: wire.reasoning_content }),
  ...(wire.tool_call_id === undefined ? {} : { toolCallId: wire.tool_call_id }),
  ...(wire.name === undefined ? {} : { name: wire.name }),
  ...(wire.tool_calls === undefined
    ? {}
    : { toolCalls: wire.tool_calls.map(({ id, function: own }) => ({ id, ...own })) }),
});

type Fields = ReadonlyMap<string, ExactJson>;
const toolList = (tryParseExact(tools) as readonly Fields[]).map((tool): ToolDefinition => {
  const own = tool.get("function") as Fields;
  const parametersText = writeExact(own.get("parameters")!);
  return {
    name: own.get("name") as string,
    description: own.get("description") as string,
    parameters: JSON.parse(parametersText) as NonNullable<ToolDefinition["parameters"]>,
    parametersText,
  };
});

/** What a template writes for a case; null where it refuses. */
function written(template: string, name: string): string | null {
  const [conversation = "", thinking] = name.split("|");
  const { messages, tools: hasTools } = conversations[conversation]!;
  const isOn = thinking === "True";
  const write = createChatTemplate({
    template,
    source: "a model",
    date: "26 Jul 2024",
    variables: {
      bos_token: "<s>",
      eos_token: "</s>",
      ...(thinking === "None" ? {} : { enable_thinking: isOn, thinking: isOn }),
    },
  });
  try {
    return write({ messages: messages.map(toMessage), tools: hasTools ? toolList : [], open: true })
      .text;
  } catch {
    return null;
  }
}

const digest = (text: string | null): string | null =>
  text === null ? null : createHash("sha256").update(text).digest("hex").slice(0, 16);

describe.each(Object.entries(digests))("the template of %s", (model, expected) => {
  it.each(Object.entries(expected))("writes what Python writes: %s", (name, found) => {
    expect(digest(written(file(`${model}.jinja`), name))).toBe(found);
  });
});
