/**
 * Schemas that cost more than they look, in requests: a 400 that names the limit, while the calls of other
 * sessions go on. `SOAK=1` sends 10,000 random ones and reports the slowest call of another session.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { JsonValue } from "../../../src/core/message.ts";
import { createGateway, type Gateway } from "../../../src/gateway/index.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";
import { hostileSchemas } from "../../grammar/hostile-schemas.ts";
import { randomSchema } from "../../grammar/random-schema.ts";

const isSoak = process.env["SOAK"] === "1";
const count = isSoak ? 10_000 : 60;

let gateway: Gateway;
beforeAll(async () => {
  gateway = createGateway({ target: createScriptedTarget(() => '{"a": 1}'), model: "m" });
  await gateway.listen();
});
afterAll(() => gateway[Symbol.asyncDispose]());

type Send = (
  fields: object,
  signal?: AbortSignal,
) => Promise<{ readonly status: number; readonly text: string }>;

async function open(uid: string): Promise<Send> {
  const { baseUrl, apiKey } = await gateway.sessions.open({
    ...{ uid, seed: 1, sampling: { maxTokens: 20 } },
  });
  return async (fields, signal) => {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      signal: signal ?? null,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "q" }], ...fields }),
    });
    return { status: response.status, text: await response.text() };
  };
}

const formOf = (schema: JsonValue): object => ({
  response_format: { type: "json_schema", json_schema: { name: "a", schema } },
});
const plain: JsonValue = { type: "object", properties: { a: { type: "integer" } } };

it("are refused with the limit, and the field", async () => {
  const send = await open("limits");
  for (const [name, expected, schema] of hostileSchemas) {
    if (expected === "works" || name.includes("lists within lists")) continue;
    const { status, text } = await send(formOf(schema));
    expect([name, status]).toEqual([name, 400]);
    const { error } = JSON.parse(text) as { error: { message: string; param: string } };
    expect(error.param).toBe("response_format");
    expect(error.message).toMatch(/^The schema of response_format cannot be read: .*(\d|URI)/u);
  }
});

it("nested without end are refused, too", async () => {
  const send = await open("nested");
  let schema: JsonValue = {};
  for (let depth = 0; depth < 2000; depth++) schema = { items: schema };
  const { status } = await send(formOf(schema));
  expect(status).toBe(400);
});

it("of a strict tool are told, and the call goes on", async () => {
  const send = await open("tools");
  const parameters = { type: "object", patternProperties: { "a.{40}b": {} } };
  const { status } = await send({
    tools: [{ type: "function", function: { name: "t", strict: true, parameters } }],
  });
  expect(status).toBe(200);
});

it("do not keep other sessions waiting", async () => {
  const [stranger, other] = await Promise.all([open("stranger"), open("other")]);
  let pending = 12;
  const slow = Array.from({ length: pending }, async (_, i) => {
    const { status } = await stranger(formOf({ type: "string", pattern: `${i}.{40}b` }));
    pending--;
    return status;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await other({})).status).toBe(200);
  expect((await other(formOf(plain))).status).toBe(200);
  expect(pending).toBeGreaterThan(5);
  expect(new Set(await Promise.all(slow))).toEqual(new Set([400]));
});

it(`${count} random ones have a status, and other sessions their responses`, async () => {
  const [stranger, other] = await Promise.all([open("fuzz"), open("beside")]);
  const statuses = new Map<number, number>();
  let seed = 0;
  const one = async (): Promise<void> => {
    while (seed < count) {
      const { status } = await stranger(formOf(randomSchema(100_000 + seed++)));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const strangers = { areDone: false };
  const took: number[] = [];
  const beside = (async () => {
    while (!strangers.areDone) {
      const start = performance.now();
      const { status } = await other(took.length % 2 === 0 ? {} : formOf(plain));
      took.push(performance.now() - start);
      expect(status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  await Promise.all([one(), one(), one(), one()]);
  strangers.areDone = true;
  await beside;
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 400)).toEqual([]);
  if (isSoak) {
    took.sort((a, b) => a - b);
    const [median, worst] = [took[took.length >> 1]!, took.at(-1)!];
    console.info(
      `${took.length} calls next to them: median ${median.toFixed(1)} ms, slowest ${worst.toFixed(1)} ms`,
    );
  }
}, 3_600_000);
