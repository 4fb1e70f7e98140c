/** The axis of scenarios: conversations that every client must be able to have. */
import assert from "node:assert/strict";
import { at, type World, type WorldOptions } from "../case.ts";
import type { Response, Chat, Client, Feature, Settings, ToolSpec } from "../client.ts";
import { assertCaptured } from "../captured.ts";

export interface Scene {
  readonly client: Client;
  readonly world: World;
  open(settings?: Omit<Settings, "stream">): Chat;
}

export interface Scenario {
  readonly name: string;
  readonly needs?: readonly Feature[];
  readonly world: WorldOptions;
  run(scene: Scene): Promise<void>;
}

export const weather: ToolSpec = {
  name: "weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

export function callText(city: string): string {
  return `<tool_call>{"name": "weather", "arguments": {"city":  ${JSON.stringify(city)}}}</tool_call>`;
}

const tools = [weather];

/** One question, one answer, which the client must see as it was written. */
function saying(name: string, response: string, settings: Omit<Settings, "stream"> = {}): Scenario {
  return {
    name,
    world: { responses: [response] },
    async run({ client, world, open }) {
      const seen = await open(settings).send("q");
      assert.equal(seen.text, response);
      assert.deepEqual(seen.calls, []);
      if (seen.finish !== undefined) assert.equal(seen.finish, "stop");
      assertCaptured(await world.traces(), [
        { protocol: client.protocol, response, text: response },
      ]);
    },
  };
}

function assertCalls(seen: Response, cities: readonly string[]): void {
  assert.deepEqual(
    seen.calls.map(({ name, args }) => ({ name, args })),
    cities.map((city) => ({ name: "weather", args: { city } })),
  );
  assert.equal(new Set(seen.calls.map(({ id }) => id)).size, cities.length);
  if (seen.finish !== undefined) assert.equal(seen.finish, "tools");
}

/** One question, answered with calls, which are answered. */
function calling(name: string, said: string, cities: readonly string[]): Scenario {
  const response = [said, ...cities.map(callText)].filter((text) => text !== "").join("\n");
  return {
    name,
    needs: ["tools"],
    world: { responses: [response, "Done."] },
    async run({ client, world, open }) {
      const chat = open({ tools });
      const first = await chat.send("q");
      assert.equal(first.text, said);
      assertCalls(first, cities);
      const results = first.calls.map((call, i) => ({ call, output: `result ${i}` }));
      assert.equal((await chat.send(results)).text, "Done.");
      const { protocol } = client;
      const traces = await world.traces();
      assertCaptured(traces, [
        { protocol, response, text: said },
        { protocol, response: "Done.", parent: 0 },
      ]);
      assert.deepEqual(
        at(traces, 0).tools.map((tool) => tool.name),
        ["weather"],
      );
      const ids = at(traces, 0).response.toolCalls?.map((call) => call.id);
      assert.deepEqual(
        ids,
        first.calls.map((call) => call.id),
      );
      const told = at(traces, 1).messages.filter((message) => message.role === "tool");
      assert.deepEqual(
        told.map((message) => [message.toolCallId, message.content]),
        results.map(({ call, output }) => [call.id, output]),
      );
    },
  };
}

/** A conversation of text. */
function talking(name: string, responses: readonly string[], system?: string): Scenario {
  return {
    name,
    world: { responses },
    async run({ client, world, open }) {
      const chat = open(system === undefined ? {} : { system });
      for (const [i, response] of responses.entries()) {
        assert.equal((await chat.send(`question ${i}`)).text, response);
      }
      const { protocol } = client;
      const traces = await world.traces();
      assertCaptured(
        traces,
        responses.map((response, i) => ({
          protocol,
          response,
          ...(i > 0 ? { parent: i - 1 } : {}),
        })),
      );
      const [head] = at(traces, 0).messages;
      if (system !== undefined) assert.deepEqual(head, { role: "system", content: system });
    },
  };
}

/** A failure that has a status of its own. */
function failing(
  name: string,
  world: WorldOptions,
  status: number,
  words: RegExp,
  apiKey?: string,
): Scenario {
  return {
    name,
    world,
    async run({ client, world: own, open }) {
      const target = apiKey === undefined ? own : { ...own, apiKey };
      const chat = apiKey === undefined ? open() : client.open(target, { stream: false });
      await assert.rejects(chat.send("x".repeat(200)), (error) => {
        const { status: got, statusCode, message } = error as Record<string, unknown>;
        assert.equal(got ?? statusCode, status);
        assert.match(String(message), words);
        return true;
      });
      assert.deepEqual(await own.traces(), []);
    },
  };
}

const long = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");

export const scenarios: readonly Scenario[] = [
  saying("plain text", "Hello."),
  saying("unicode", "héllo wörld 你好 🙂👩‍👩‍👧 \u0301x"),
  saying("long text", long),
  saying("lines and quotes", 'a\n\nb\t"c" \\d\\ {"e": [1]} end'),
  saying("server-sent event look-alikes", "data: [DONE]\n\nevent: error\ndata: {}"),
  saying("tag look-alikes", "a < b <t> <answer>4</answer> <tool"),
  saying("JSON while tools are offered", '{"city": "Oslo"}', { tools }),
  saying("a broken tool call", "<tool_call>{oops</tool_call>", { tools }),
  saying("a call to no tools offered", callText("Oslo")),
  calling("a tool call and its result", "", ["Oslo"]),
  calling("parallel tool calls and their results", "", ["Oslo", "Rome", "Lima"]),
  calling("text before a tool call", "Let me see.", ["Oslo"]),
  calling("arguments with unicode and quotes", "", ['Tromsø "north" \\ 🙂\n']),
  talking("two turns", ["one", "two"]),
  talking(
    "five turns",
    ["1", "two", "3 3 3", "vier\n", "cinq ✓"].map((text) => text.trim()),
  ),
  talking("turns with a system prompt", ["one", "two"], "Be brief: é."),
  failing(
    "context overflow",
    { responses: ["x"], contextLength: 40 },
    400,
    /context (window has|length is) 40/,
  ),
  failing("a wrong key", { responses: ["x"] }, 401, /token/, "session-wrong"),
  {
    name: "reasoning",
    needs: ["reasoning"],
    world: { responses: ["<think>Hmm, 2+2.</think>It is 4.", "Yes."] },
    async run({ client, world, open }) {
      const chat = open();
      const seen = await chat.send("2+2?");
      assert.equal(seen.reasoning, "Hmm, 2+2.");
      assert.equal(seen.text, "It is 4.");
      assert.equal((await chat.send("Sure?")).text, "Yes.");
      const { protocol } = client;
      assertCaptured(await world.traces(), [
        { protocol, response: "<think>Hmm, 2+2.</think>It is 4.", text: "It is 4." },
        { protocol, response: "Yes.", parent: 0 },
      ]);
    },
  },
  {
    name: "reasoning before a tool call",
    needs: ["reasoning", "tools"],
    world: { responses: [`<think>Look.</think>${callText("Oslo")}`, "Sun."] },
    async run({ client, world, open }) {
      const chat = open({ tools });
      const seen = await chat.send("q");
      assert.equal(seen.reasoning, "Look.");
      assertCalls(seen, ["Oslo"]);
      await chat.send(seen.calls.map((call) => ({ call, output: "sun" })));
      const { protocol } = client;
      assertCaptured(await world.traces(), [
        { protocol, response: `<think>Look.</think>${callText("Oslo")}` },
        { protocol, response: "Sun.", parent: 0 },
      ]);
    },
  },
  {
    name: "a stop string",
    needs: ["stop"],
    world: { responses: ["one END two"] },
    async run({ client, world, open }) {
      const seen = await open({ stop: "END" }).send("q");
      assert.equal(seen.text.trimEnd(), "one");
      const finish = client.protocol === "anthropic-messages" ? "stop-string" : "stop";
      assert.equal(seen.finish, finish);
      const { protocol } = client;
      assertCaptured(await world.traces(), [{ protocol, response: "one END two", sampled: 7 }]);
    },
  },
  {
    name: "a token limit",
    world: { responses: ["abcdefgh", "more"] },
    async run({ client, world, open }) {
      const chat = open({ maxTokens: 5 });
      const seen = await chat.send("q");
      assert.equal(seen.text, "abcde");
      if (seen.finish !== undefined) assert.equal(seen.finish, "length");
      await chat.send("go on");
      const { protocol } = client;
      assertCaptured(await world.traces(), [
        { protocol, response: "abcdefgh", sampled: 5, stopReason: "length", text: "abcde" },
        { protocol, response: "more", parent: 0 },
      ]);
    },
  },
  {
    name: "usage",
    world: { responses: ["abc"] },
    async run({ world, open }) {
      const { usage } = await open().send("q");
      const trace = at(await world.traces(), 0);
      assert.deepEqual(usage, { input: trace.promptIds.length, output: 4 });
    },
  },
  {
    name: "sampling as asked",
    world: { responses: ["a"] },
    async run({ world, open }) {
      await open({ temperature: 0.25, topP: 0.5, maxTokens: 9 }).send("q");
      const { sampling } = at(await world.traces(), 0);
      const { temperature, topP, maxTokens } = sampling;
      assert.deepEqual(
        { temperature, topP, maxTokens },
        { temperature: 0.25, topP: 0.5, maxTokens: 9 },
      );
    },
  },
  {
    name: "sampling as enforced",
    world: { responses: ["abcdef"], sampling: { temperature: 0.7, maxTokens: 3 } },
    async run({ client, world, open }) {
      const seen = await open({ temperature: 0.1, maxTokens: 100 }).send("q");
      assert.equal(seen.text, "abc");
      const traces = await world.traces();
      assertCaptured(traces, [
        { protocol: client.protocol, response: "abcdef", sampled: 3, stopReason: "length" },
      ]);
      assert.equal(at(traces, 0).sampling.temperature, 0.7);
    },
  },
  {
    name: "a trajectory's URL",
    world: { responses: ["a"], trajectory: "sol/ver" },
    async run({ world, open }) {
      await open().send("q");
      const { trajectoryUid } = at(await world.traces(), 0);
      assert.equal(trajectoryUid, world.session.trajectory("sol/ver").uid);
    },
  },
  {
    name: "two conversations in one session",
    world: { responses: ["1", "2", "3", "4"] },
    async run({ client, world, open }) {
      const [first, second] = [open({ system: "A" }), open({ system: "B" })];
      for (const chat of [first, second, first, second]) await chat.send("q");
      const { protocol } = client;
      assertCaptured(await world.traces(), [
        { protocol, response: "1" },
        { protocol, response: "2" },
        { protocol, response: "3", parent: 0 },
        { protocol, response: "4", parent: 1 },
      ]);
    },
  },
];
