/** `agent-trainer import`: what was exported comes back, and what other programs wrote is read. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { atifReader } from "../../src/cli/import/read-atif.ts";
import { runCli } from "../../src/cli/program.ts";
import { readEpisodes } from "../../src/runs/evaluations/recorded-episodes.ts";
import { makeStep } from "../make-step.ts";
import { addEpisodes, newRunFolder } from "../view/view-run.ts";

async function cli(...args: readonly string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

const temporary = mkdtempSync(join(tmpdir(), "agent-trainer-import-"));

/** A tool call, its result, and a second call with tokens. */
function recorded(): string {
  const folder = newRunFolder();
  const toolCalls = [{ id: "call_1", name: "look", arguments: '{"at":"sky"}' }];
  const asked = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Which color?" },
  ] as const;
  const called = { role: "assistant", content: "", reasoning: "Hm.", toolCalls } as const;
  const result = { role: "tool", content: "blue", toolCallId: "call_1" } as const;
  const tools = [{ name: "look", parameters: { type: "object" } }];
  const steps = [
    makeStep({ id: "t1", messages: asked, tools, response: called }),
    makeStep({
      id: "t2",
      messages: [...asked, called, result],
      tools,
      response: { role: "assistant", content: "Blue." },
      stopReason: "length",
      responseIds: Int32Array.of(8, 9),
      logprobs: Float32Array.of(-0.5, -1),
    }),
  ];
  const trajectory = { uid: "u", name: "agent", steps, reward: 0.5, signals: {}, metadata: {} };
  addEpisodes(folder, "000001.jsonl", [
    { id: "1/a/0", reward: 0.5, responses: [], extra: { trajectories: [trajectory] } },
    { id: "1/a/1", rollout: 1, reward: 1, responses: ["x", "y"] },
  ]);
  return folder;
}

it("atif: a document that would become very much larger is refused by name", async () => {
  const file = join(temporary, "large.json");
  const steps = Array.from({ length: 2_000 }, (_, i) => [
    { step_id: 2 * i + 1, source: "user", message: `${i} ${"x".repeat(100)}` },
    { step_id: 2 * i + 2, source: "agent", message: "y" },
  ]).flat();
  writeFileSync(file, JSON.stringify({ schema_version: "ATIF-v1.4", session_id: "s", steps }));
  const output = join(temporary, "large");
  const { code, err } = await cli("import", file, "--format", "atif", "--output", output);
  expect(code).toBe(2);
  expect(err).toMatch(/large\.json: .* the first \d+ of its calls have more than 64 MiB of text/u);
  expect(existsSync(output)).toBe(false);
});

it("atif: documents that together become too large are refused where they do", () => {
  const steps = [
    { source: "user", message: "a".repeat(1000) },
    ...Array.from({ length: 10 }, () => ({ source: "agent", message: "" })),
  ];
  // 10 calls with at least 1,000 characters before each.
  const read = atifReader(40_000);
  const add = (i: number): unknown =>
    read({ schema_version: "ATIF-v1.4", session_id: `${i}`, steps }, `all.jsonl:${i}`);
  add(1);
  add(2);
  expect(() => [3, 4].map(add)).toThrow(/^all\.jsonl:[34]: .* more than 0\.038.* MiB of text/u);
});

it("atif: tools count for each call that has them", async () => {
  const file = join(temporary, "tools.json");
  const parameters = { type: "object", description: "x".repeat(100_000) };
  const agent = { name: "a", tool_definitions: [{ function: { name: "look", parameters } }] };
  const steps = Array.from({ length: 1_000 }, (_, i) => ({
    step_id: i + 1,
    source: "agent",
    message: "y",
  }));
  writeFileSync(file, JSON.stringify({ schema_version: "ATIF-v1.4", agent, steps }));
  const { code, err } = await cli("import", file, "--format", "atif", "--output", `${file}.d`);
  expect(code).toBe(2);
  expect(err).toMatch(/tools\.json: .* the first 60\d of its calls have more than 64 MiB of text/u);
});

/** A million characters said once, before as many calls as there are. */
const long = { role: "user", content: "x".repeat(1_000_000) };
const calls = Array.from({ length: 500 }, (_, i) => i);

