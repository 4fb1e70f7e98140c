import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../core/message.ts";
import { sharedCases } from "../../../test/shared-cases.ts";
import { exampleRow } from "./rows.ts";
import { replaceInJson } from "./replace-in-json.ts";
import { scrubTurn } from "./scrub.ts";
import type { Turn } from "./turns.ts";

const turn: Turn = {
  traceId: "t",
  model: "m",
  prompt: [{ role: "user", content: "I am a@b.de" }],
  completion: [
    {
      role: "assistant",
      content: "",
      toolCalls: [
        { id: "c", name: "pay", arguments: '{"card":4111111111111111,"to":"a@b.de","n":3}' },
      ],
    },
    { role: "tool", content: "paid", toolCallId: "c" },
    { role: "assistant", content: "Done, a@b.de." },
  ],
  tools: [],
  at: 0,
  isSubAgent: false,
  isRepeated: false,
  isEndKnown: true,
  flaw: null,
};

describe("a turn", () => {
  it("has one name for one value, and arguments that are JSON", async () => {
    const { turn: clean, correction, found } = (await scrubTurn(turn, "Dear a@b.de", null))!;
    expect(clean.prompt[0]!.content).toBe("I am [email 1]");
    expect(JSON.parse(clean.completion[0]!.toolCalls![0]!.arguments)).toEqual({
      card: "[card 1]",
      to: "[email 1]",
      n: 3,
    });
    expect([clean.completion[2]!.content, correction]).toEqual([
      "Done, [email 1].",
      "Dear [email 1]",
    ]);
    expect(Object.fromEntries(found)).toEqual({ email: 1, card: 1 });
  });

  it("is changed or dropped by a hook, which sees what the rules left", async () => {
    const seen: string[] = [];
    const changed = await scrubTurn(turn, null, async (text) => {
      seen.push(text);
      return text.replace("paid", "X");
    });
    expect(changed!.turn.completion[1]!.content).toBe("X");
    expect(seen.join(" ")).not.toContain("a@b.de");
    expect(await scrubTurn(turn, null, () => null)).toBeNull();
  });

  it("has nothing personal in any place that is written", async () => {
    const mail = "anna@example.com";
    const tool: ToolDefinition = {
      name: "send",
      description: `Sends to ${mail}`,
      parameters: {
        type: "object",
        properties: {
          to: { type: "string", title: mail, default: mail, enum: [mail], description: mail },
          [mail]: { type: "number", const: 4111111111111111 },
        },
        required: ["to", mail],
      },
    };
    const everywhere: Turn = {
      ...turn,
      prompt: [
        { role: "system", content: [{ type: "text", text: `For ${mail}` }] },
        { role: "user", content: mail },
      ],
      completion: [
        {
          role: "assistant",
          content: mail,
          reasoning: `She is ${mail}.`,
          toolCalls: [
            { id: "c", name: "send", arguments: `{"${mail}":{"${mail}":["${mail}"]}}` },
            { id: "d", name: "send", arguments: `no JSON: ${mail}` },
          ],
        },
        { role: "tool", content: mail, toolCallId: "c", name: mail },
        { role: "tool", content: `{"${mail}": "${mail}"}`, toolCallId: "d" },
        { role: "assistant", content: mail },
      ],
      tools: [tool, { ...tool, parametersText: JSON.stringify(tool.parameters) }],
    };
    const { turn: clean, correction } = (await scrubTurn(everywhere, mail, null))!;
    const row = JSON.stringify([exampleRow(clean), clean, correction]);
    expect(row).not.toMatch(/anna|example\.com|4111/u);
    expect(row).not.toContain("[email 2]");
    expect(clean.tools[0]).toEqual({
      name: "send",
      description: "Sends to [email 1]",
      parameters: {
        type: "object",
        properties: {
          to: {
            type: "string",
            title: "[email 1]",
            default: "[email 1]",
            enum: ["[email 1]"],
            description: "[email 1]",
          },
          "[email 1]": { type: "number", const: "[card 1]" },
        },
        required: ["to", "[email 1]"],
      },
    });
    expect(JSON.parse(clean.tools[1]!.parametersText!)).toEqual(clean.tools[0]!.parameters);
  });

  it("shows a hook the keys of arguments and the texts of tools, but no words of their schemas", async () => {
    const seen = new Set<string>();
    const keys: Turn = {
      ...turn,
      completion: [
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "c", name: "f", arguments: '{"Anna":"Berta"}' }],
        },
      ],
      tools: [
        {
          name: "f",
          description: "of Clara",
          parameters: { type: "object", properties: { Dora: { type: "string", title: "Emma" } } },
        },
      ],
    };
    await scrubTurn(keys, null, (text) => {
      seen.add(text);
      return text;
    });
    expect([...seen]).toEqual(["I am [email 1]", "Anna", "Berta", "of Clara", "Dora", "Emma"]);
  });

  it("keeps JSON what it is, and its digits and white space", async () => {
    const content =
      '{ "card": 4111111111111111,\n "at": 1764320000003, "n": 1.0, "big": 12345678901234567890 }';
    const result: Turn = {
      ...turn,
      completion: [
        { role: "tool", content, toolCallId: "c" },
        { role: "assistant", content: "x" },
      ],
    };
    const { turn: clean } = (await scrubTurn(result, null, null))!;
    expect(clean.completion[0]!.content).toBe(content.replace("4111111111111111", '"[card 1]"'));
  });
});

interface PlaceCase {
  readonly kind: string;
  readonly arguments?: string;
  readonly tools?: readonly ToolDefinition[];
}

const shared = sharedCases("training/privacy.json");

it("is clean in the other places of the shared cases", async (context) => {
  if (shared === null) context.skip("the folder of shared cases is missing");
  const all = JSON.parse(readFileSync(shared!, "utf8")) as readonly PlaceCase[];
  const places = all.filter(({ kind }) => kind === "other places");
  expect(places.length).toBeGreaterThanOrEqual(2);
  for (const { arguments: given = "{}", tools = [] } of places) {
    const call = { id: "c", name: "f", arguments: given };
    const completion = [{ role: "assistant" as const, content: "", toolCalls: [call] }];
    const { turn: clean } = (await scrubTurn({ ...turn, completion, tools }, null, null))!;
    const text = JSON.stringify([clean.completion, clean.tools]);
    expect(text).not.toContain("example.com");
    // The turn's question has another address.
    expect(text).toBe(
      JSON.stringify([completion, tools]).replaceAll(/\w+@example\.com/gu, "[email 2]"),
    );
  }
});

it.each([
  ['{"a": "x\\nx"}', '{"a": "y\\ny"}'],
  ['{"a": "x1", "x2": [1, "x3"]}', '{"a": "y1", "y2": [1, "y3"]}'],
  ['{"a": "{\\"x\\": 1}"}', '{"a": "{\\"y\\": 1}"}'],
  ["x 1", "y 1"],
  ['"x"', '"y"'],
  ["[1, x", "[1, y"],
])("replaces in %s", async (text, wanted) => {
  expect(await replaceInJson(text, (one) => one.replaceAll("x", "y"))).toBe(wanted);
});
