/** Bodies of calls for those who look at them: whole, streamed, cut, and without keys. */
import { expect, it } from "vitest";
import type { HttpExchange } from "../../src/gateway/index.ts";
import { createTestGateway, userSays } from "./function-client.ts";

function listening(limit: number) {
  const taken: HttpExchange[] = [];
  const { open } = createTestGateway(
    () => "hi",
    {},
    {
      exchanges: { limit, take: (exchange) => void taken.push(exchange) },
    },
  );
  return { taken, open };
}

it("hands on both bodies as they were sent, with the id of the trace's response", async () => {
  const { taken, open } = listening(10_000);
  const session = await open();
  const body = { messages: [userSays("q")], temperature: 0.5, unknown_field: [1] };
  const response = await session.post(body);
  const text = await response.text();
  const [trace] = await session.traces();
  expect(taken).toHaveLength(1);
  const [exchange] = taken;
  expect(exchange).toMatchObject({
    response: trace!.response_id,
    path: "/v1/chat/completions",
    request: { text: JSON.stringify(body), length: JSON.stringify(body).length },
    reply: { text, length: text.length },
  });
  expect(JSON.stringify(exchange!.headers)).not.toContain(session.apiKey);
});

it("has the events of a stream", async () => {
  const { taken, open } = listening(10_000);
  const session = await open();
  const text = await (await session.post({ messages: [userSays("q")], stream: true })).text();
  expect(taken).toHaveLength(1);
  expect(taken[0]!.reply.text).toBe(text.replaceAll(/^:.*\n\n/gmu, ""));
  expect(taken[0]!.reply.text).toContain("data: [DONE]");
});

it("cuts long bodies, says how long they were, and shows no key", async () => {
  const { taken, open } = listening(100);
  const session = await open();
  const secret = "sk-abcdefghijklmnop";
  const body = { messages: [userSays(`${secret} ${"x".repeat(5000)}`)] };
  await (await session.post(body)).text();
  const [{ request, reply }] = taken as [HttpExchange];
  expect(request.length).toBe(JSON.stringify(body).length);
  expect(request.text.length).toBeLessThanOrEqual(100);
  expect(request.text).not.toContain(secret);
  expect(request.text).toContain("[redacted]");
  expect(reply.text.length).toBeLessThanOrEqual(100);
});

it("shows no beginning of a key where the body is cut", async () => {
  const prefix = JSON.stringify({ messages: [userSays("")] }).indexOf('""') + 1;
  const { taken, open } = listening(prefix + 6);
  const session = await open();
  await (await session.post({ messages: [userSays("sk-abcdefghijklmnop")] })).text();
  expect(taken[0]!.request.text).not.toContain("sk-");
});

it("hands on nothing for requests that are refused", async () => {
  const { taken, open } = listening(100);
  const session = await open();
  expect((await session.post({ messages: "no list" })).status).toBe(400);
  expect(taken).toEqual([]);
});
