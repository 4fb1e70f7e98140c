/** What an agent asks of a server that renders itself gets there, and comes back, as it was. */
import { expect, it } from "vitest";
import { createUpstream } from "../../../src/testing/index.ts";
import { openWorld } from "../http-world.ts";

const messages = [{ role: "user", content: "q" }];

const tool = (name: string): object => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object" } },
});

interface WireDelta {
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

it("merges pieces of parallel tool calls by their index", async () => {
  const called = (name: string, x: number): string =>
    `<tool_call>\n{"name": "${name}", "arguments": {"x": ${x}}}\n</tool_call>`;
  await using upstream = await createUpstream({ script: () => called("a", 1) + called("b", 2) });
  await using world = await openWorld({ workers: [{ url: upstream.url }] });
  const response = await world.post({ messages, tools: [tool("a"), tool("b")], stream: true });
  const merged: { id: string; name: string; text: string }[] = [];
  for (const event of (await response.text()).split("\n\n")) {
    if (!event.startsWith("data: {")) continue;
    const { choices } = JSON.parse(event.slice(6)) as { choices: { delta: WireDelta }[] };
    for (const { index, id = "", function: piece } of choices[0]?.delta.tool_calls ?? []) {
      const call = (merged[index] ??= { id: "", name: "", text: "" });
      call.id += id;
      call.name += piece.name ?? "";
      call.text += piece.arguments ?? "";
    }
  }
  expect(merged.map(({ name, text }) => [name, JSON.parse(text)])).toEqual([
    ["a", { x: 1 }],
    ["b", { x: 2 }],
  ]);
  const [trace] = await world.session.traces();
  expect(trace?.response.toolCalls?.map(({ id, name }) => [id, name])).toEqual(
    merged.map(({ id, name }) => [id, name]),
  );
  expect(trace?.stopReason).toBe("stop");
  expect(trace?.untrainable).toBeUndefined();
});

it("passes a schema on, and does not train on what it forced", async () => {
  await using upstream = await createUpstream({ script: () => "{}" });
  await using world = await openWorld({ workers: [{ url: upstream.url }] });
  const format = { type: "json_schema", json_schema: { name: "s", schema: { type: "object" } } };
  expect((await world.post({ messages, response_format: format })).status).toBe(200);
  expect(upstream.calls[0]?.body["response_format"]).toEqual(format);
  expect((await world.session.traces())[0]?.untrainable).toMatch(/^response_format forced/);
});

it("passes images on as they came", async () => {
  await using upstream = await createUpstream({ script: () => "a cat" });
  await using world = await openWorld({ workers: [{ url: upstream.url }] });
  const content = [
    { type: "text", text: "what is it?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
  ];
  expect((await world.post({ messages: [{ role: "user", content }] })).status).toBe(200);
  expect(upstream.calls[0]?.body["messages"]).toMatchObject([{ role: "user", content }]);
});

it("gives as many alternatives as were asked for, the likeliest first", async () => {
  await using upstream = await createUpstream({ script: () => "ab" });
  await using world = await openWorld({ workers: [{ url: upstream.url }] });
  const response = await world.post({ messages, logprobs: true, top_logprobs: 2 });
  const { choices } = (await response.json()) as {
    choices: { logprobs: { content: { token: string; top_logprobs: { token: string }[] }[] } }[];
  };
  const seen = choices[0]?.logprobs.content.slice(0, 2) ?? [];
  const named = seen.map(({ token, top_logprobs: tops }) => [
    token,
    ...tops.map((top) => top.token),
  ]);
  expect(named).toEqual([
    ["a", "other", "a"],
    ["b", "other", "b"],
  ]);
});

it("counts what the server counted, once at the end of a stream that asked for it", async () => {
  await using upstream = await createUpstream({ script: () => "ok" });
  await using world = await openWorld({ workers: [{ url: upstream.url }] });
  const request = { messages, stream: true, stream_options: { include_usage: true } };
  const events = (await (await world.post(request)).text())
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as { usage?: { completion_tokens: number } });
  const counted = events.flatMap(({ usage }) => (usage ? [usage.completion_tokens] : []));
  // Two bytes and the end of the turn.
  expect(counted).toEqual([3]);
});
