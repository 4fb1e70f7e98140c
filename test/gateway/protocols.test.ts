/** Protocols without a client: failures in the middle, and who may speak. */
import { describe, expect, it } from "vitest";
import { createTestGateway, userSays, type TestGateway } from "./function-client.ts";

const model = "scripted";
const messages = [userSays("q")];
const paths = {
  "/completions": { model, prompt: "q", max_tokens: 90 },
  "/responses": { model, input: "q" },
  "/messages": { model, messages, max_tokens: 90 },
};

function breaking(): TestGateway {
  return createTestGateway(() => "abcdef", {
    beforeChunk: (_call, sampled) => {
      if (sampled === 3) throw new Error("secret reason");
    },
  });
}

async function lastEvents(gateway: TestGateway, path: keyof typeof paths): Promise<unknown[]> {
  const session = await gateway.open();
  const response = await session.post({ ...paths[path], stream: true }, { path });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const text = await response.text();
  expect(text).not.toContain("secret");
  expect(await session.traces()).toEqual([]);
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.replace(/^(event: .*\n)?data: /, "")) as unknown);
}

describe("a failure in the middle of a stream is told in the protocol's own shape", () => {
  it("by completions", async () => {
    const events = await lastEvents(breaking(), "/completions");
    expect(events.at(-1)).toMatchObject({ error: { type: "server_error" } });
  });

  it("by responses", async () => {
    const events = await lastEvents(breaking(), "/responses");
    expect(events.slice(-2)).toMatchObject([
      { type: "response.failed", response: { status: "failed", error: { code: "server_error" } } },
      { type: "error", code: "internal_error" },
    ]);
  });

  it("by messages", async () => {
    const events = await lastEvents(breaking(), "/messages");
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "api_error" } });
  });
});

describe("messages", () => {
  it("take the key in either header, under either path", async () => {
    const { gateway, open } = createTestGateway(() => "a");
    const session = await open();
    const status = async (path: string, headers: Record<string, string>): Promise<number> => {
      const body = JSON.stringify(paths["/messages"]);
      const url = session.url + path;
      return (await gateway.fetch(new Request(url, { method: "POST", headers, body }))).status;
    };
    expect(await status("/messages", { "x-api-key": session.apiKey })).toBe(200);
    expect(await status("/v1/messages", { "x-api-key": session.apiKey })).toBe(200);
    expect(await status("/messages", { authorization: `Bearer ${session.apiKey}` })).toBe(200);
    expect(await status("/messages", { "x-api-key": "wrong" })).toBe(401);
    expect(await status("/messages", {})).toBe(401);
    expect(await status("/v1/v1/messages", { "x-api-key": session.apiKey })).toBe(404);
  });

  it("name what is wrong with them", async () => {
    const session = await createTestGateway(() => "a").open();
    const cases: readonly (readonly [object, string])[] = [
      [{ messages }, "max_tokens is missing"],
      [{ messages: [], max_tokens: 1 }, "at least one message"],
      [{ messages: [{ role: "user", content: [] }], max_tokens: 1 }, "messages[0].content"],
      [
        { messages: [{ role: "user", content: [{ type: "tool_result" }] }], max_tokens: 1 },
        "messages[0].content[0].tool_use_id is missing",
      ],
      [{ messages, max_tokens: 1, tools: [{}] }, "tools[0].name is missing"],
      [{ messages, max_tokens: 1, stop_sequences: [""] }, "stop_sequences"],
    ];
    for (const [body, words] of cases) {
      const response = await session.post(body, { path: "/messages" });
      expect(response.status).toBe(400);
      const told = (await response.json()) as { type: string; error: { message: string } };
      expect(told.type).toBe("error");
      expect(told.error.message).toContain(words);
    }
  });
});
