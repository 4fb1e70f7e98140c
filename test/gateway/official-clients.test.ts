/** What the official clients do by themselves on a bad network: each call captured once, in its own session. */
import { once } from "node:events";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { RolloutSession } from "../../src/core/session.ts";
import { createGateway, type Gateway } from "../../src/gateway/index.ts";
import { createScriptedTarget, type Script } from "../../src/testing/index.ts";

const model = "scripted";
const messages = [{ role: "user" as const, content: "q" }];

interface Network extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly sockets: ReadonlySet<Socket>;
  open(uid: string): Promise<RolloutSession & { readonly url: string }>;
}

/** A gateway behind a proxy that loses the first `losses` responses, after they came as a whole. */
async function openNetwork(script: Script, losses = 0): Promise<Network> {
  const gateway = createGateway({ target: createScriptedTarget(script), model });
  const { url } = await gateway.listen();
  const sockets = new Set<Socket>();
  let left = losses;
  const proxy: Server = createServer((incoming, outgoing) => {
    const { method, headers, url: path } = incoming;
    const forward = httpRequest(url + path, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () => {
        if (left-- > 0) incoming.socket.destroy();
        else outgoing.writeHead(response.statusCode!, response.headers).end(Buffer.concat(chunks));
      });
    });
    incoming.pipe(forward);
  });
  proxy.on("connection", (socket) => sockets.add(socket));
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    gateway,
    sockets,
    open: async (uid) => {
      const session = await gateway.sessions.open({ uid, seed: 1, sampling: { maxTokens: 50 } });
      const path = session.baseUrl.slice(url.length);
      return Object.assign(session, { url: `http://127.0.0.1:${port}${path}` });
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      proxy.closeAllConnections();
      await gateway.close();
    },
  };
}

const openAi = (at: { url: string; apiKey: string }): OpenAI =>
  new OpenAI({ baseURL: at.url, apiKey: at.apiKey, maxRetries: 2 });
const anthropic = (at: { url: string; apiKey: string }): Anthropic =>
  new Anthropic({
    baseURL: at.url.replace(/\/v1$/u, ""),
    apiKey: at.apiKey,
    authToken: null,
    maxRetries: 2,
  });

type Ask = (at: {
  url: string;
  apiKey: string;
}) => Promise<{ readonly id: string; readonly text: string }>;

const clients: Readonly<Record<string, Ask>> = {
  "openai, chat": async (at) => {
    const { id, choices } = await openAi(at).chat.completions.create({ model, messages });
    return { id, text: choices[0]!.message.content! };
  },
  "openai, chat, streamed": async (at) => {
    const stream = openAi(at).chat.completions.stream({ model, messages });
    const { id, choices } = await stream.finalChatCompletion();
    return { id, text: choices[0]!.message.content! };
  },
  "openai, completions": async (at) => {
    const { id, choices } = await openAi(at).completions.create({ model, prompt: "q" });
    return { id, text: choices[0]!.text };
  },
  "openai, responses": async (at) => {
    const { id, output_text: text } = await openAi(at).responses.create({ model, input: "q" });
    return { id, text };
  },
  "openai, responses, streamed": async (at) => {
    const stream = openAi(at).responses.stream({ model, input: "q" });
    const { id, output_text: text } = await stream.finalResponse();
    return { id, text };
  },
  anthropic: async (at) => {
    const { id, content } = await anthropic(at).messages.create({ model, messages, max_tokens: 9 });
    return { id, text: (content[0] as { text: string }).text };
  },
  "anthropic, streamed": async (at) => {
    const stream = anthropic(at).messages.stream({ model, messages, max_tokens: 9 });
    const { id, content } = await stream.finalMessage();
    return { id, text: (content[0] as { text: string }).text };
  },
};

describe.concurrent.each(Object.entries(clients))("%s", (_name, ask) => {
  it("a response that is lost on its way is captured once, and sent again", async () => {
    let sampled = 0;
    await using network = await openNetwork(() => `reply ${++sampled}`, 1);
    const [one, other] = [await network.open("one"), await network.open("other")];
    const { id, text } = await ask(one);
    expect(text).toBe("reply 1");
    expect(await one.traces()).toMatchObject([{ responseId: id, response: { content: text } }]);
    // The same call in another session, and the same call again, are new ones.
    expect((await ask(other)).text).toBe("reply 2");
    expect((await ask(one)).text).toBe("reply 3");
    expect((await one.traces()).map(({ untrainable }) => untrainable)).toEqual([
      undefined,
      undefined,
    ]);
    expect(await other.traces()).toHaveLength(1);
  });
});