it.each([
  [
    "training-trace",
    {
      schema_version: 1,
      turns: calls.map((i) => ({
        prompt_token_ids: [],
        completion_token_ids: [],
        ...(i === 0 ? { request: { messages: [long] } } : {}),
      })),
    },
  ],
  [
    "otel",
    {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: calls.map((i) => ({
                traceId: "t",
                spanId: String(i),
                startTimeUnixNano: i,
                attributes: [
                  { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                  ...(i === 0
                    ? [
                        {
                          key: "gen_ai.input.messages",
                          value: { stringValue: JSON.stringify([long]) },
                        },
                      ]
                    : []),
                ],
              })),
            },
          ],
        },
      ],
    },
  ],
])("%s: a call has the messages of its own record, once", async (format, document) => {
  const [file, output] = [
    join(temporary, `once-${format}.json`),
    join(temporary, `once-${format}`),
  ];
  writeFileSync(file, JSON.stringify(document));
  expect((await cli("import", file, "--format", format, "--output", output)).code).toBe(0);
  const [episode] = [...readEpisodes(output)];
  const { steps } = episode!.trajectories[0]!;
  expect(steps).toHaveLength(500);
  expect(JSON.stringify(steps).length).toBeLessThan(2_000_000);
});

it("values that are nested too deeply are refused by name", async () => {
  const file = join(temporary, "deep.json");
  const depth = 50_000;
  const value = `${'{"arrayValue":{"values":['.repeat(depth)}${"]}}".repeat(depth)}`;
  const span = `{"traceId":"t","spanId":"s","startTimeUnixNano":1,"attributes":[{"key":"k","value":${value}}]}`;
  writeFileSync(file, `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`);
  const { code, err } = await cli("import", file, "--format", "otel", "--output", `${file}.d`);
  expect(err).toContain("deep.json is no document of the format otel: its values are nested");
  expect(code).toBe(2);
});

it.each(["atif", "training-trace"])(
  "%s: what was exported, imported and exported is the same",
  async (format) => {
    const [first, again] = ["first", "again"].map((name) =>
      join(temporary, `${format}-${name}.jsonl`),
    );
    const output = join(temporary, format);
    await cli("export", recorded(), "--format", format, "--output", first!);
    const { code, out } = await cli(
      "import",
      first!,
      "--format",
      format,
      "--output",
      output,
      "--json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ format, output, trajectories: 2, episodes: 2 });
    await cli("export", output, "--format", format, "--output", again!);
    const lines = (file: string): unknown[] =>
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);
    expect(lines(again!)).toEqual(lines(first!));
    const [one, two] = [...readEpisodes(output)];
    expect(one).toMatchObject({ id: "1/a/0", reward: 0.5, task: { id: "a" }, rolloutIndex: 0 });
    expect(two).toMatchObject({ rolloutIndex: 1, reward: 1 });
    expect(one!.trajectories[0]!.steps[1]!.trace).toMatchObject({
      stopReason: "length",
      messages: [{ role: "system" }, { role: "user" }, { role: "assistant" }, { role: "tool" }],
    });
    const shown = await cli("show", output, "--json");
    expect(JSON.parse(shown.out)).toMatchObject({ episodes: [{ calls: 2, reward: 0.5 }, {}] });
  },
);

it("otel: conversations, tools and rewards come back without tokens", async () => {
  const [file, output] = [join(temporary, "otel.jsonl"), join(temporary, "otel")];
  await cli("export", recorded(), "--format", "otel", "--output", file);
  expect((await cli("import", file, "--format", "otel", "--output", output)).code).toBe(0);
  const [one, two] = [...readEpisodes(output)];
  expect(one).toMatchObject({ id: "1/a/0", reward: 0.5, task: { id: "a" }, rolloutIndex: 0 });
  expect(one!.trajectories[0]!.steps.map(({ trace }) => trace.messages.length)).toEqual([2, 4]);
  expect(one!.trajectories[0]!.steps[0]!.trace.response.toolCalls).toMatchObject([
    { name: "look" },
  ]);
  expect(two).toMatchObject({ reward: 1, rolloutIndex: 1, metrics: { turns: 2 } });
});

