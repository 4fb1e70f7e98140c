import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../util/random.ts";
import { readJsonResponses } from "./json-responses.ts";

/** What is read of a stream of events that arrives in these pieces. */
async function readAll(bytes: Buffer, cuts: readonly number[]): Promise<unknown[]> {
  async function* body(): AsyncGenerator<Buffer, void, undefined> {
    let from = 0;
    for (const to of [...cuts, bytes.length]) {
      yield bytes.subarray(from, to);
      from = to;
    }
  }
  const response = { status: 200, header: () => "text/event-stream", body: body() };
  const values: unknown[] = [];
  for await (const together of readJsonResponses(response, "w", (json) => json)) {
    values.push(...together);
  }
  return values;
}

const tokens = ["Hi", ' th"ere', "\n", " é", " 世界", "🙂", "\\", "", "\u2028", " a"];
const logprobs = [-0.5, 0, -12, -1.5e-7, -9999, 1e21, -0.1234567890123456, -1e-300, 2 ** 60, -3];

function chunk(i: number, fields: object = {}): object {
  const token = tokens[i % tokens.length] as string;
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    choices: [
      {
        index: 0,
        delta: { content: token },
        logprobs: {
          content: [
            {
              token,
              logprob: logprobs[i % logprobs.length],
              bytes: [...Buffer.from(token)],
              top_logprobs: [],
            },
          ],
        },
        finish_reason: null,
        token_ids: [i * 7919],
        ...fields,
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: i + 1 },
  };
}

function eventsOf(values: readonly object[], end = "\n\n"): string {
  return values.map((value) => `data: ${JSON.stringify(value)}${end}`).join("");
}