it("of equal calls at the same time, a repetition takes none that arrived", async () => {
  let sampled = 0;
  await using network = await openNetwork(() => {
    sampled++;
    // The second is a failure of the server, which clients repeat as well.
    if (sampled === 2) throw new Error("no");
    return `reply ${sampled}`;
  });
  const session = await network.open("s");
  const first = await clients["openai, chat"]!(session);
  const second = await clients["openai, chat"]!(session);
  expect([first.text, second.text]).toEqual(["reply 1", "reply 3"]);
  expect((await session.traces()).map(({ responseId }) => responseId)).toEqual([
    first.id,
    second.id,
  ]);
});

it("rollouts that share connections keep their calls apart", async () => {
  await using network = await openNetwork(({ text }) => `reply to ${/task \d+/u.exec(text)![0]}`);
  const sessions = await Promise.all(Array.from({ length: 12 }, (_, i) => network.open(`${i}`)));
  // Clients of one process have the same pool of connections.
  for (let turn = 0; turn < 3; turn++) {
    for (const [i, session] of sessions.entries()) {
      const content = `task ${i}`;
      await openAi(session).chat.completions.create({
        ...{ model, messages: [{ role: "user", content }] },
      });
    }
  }
  expect(network.sockets.size).toBeLessThan(6);
  for (const [i, session] of sessions.entries()) {
    const traces = await session.traces();
    expect(traces.map(({ response }) => response.content)).toEqual(
      Array.from({ length: 3 }, () => `reply to task ${i}`),
    );
  }
});

describe("a stream that its client ends in the middle", () => {
  const endless: Script = () => "word ".repeat(2_000);

  it.each<[string, (session: RolloutSession) => Promise<void>]>([
    [
      "openai, chat",
      async ({ baseUrl: url, apiKey }) => {
        const stream = await openAi({ url, apiKey }).chat.completions.create({
          ...{ model, messages, stream: true },
        });
        for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
      },
    ],
    [
      "openai, responses",
      async ({ baseUrl: url, apiKey }) => {
        const stream = openAi({ url, apiKey }).responses.stream({ model, input: "q" });
        for await (const event of stream) if (event.type === "response.output_text.delta") break;
      },
    ],
    [
      "anthropic",
      async ({ baseUrl: url, apiKey }) => {
        const stream = anthropic({ url, apiKey }).messages.stream({
          ...{ model, messages, max_tokens: 10_000 },
        });
        stream.once("text", () => stream.abort());
        await expect(stream.done()).rejects.toThrow(/abort/iu);
      },
    ],
  ])("%s: is captured once, and not trained on", async (_name, ask) => {
    let chunks = 0;
    await using gateway = createGateway({
      target: createScriptedTarget(endless, {
        beforeChunk: async () => {
          // The model is slow enough for its client to leave.
          if (++chunks > 20) await new Promise((resolve) => setTimeout(resolve, 5));
        },
      }),
      model,
    });
    await gateway.listen();
    const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
    await ask(session);
    await expect
      .poll(async () => (await session.traces()).map(({ untrainable }) => untrainable))
      .toEqual(["client disconnected"]);
  });
});

it("Anthropic's cache markers, beta headers and system messages inside messages are accepted", async () => {
  await using gateway = createGateway({ target: createScriptedTarget(() => "ok"), model });
  await gateway.listen();
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  const client = anthropic({ url: session.baseUrl, apiKey: session.apiKey });
  const cache_control = { type: "ephemeral", ttl: "1h" } as const;
  const { content } = await client.beta.messages.create({
    model,
    max_tokens: 9,
    betas: ["extended-cache-ttl-2025-04-11", "interleaved-thinking-2025-05-14"],
    system: [{ type: "text", text: "first", cache_control }],
    tools: [{ name: "f", input_schema: { type: "object" }, cache_control }],
    messages: [
      { role: "user", content: [{ type: "text", text: "one", cache_control }] },
      { role: "assistant", content: "two" },
      { role: "system", content: "a reminder" } as never,
      { role: "user", content: "three" },
    ],
  });
  expect(content[0]).toMatchObject({ text: "ok" });
  const [trace] = await session.traces();
  expect(trace!.messages.map(({ role, content: text }) => [role, text])).toEqual([
    ["system", "first"],
    ["user", "one"],
    ["assistant", "two"],
    ["system", "a reminder"],
    ["user", "three"],
  ]);
});
