/** `item_reference`: items of earlier responses by their ids, as the AI SDK sends them with `store` on. */
import OpenAI from "openai";
import { expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget, type Script } from "../../src/testing/index.ts";

type Item = OpenAI.Responses.ResponseInputItem;

const model = "scripted";
const call = '<tool_call>{"name": "weather", "arguments": {"city":  "Oslo"}}</tool_call>';
const tools = [
  {
    type: "function" as const,
    name: "weather",
    strict: false,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
];
const ask = (content: string): Item => ({ role: "user", content });
const refer = ({ id }: { readonly id?: string }): Item =>
  ({ type: "item_reference", id }) as unknown as Item;

async function openGateway(script: Script) {
  const gateway = createGateway({ target: createScriptedTarget(script), model });
  await gateway.listen();
  return {
    open: async (uid: string) => {
      const session = await gateway.sessions.open({ uid, seed: 1, sampling: {} });
      const { baseUrl: baseURL, apiKey } = session;
      const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
      const create = (input: Item[], more: object = {}) =>
        client.responses.create({ model, input, tools, ...more });
      return { client, create, traces: () => session.traces() };
    },
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}

it("text by reference and its tool call in full are the turn that was captured", async () => {
  const responses = [`<think>Hm.</think>Let me see.\n${call}`, "Sun.", "Yes."];
  await using gateway = await openGateway(responses);
  const { client, create, traces } = await gateway.open("mixed");
  const stream = client.responses.stream({ model, input: [ask("q")], tools });
  const items: OpenAI.Responses.ResponseOutputItem[] = [];
  stream.on("response.output_item.done", ({ item }) => void items.push(item));
  const first = await stream.finalResponse();
  expect(items.map(({ id }) => id)).toEqual(first.output.map(({ id }) => id));
  const [reasoning, said, called] = items as [
    OpenAI.Responses.ResponseReasoningItem,
    OpenAI.Responses.ResponseOutputMessage,
    OpenAI.Responses.ResponseFunctionToolCall,
  ];
  // As the AI SDK does: arguments written anew, without the id of the item.
  const { call_id: callId, name } = called;
  const again: Item[] = [
    ask("q"),
    refer(reasoning),
    refer(said),
    { type: "function_call", call_id: callId, name, arguments: '{"city":"Oslo"}' },
    { type: "function_call_output", call_id: callId, output: "sun" },
  ];
  const second = await create(again);
  await create([...again, ...second.output.map(refer), ask("Sure?")]);
  const [a, b, c] = await traces();
  expect(b!.parentId).toBe(a!.id);
  expect(c!.parentId).toBe(b!.id);
  expect(c!.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  expect(c!.messages[1]).toMatchObject({ content: "Let me see.", reasoning: "Hm." });
  const before = [...b!.promptIds, ...b!.responseIds];
  expect(Array.from(c!.promptIds.subarray(0, before.length))).toEqual(before);
});

it("an id alone is a reference, as OpenAI has it, also in a conversation's first items", async () => {
  await using gateway = await openGateway(["one", "two", "three"]);
  const { client, create, traces } = await gateway.open("bare");
  const { output } = await create([ask("a")]);
  const bare = { id: output[0]!.id } as unknown as Item;
  await create([ask("a"), bare, ask("b")]);
  const conversation = await client.conversations.create({ items: [ask("a"), bare] as never });
  await create([ask("c")], { conversation: conversation.id });
  const [, b, c] = await traces();
  const texts = (messages: readonly { content: unknown }[]) => messages.map((one) => one.content);
  expect(texts(b!.messages)).toEqual(["a", "one", "b"]);
  expect(texts(c!.messages)).toEqual(["a", "one", "c"]);
});

it("refuses what it has not stored, as OpenAI does", async () => {
  await using gateway = await openGateway(() => "text");
  const { create, traces } = await gateway.open("mine");
  const other = await gateway.open("other");
  const stored = await create([ask("a")]);
  const unstored = await create([ask("a")], { store: false });
  const foreign = await other.create([ask("a")]);
  const [own] = stored.output;
  const ids = [
    "msg_nothing",
    "rs_1",
    unstored.output[0]!.id,
    foreign.output[0]!.id,
    // It said something, and neither thought nor called.
    own!.id!.replace("msg_", "rs_"),
    own!.id!.replace("msg_", "fc_"),
  ];
  for (const id of ids) {
    await expect(create([ask("a"), refer({ id: id! }), ask("b")])).rejects.toMatchObject({
      status: 404,
      type: "invalid_request_error",
      param: "input",
      code: null,
      message: expect.stringContaining(
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false`,
      ) as string,
    });
  }
  const twice = create([ask("a"), refer(own!), ask("b"), refer(own!)]);
  await expect(twice).rejects.toThrow(/Duplicate item found with id .* at input\[3\]/);
  expect(await traces()).toHaveLength(2);
});
