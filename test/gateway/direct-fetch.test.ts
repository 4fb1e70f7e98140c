import OpenAI, { APIUserAbortError } from "openai";
import { expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { gate, userSays } from "./function-client.ts";

const messages = [userSays("q")];
const options = { sampling: {}, seed: 1 };

/** A gateway on a socket, and the official client of one of its sessions, without or with that socket. */
async function open(target: ReturnType<typeof createScriptedTarget>) {
  const gateway = createGateway({ target, model: "m" });
  await gateway.listen();
  const openSession = async (uid: string, isDirect: boolean) => {
    const session = await gateway.sessions.open({ uid, ...options });
    const { baseUrl: baseURL, apiKey, fetch } = session;
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, ...(isDirect && { fetch }) });
    return { session, client: client.chat.completions };
  };
  return { openSession, [Symbol.asyncDispose]: () => gateway.close() };
}

it("gives the official client the same without a socket as through it", async () => {
  await using gateway = await open(createScriptedTarget(() => "abc"));
  const told = await Promise.all(
    [true, false].map(async (isDirect) => {
      const { session, client } = await gateway.openSession(String(isDirect), isDirect);
      const whole = await client.create({ model: "m", messages });
      let streamed = "";
      for await (const { choices } of await client.create({ model: "m", messages, stream: true }))
        streamed += choices[0]?.delta.content ?? "";
      const failed = await client
        .create({ model: "m", messages: [] })
        .then(null, ({ status, message }: InstanceType<typeof OpenAI.APIError>) => [
          status,
          message,
        ]);
      const traces = await session.traces();
      return {
        whole: whole.choices[0]?.message.content,
        streamed,
        failed,
        traces: traces.map(({ responseIds, logprobs }) => [responseIds, logprobs]),
      };
    }),
  );
  expect(told[0]).toEqual(told[1]);
  expect(told[0]).toMatchObject({
    whole: "abc",
    streamed: "abc",
    failed: [400, expect.any(String)],
  });
});

/** Samples two tokens, and then nothing more; `reached` opens when it does. */
function stuckTarget() {
  const { opened: reached, open: reach } = gate();
  const target = createScriptedTarget(() => "abcdef", {
    beforeChunk: (_, sampled) => {
      if (sampled < 2) return;
      reach();
      return new Promise<void>(() => undefined);
    },
  });
  return { target, reached };
}

const untrained = [{ untrainable: "client disconnected", responseIds: Int32Array.of(97, 98) }];

it("ends a call that its client aborts", async () => {
  const { target, reached } = stuckTarget();
  await using gateway = await open(target);
  const { session, client } = await gateway.openSession("s", true);
  const abort = new AbortController();
  const { signal } = abort;
  const call = client.create({ model: "m", messages }, { signal }).then(null, (error) => error);
  await reached;
  abort.abort();
  expect(await call).toBeInstanceOf(APIUserAbortError);
  expect(await session.traces()).toMatchObject(untrained);
});

it("ends a stream that its client aborts", async () => {
  const { target, reached } = stuckTarget();
  await using gateway = await open(target);
  const { session, client } = await gateway.openSession("s", true);
  const abort = new AbortController();
  const { signal } = abort;
  const stream = await client.create({ model: "m", messages, stream: true }, { signal });
  await reached;
  abort.abort();
  // The official client's iterator then ends without an error.
  for await (const _ of stream);
  expect(await session.traces()).toMatchObject(untrained);
});

it("leaves requests to others to the global fetch", async () => {
  await using gateway = await open(createScriptedTarget(() => "abc"));
  const { session } = await gateway.openSession("s", true);
  const response = await session.fetch!("data:text/plain,elsewhere");
  expect(await response.text()).toBe("elsewhere");
});