it("otel: reads messages in parts, as the conventions have them", async () => {
  const [file, output] = [join(temporary, "spans.json"), join(temporary, "spans")];
  const said = (value: unknown) => ({ stringValue: JSON.stringify(value) });
  const span = (id: string, start: number, attributes: Record<string, object>) => ({
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId: id,
    name: "chat gpt-4",
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 1_000_000),
    attributes: Object.entries({
      "gen_ai.operation.name": { stringValue: "chat" },
      "gen_ai.request.model": { stringValue: "gpt-4" },
      ...attributes,
    }).map(([key, value]) => ({ key, value })),
  });
  // The example of the conventions: a tool call, then the answer to its result.
  const user = { role: "user", parts: [{ type: "text", content: "Weather in Paris?" }] };
  const call = {
    type: "tool_call",
    id: "call_V",
    name: "get_weather",
    arguments: { location: "Paris" },
  };
  const result = { type: "tool_call_response", id: "call_V", response: "rainy, 57°F" };
  const spans = [
    span("b", 5_000_000_000, {
      "gen_ai.input.messages": said([
        user,
        { role: "assistant", parts: [call] },
        { role: "tool", parts: [result] },
      ]),
      "gen_ai.output.messages": said([
        {
          role: "assistant",
          parts: [{ type: "text", content: "It is rainy." }],
          finish_reason: "stop",
        },
      ]),
      "gen_ai.usage.output_tokens": { intValue: "52" },
    }),
    span("a", 1_000_000_000, {
      "gen_ai.input.messages": said([user]),
      "gen_ai.output.messages": said([{ role: "assistant", parts: [call] }]),
    }),
  ];
  writeFileSync(file, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  expect((await cli("import", file, "--format", "otel", "--output", output)).code).toBe(0);
  const [episode] = [...readEpisodes(output)];
  const [first, second] = episode!.trajectories[0]!.steps;
  expect(first!.trace.response.toolCalls).toEqual([
    { id: "call_V", name: "get_weather", arguments: '{"location":"Paris"}' },
  ]);
  expect(second!.trace.messages[2]).toEqual({
    role: "tool",
    content: "rainy, 57°F",
    toolCallId: "call_V",
  });
  expect(second!.trace).toMatchObject({ usage: { completionTokens: 52 }, finishedAt: 5001 });
  expect(episode!.task.instruction).toBe("Weather in Paris?");
});

it("reads a document as Harbor's agents write it, without tokens and without our fields", async () => {
  const file = join(temporary, "trajectory.json");
  const output = join(temporary, "harbor");
  const document = {
    schema_version: "ATIF-v1.4",
    session_id: "s-1",
    agent: { name: "terminus-2", version: "1", model_name: "some/model" },
    steps: [
      { step_id: 1, source: "user", message: "Fix it." },
      {
        step_id: 2,
        source: "agent",
        message: "Running.",
        tool_calls: [{ tool_call_id: "c1", function_name: "bash", arguments: { cmd: "ls" } }],
        observation: { results: [{ source_call_id: "c1", content: "a.ts" }] },
        metrics: { prompt_tokens: 30, completion_tokens: 5, cost_usd: 0.1 },
      },
      { step_id: 3, source: "agent", message: "Done.", metrics: null },
    ],
    final_metrics: { total_steps: 3 },
  };
  writeFileSync(file, JSON.stringify(document));
  expect((await cli("import", file, "--format", "atif", "--output", output)).code).toBe(0);
  const [episode] = [...readEpisodes(output)];
  const { steps } = episode!.trajectories[0]!;
  expect(episode).toMatchObject({ id: "s-1", reward: null, task: { instruction: "Fix it." } });
  expect(steps.map(({ trace }) => trace.messages.length)).toEqual([1, 3]);
  expect(steps[0]!.trace.usage).toEqual({ promptTokens: 30, completionTokens: 5 });
});

it.each([
  ["no JSON", "not json", /:1 is not valid JSON/u],
  ["another format", '{"schema_version": 1, "turns": []}', /:1 is no document of the format atif/u],
])("refuses %s by its line, and writes nothing", async (_name, text, message) => {
  const file = join(temporary, "bad.jsonl");
  writeFileSync(file, `${text}\n`);
  const output = join(temporary, "never");
  const { code, err } = await cli("import", file, "--format", "atif", "--output", output);
  expect(code).toBe(2);
  expect(err).toMatch(message);
  expect(() => [...readEpisodes(output)]).toThrow("never");
});
