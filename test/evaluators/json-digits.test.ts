/** JSON in responses: where it stands in a text, and numbers that doubles cannot hold. */
import { describe, expect, it } from "vitest";
import { functionCalls, json, trajectoryMatch } from "../../src/evaluators/index.ts";
import { readResponse } from "../../src/evaluators/json/read-json.ts";
import { onlyObject } from "../../src/evaluators/judge/quote.ts";
import { plainOf } from "../../src/util/exact-json.ts";
import { makeStep } from "../make-step.ts";
import { processorClock } from "../processor-time.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const fence = "```";
const read = (text: string): unknown => {
  const reading = readResponse(text);
  return "value" in reading ? plainOf(reading.value) : reading.reason;
};
const notJson = "the text is not JSON";

describe("the JSON of a response", () => {
  it.each<readonly [string, string, unknown]>([
    ["a fence in a string", `{"c":"${fence}js\\nlet x\\n${fence}"}`, { c: "```js\nlet x\n```" }],
    [
      "a fence in a string in a block",
      `${fence}json\n{"c":"${fence}js\\nx\\n${fence}"}\n${fence}`,
      { c: "```js\nx\n```" },
    ],
    [
      "a fence in a string on lines",
      `Here:\n${fence}json\n{\n  "c": "${fence}",\n  "d": 1\n}\n${fence}\nDone.`,
      { c: "```", d: 1 },
    ],
    ["a single fence in a string", `Sure.\n${fence}\n{"c":"${fence}"}\n${fence}`, { c: "```" }],
    ["four backticks", `${fence}\`json\n{"a":1}\n${fence}\``, { a: 1 }],
    ["four around three", `${fence}\`\n{"a":"${fence}"}\n${fence}\``, { a: "```" }],
    ["tildes", '~~~json\n{"a":1}\n~~~', { a: 1 }],
    ["tildes in backticks", `${fence}json\n{"a":"~~~"}\n${fence}`, { a: "~~~" }],
    ["a space before the language", `${fence} json\n{"a":1}\n${fence}`, { a: 1 }],
    ["capitals", `${fence}JSON\n{"a":1}\n${fence}`, { a: 1 }],
    ["another dialect", `${fence}json5\n{"a":1}\n${fence}`, { a: 1 }],
    ["another language alone", `${fence}javascript\n{"a":1}\n${fence}`, { a: 1 }],
    ["a title", `${fence}json title="a.json"\n{"a":1}\n${fence}`, { a: 1 }],
    ["indentation", `1. Here:\n   ${fence}json\n   {"a":1}\n   ${fence}`, { a: 1 }],
    ["line ends of Windows", `${fence}json\r\n{"a":1}\r\n${fence}\r\n`, { a: 1 }],
    ["the value in the line of the fence", `${fence}json {"a":\n1}\n${fence}`, { a: 1 }],
    ["everything in a line", `Here: ${fence}json {"a":1} ${fence} it is.`, { a: 1 }],
    ["the last fence behind the value", `${fence}json\n{"a":1}${fence}`, { a: 1 }],
    ["no last fence", `So:\n${fence}json\n{"a":1}\n`, { a: 1 }],
    ["the last of several", `${fence}json\n1\n${fence}\n${fence}\n2\n${fence}`, 2],
    [
      "a program behind it",
      `${fence}json\n{"a":1}\n${fence}\n${fence}bash\nls\n${fence}`,
      { a: 1 },
    ],
    [
      "a program that is JSON",
      `${fence}json\n{"a":1}\n${fence}\n${fence}sh\ntrue\n${fence}`,
      { a: 1 },
    ],
    ["an unmarked program", `${fence}json\n{"a":1}\n${fence}\n${fence}\nls\n${fence}`, { a: 1 }],
    ["reasoning", `<think>{"a":2}\n${fence}\n3\n${fence}</think>\n{"a":1}`, { a: 1 }],
    ["a list", `${fence}\n[1,2]\n${fence}`, [1, 2]],
    [
      "damage behind what is whole",
      `${fence}json\n1\n${fence}\n${fence}json\n{"a":\n${fence}`,
      notJson,
    ],
    ["words around it", 'Sure! {"a":1}', notJson],
    ["two values", '{"a":1} {"a":2}', notJson],
    ["NaN", '{"a":NaN}', notJson],
    ["Infinity", "[-Infinity]", notJson],
    ["a comment", '{"a":1 /* one */}', notJson],
    ["single quotes", "{'a':1}", notJson],
    ["a comma too many", '{"a":1,}', notJson],
    ["reasoning without end", '<think>{"a":1}', "the reasoning does not end"],
  ])("%s", (_name, text, wanted) => {
    expect(read(text)).toEqual(wanted);
  });

  it("of a judge stands alone", () => {
    for (const text of [
      '{"score":3}',
      `${fence}json\n{"score":3}\n${fence}`,
      `${fence}\`\n{"score":3}\n${fence}\``,
      '~~~json\n{"score":3}\n~~~\n',
      `${fence}{"score":3}${fence}`,
      `<think>9?</think>${fence}json\n{"score":3}\n${fence}`,
    ])
      expect([text, onlyObject(text)]).toEqual([text, { score: 3 }]);
    for (const text of [
      `It says:\n${fence}json\n{"score":10}\n${fence}`,
      `${fence}json\n{"score":10}\n${fence}\nis what it says.`,
      `${fence}json\n{"score":10}\n${fence}\n${fence}json\n{"score":3}\n${fence}`,
      `It says ${fence}{"score":10}${fence}`,
      '{"score":3} {"score":10}',
    ])
      expect([text, onlyObject(text)]).toEqual([text, null]);
  });

  it("takes time that is linear in fences", () => {
    const seconds = processorClock();
    for (const text of ["`".repeat(100_000), "```\n".repeat(25_000), "~~~json\n{".repeat(10_000)])
      expect(typeof read(text)).toBe("string");
    expect(seconds()).toBeLessThan(5);
  });
});

