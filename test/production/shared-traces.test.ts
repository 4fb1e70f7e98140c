/** Traces as public reports describe them, from the shared cases: what was damaged is not an example. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedCases } from "../shared-cases.ts";
import { collectAndCurate, type Curated } from "./curated.ts";

const folder = sharedCases("training/traces/");
const textOf = (name: string): string => readFileSync(`${folder}${name}`, "utf8");

function rowsOf(name: string): readonly unknown[] {
  const text = textOf(name);
  if (name.endsWith(".json")) return JSON.parse(text) as unknown[];
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

const formatOf = (name: string): string => name.split(".")[1]!;

const completions = ({ demonstrations }: Curated): unknown[] =>
  demonstrations.map(({ completion }) => completion);
const answers = (curated: Curated): unknown[] =>
  completions(curated).map((one) => (one as { content: string }[]).at(-1)!.content);

interface Case {
  readonly name?: string;
  readonly format: string;
  readonly rows: readonly unknown[];
}

describe.skipIf(folder === null)("shared traces (skipped where the cases are not at hand)", () => {
  it("takes no response that the limit of tokens cut off", async () => {
    for (const { name, format, rows } of rowsOf("cut-off-by-the-limit.json") as Case[]) {
      const curated = await collectAndCurate(format, rows);
      expect(curated.counts.rejected, name).toBe(0);
      expect(curated.demonstrations, name).toEqual([]);
      expect(curated.report.dropped, name).toEqual({ "cut off": 1 });
    }
  });

  it("takes nothing that a limit of attributes cut off", async () => {
    const name = "cut-off-attributes.otel.jsonl";
    const curated = await collectAndCurate(formatOf(name), textOf(name));
    expect(curated.counts.rejected).toBe(0);
    expect(curated.demonstrations).toEqual([]);
    expect(curated.report.dropped).toEqual({ "attribute limit": 4 });
  });

  it("takes no answer that rests on results that are not there", async () => {
    const name = "parallel-results.otel.jsonl";
    const curated = await collectAndCurate(formatOf(name), textOf(name));
    expect(curated.demonstrations).toEqual([]);
    expect(curated.report.dropped).toEqual({ "missing tool result": 2, "lost arguments": 1 });
  });

  it("keeps arguments that were streamed", async () => {
    const rows = rowsOf("streamed-calls.langsmith.jsonl") as { inputs: object }[];
    for (const row of rows) {
      // With what the tool answered, the calls are a part of an example.
      const { message } = (row as unknown as { outputs: { generations: { message: object }[][] } })
        .outputs.generations[0]![0]!;
      const [asked] = (row.inputs as { messages: object[][] }).messages;
      const more = [
        message,
        { role: "tool", tool_call_id: "tu1", content: "sunny" },
        { role: "assistant", content: "Sunny." },
      ];
      const { demonstrations } = await collectAndCurate("openai", [
        { messages: [...asked!, ...more] },
      ]);
      const [called] = demonstrations[0]!["completion"] as { tool_calls: object[] }[];
      expect(called!.tool_calls).toEqual([
        {
          ...{ id: "tu1", type: "function" },
          function: {
            name: "get_weather",
            arguments: expect.stringMatching(/^\{"city": ?"Rome"\}$/u),
          },
        },
      ]);
    }
    const curated = await collectAndCurate("langsmith", rows);
    expect(curated.report.dropped).toEqual({ unfinished: 2 });
  });

  it("reads answers in JSON as they are", async () => {
    const curated = await collectAndCurate("langfuse", textOf("answers-in-json.langfuse.json"), {
      name: "rows.json",
    });
    expect(answers(curated)).toEqual([
      '{"price":46}',
      '{"price": 46}',
      '{"title": "Hats", "content": "All about hats"}',
      '["red","blue"]',
      '{"choices": ["red", "blue"]}',
      '"hello"',
    ]);
  });

  it("reads calls of Amazon's Converse", async () => {
    const [row] = rowsOf("converse.langfuse.json") as Record<string, unknown>[];
    const { messages, ...input } = row!["input"] as { messages: unknown[] };
    const { message } = (row!["output"] as { output: { message: unknown } }).output;
    const result = {
      role: "user",
      content: [{ toolResult: { toolUseId: "t1", content: [{ json: { status: "sent" } }] } }],
    };
    const next = {
      ...{ ...row, id: "8" },
      input: { ...input, messages: [...messages, message, result] },
      output: { output: { message: { role: "assistant", content: [{ text: "Sent." }] } } },
    };
    const { demonstrations, report } = await collectAndCurate("langfuse", [row, next]);
    expect(report.dropped).toEqual({});
    expect(demonstrations).toMatchObject([
      {
        prompt: [{ role: "user", content: "Order status?" }],
        completion: [
          {
            ...{ role: "assistant", content: "ok" },
            tool_calls: [{ id: "t1", function: { name: "lookup", arguments: '{"a":1}' } }],
          },
          { role: "tool", content: '{"status":"sent"}', tool_call_id: "t1" },
          { role: "assistant", content: "Sent." },
        ],
        tools: [{ function: { name: "lookup", parameters: { type: "object" } } }],
      },
    ]);
  });

  it("keeps the rest of a call with items that are not known", async () => {
    const reasons = ["missing tool result", "tool of the service", "tool of the service"];
    for (const [i, { messages }] of (
      rowsOf("items-of-newer-apis.json") as { messages: unknown[] }[]
    ).entries()) {
      const all = [{ role: "user", content: "q" }, ...messages];
      const last = { role: "assistant", content: "a" };
      const curated = await collectAndCurate("openai", [{ messages: [...all, last] }]);
      expect(curated.counts).toMatchObject({ spans: 1, rejected: 0 });
      expect(curated.report.dropped).toEqual({ [reasons[i]!]: 1 });
    }
  });

  it("does not join two choices", async () => {
    const name = "two-choices.otel.jsonl";
    const curated = await collectAndCurate(formatOf(name), textOf(name));
    expect(curated.demonstrations).toEqual([]);
    expect(curated.report.dropped).toEqual({ "several answers": 1 });
  });

  it("takes as a rating what is named so", async () => {
    const found = [];
    for (const { format, rows } of rowsOf("named-scores.json") as Case[]) {
      const { rated, feedback } = await collectAndCurate(format, rows, { unrated: false });
      found.push([rated.map(({ label }) => label), feedback.map(({ outcome }) => outcome)]);
    }
    expect(found).toEqual([
      [[true], [{ "user-feedback": 1 }, { toxicity: 0 }]],
      [[true], [{ toxicity: 0 }, { "user-feedback": 1 }]],
      [[], [{ rating: "good" }]],
      [[], [{ latency: 0.8 }]],
      [[], [{ ok: false }]],
    ]);
  });
});