describe("readJsonResponses of events", () => {
  const values = [
    {
      choices: [{ index: 0, delta: { role: "assistant", content: "" } }],
      prompt_token_ids: [1, 2],
    },
    ...Array.from({ length: 5 }, (_, i) => chunk(i)),
    chunk(5, { finish_reason: "stop", stop_reason: null }),
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 6 } },
  ];

  it.each(["\n\n", "\r\n\r\n"])("reads the same wherever a stream is cut (%j)", async (end) => {
    const bytes = Buffer.from(`${eventsOf(values, end)}data: [DONE]${end}data: {"late": 1}${end}`);
    const expected = JSON.stringify(values);
    for (let at = 0; at <= bytes.length; at++) {
      expect(JSON.stringify(await readAll(bytes, [at])), `cut at ${at}`).toBe(expected);
    }
    const every = Array.from({ length: bytes.length }, (_, i) => i);
    expect(await readAll(bytes, every)).toEqual(values);
  });

  it("reads the same when cut into pieces of any size", async () => {
    const bytes = Buffer.from(eventsOf(values));
    const random = createRandom(7);
    for (let round = 0; round < 50; round++) {
      const cuts: number[] = [];
      for (let at = 0; at < bytes.length; at += 1 + Math.floor(random() * 400)) cuts.push(at);
      expect(await readAll(bytes, cuts)).toEqual(values);
    }
  });

  it("reads what JSON.parse reads, whatever changes between events", async () => {
    const random = createRandom(11);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const leaf = (): unknown =>
      pick<() => unknown>([
        () => pick(tokens),
        () => pick(logprobs),
        () => Math.floor(random() * 1e6),
        () => Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * 99)),
        () => pick([null, true, false, {}, [], [null], -0]),
        () => ({ [pick(tokens)]: pick(logprobs), __proto__x: [pick(tokens)] }),
      ])();
    for (let round = 0; round < 60; round++) {
      const shape = Array.from({ length: 4 }, (_, i) => [`f${i}`, leaf()] as const);
      const texts = Array.from({ length: 20 }, () => {
        const fields = shape.map(([name, value]) => [name, random() < 0.5 ? value : leaf()]);
        const value = { a: "const", nested: [Object.fromEntries(fields)] };
        return JSON.stringify(value, null, random() < 0.1 ? 0 : undefined);
      });
      const bytes = Buffer.from(texts.map((text) => `data: ${text}\n\n`).join(""));
      const cut = Math.floor(random() * bytes.length);
      expect(await readAll(bytes, [cut])).toEqual(texts.map((text) => JSON.parse(text) as unknown));
    }
  });

  it("refuses what JSON.parse refuses, though the event before looked the same", async () => {
    const good = ['{"a": 1, "s": "x", "l": [1]}', '{"a": 2, "s": "y", "l": [2]}'];
    const broken = [
      '{"a": 01, "s": "y", "l": [2]}',
      '{"a": -, "s": "y", "l": [2]}',
      '{"a": 1., "s": "y", "l": [2]}',
      '{"a": 1e, "s": "y", "l": [2]}',
      '{"a": +1, "s": "y", "l": [2]}',
      '{"a": , "s": "y", "l": [2]}',
      '{"a": 2, "s": "\\x", "l": [2]}',
      '{"a": 2, "s": "\u0001", "l": [2]}',
      '{"a": 2, "s": "y", "l": [2,]}',
      '{"a": 2, "s": "y", "l": [,2]}',
      '{"a": 2, "s": "y", "l": [02]}',
      '{"a": 2, "s": "y", "l": [2]',
      '{"a": 2, "s": "y", "l": [2]}}',
    ];
    for (const event of broken) {
      expect(() => JSON.parse(event)).toThrow(SyntaxError);
      const bytes = Buffer.from(
        [...good, ...good, event].map((text) => `data: ${text}\n\n`).join(""),
      );
      await expect(readAll(bytes, []), event).rejects.toThrow("is not JSON");
    }
  });

  it("keeps names that come twice, and __proto__, as JSON.parse does", async () => {
    const texts = [1, 2, 3, 4].flatMap((i) => [
      `{"a": ${i}, "a": ${i + 1}}`,
      `{"__proto__": ${i}, "b": ${i}}`,
    ]);
    const bytes = Buffer.from(texts.map((text) => `data: ${text}\n\n`).join(""));
    const expected = texts.map((text) => JSON.parse(text) as unknown);
    expect(JSON.stringify(await readAll(bytes, []))).toBe(JSON.stringify(expected));
  });

  it("joins data lines, skips comments and other fields, and drops an event whose id comes again", async () => {
    const same = `data: ${JSON.stringify(chunk(1))}`;
    const text = [
      `\uFEFF: hello\n\n${same}\n\n${same}\n\n${same}\n\n`,
      'event: x\ndata: {"a":\ndata: 1}\n\n',
      `id: 7\n${same}\n\n`,
      `id: 7\n${same}\n\n`,
      `${same}\nid: 7\n\n`,
      `${same}\n\n`,
      "data:{}\nretry: 3\n\n",
    ].join("");
    const event = chunk(1);
    const expected = [event, event, event, { a: 1 }, event, event, event, {}];
    // The third with id 7 follows one with the same id, so it is dropped.
    expected.splice(5, 1);
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at++) {
      expect(JSON.stringify(await readAll(bytes, [at]))).toBe(JSON.stringify(expected));
    }
  });

  it("reads a long first event with the prompt's ids, wherever it is cut", async () => {
    const ids = Array.from({ length: 3000 }, (_, i) => i * 31);
    const first = { prompt_token_ids: ids, choices: [{ index: 0, delta: { content: "é" } }] };
    const bytes = Buffer.from(eventsOf([first, ...values]));
    const expected = [{ ...first, prompt_token_ids: Int32Array.from(ids) }, ...values];
    const lineEnd = bytes.indexOf("\n");
    const cuts = [
      1,
      5,
      6,
      7,
      30,
      5000,
      lineEnd - 1,
      lineEnd,
      lineEnd + 1,
      lineEnd + 3,
      bytes.length - 1,
    ];
    for (const cut of cuts) expect(await readAll(bytes, [cut]), `cut at ${cut}`).toEqual(expected);
  });

  it("reads the last event of a stream without its empty line, and nothing of half of one", async () => {
    const whole = eventsOf([chunk(0), chunk(1), chunk(2)]).trimEnd();
    expect(await readAll(Buffer.from(whole), [])).toEqual([chunk(0), chunk(1), chunk(2)]);
    // Half of one is the mark of a stream that was cut, which is noticed by what it lacks.
    expect(await readAll(Buffer.from(whole.slice(0, -1)), [])).toEqual([chunk(0), chunk(1)]);
  });
});