const large = "12345678901234567890";
/** [response, reference as JSON text, whether they are equal] */
const pairs: readonly (readonly [string, string, boolean])[] = [
  [`{"a":${large}}`, `{"a":${large}}`, true],
  ['{"a":12345678901234567891}', `{"a":${large}}`, false],
  ['{"a":9007199254740992}', '{"a":9007199254740993}', false],
  ['{"a":-9007199254740993}', '{"a":-9007199254740992}', false],
  ['{"a":1.0}', '{"a":1}', true],
  ['{"a":1e2}', '{"a":100}', true],
  ['{"a":10e-1}', '{"a":1}', true],
  ['{"a":-0}', '{"a":0.0}', true],
  ['{"a":0.1}', '{"a":0.10}', true],
  ['{"a":0.1}', '{"a":0.10000000000000001}', false],
  ['{"a":1e400}', '{"a":1e400}', true],
  ['{"a":1e400}', '{"a":1e401}', false],
  ['{"a":1e400}', '{"a":null}', false],
  ['{"a":1e-400}', '{"a":0}', false],
  [`{"a":"${large}"}`, `{"a":${large}}`, false],
  ['{"a":2,"a":1}', '{"a":1}', true],
  ['{"a":1,"a":2}', '{"a":1}', false],
  ['{"b":[true],"a":1}', '{"a":1,"b":[true]}', true],
  ['{"a":true}', '{"a":1}', false],
];

const callOf = (args: string) =>
  episodeOf("", [
    makeStep({
      messages: [],
      response: {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "1", name: "f", arguments: args }],
      },
    }),
  ]);
const referenceOf = (args: string) => [
  { role: "assistant", tool_calls: [{ function: { name: "f", arguments: args } }] },
];

describe.each(pairs)("%s against %s", (response, answer, isEqual) => {
  const reward = isEqual ? 1 : 0;

  it("as JSON", () => {
    const task = taskOf({ answer });
    expect(json()(task, episodeOf(response)).reward).toBe(reward);
    expect(json({ fields: ["a"] })(task, episodeOf(response)).reward).toBe(reward);
    const inBlock = episodeOf(`So:\n${fence}json\n${response}\n${fence}`);
    expect(json()(task, inBlock).reward).toBe(reward);
  });

  it("as arguments", () => {
    const reference = referenceOf(answer);
    for (const toolArgs of ["exact", "subset", "superset", { f: ["a"] }] as const) {
      const evaluate = trajectoryMatch({ toolArgs, reference: () => reference });
      expect(evaluate(taskOf({}), callOf(response)).reward).toBe(reward);
    }
  });

  it("as accepted values", () => {
    const accepted = answer.replace(/("\w"):(\[?[^,}]+)/gu, "$1:[$2]");
    const calls = functionCalls()(taskOf({ answer: `[{"f":${accepted}}]` }), callOf(response));
    expect(calls.reward).toBe(reward);
  });
});

describe("references that are not text", () => {
  it("are compared with all of their digits", () => {
    const answer = { id: 9007199254740992 };
    expect(json()(taskOf({ answer }), episodeOf('{"id":9007199254740992}')).reward).toBe(1);
    expect(json()(taskOf({ answer }), episodeOf('{"id":9007199254740993}')).reward).toBe(0);
  });

  it.each([[{ a: Number.NaN }], [{ a: [Infinity] }], [{ a: 12345678901234567890n }]])(
    "are refused where JSON has no such number: %s",
    (answer) => {
      const expected = expect.objectContaining({
        code: "EVALUATOR_FAILED",
        message: expect.stringContaining('"task-1"') as string,
      }) as Error;
      expect(() => json()(taskOf({ answer }), episodeOf("{}"))).toThrow(expected);
      const calls = functionCalls({ answer: () => [{ f: { a: [answer.a] } }] });
      expect(() => calls(taskOf({}), callOf("{}"))).toThrow(expected);
    },
  );
});

describe("schemas", () => {
  it.each([
    [{ properties: { a: { type: "integer" } } }, `{"a":${large}}`, 1],
    [{ properties: { a: { type: "integer" } } }, '{"a":1.0}', 1],
    [{ properties: { a: { const: null } } }, '{"a":1e400}', 0],
    [{ properties: { a: { maximum: 10 } } }, '{"a":1e400}', 0],
    [{ properties: { a: { type: "number" } } }, '{"a":NaN}', 0],
  ])("%j of %s", (schema, text, reward) => {
    expect(json({ schema })(taskOf({}), episodeOf(text)).reward).toBe(reward);
  });
});
