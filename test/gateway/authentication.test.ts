import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { createTestGateway, origin, userSays, type WireError } from "./function-client.ts";

const body = JSON.stringify({ messages: [userSays("x")] });

async function errorOf(response: Response): Promise<WireError["error"]> {
  return ((await response.json()) as WireError).error;
}

describe("tokens", () => {
  it("open their own session and nothing else", async () => {
    const { gateway, open } = createTestGateway(() => "ok");
    const [mine, other] = [await open(), await open()];
    const call = (url: string, token?: string): Promise<Response> =>
      gateway.fetch(
        new Request(`${url}/chat/completions`, {
          method: "POST",
          body,
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        }),
      );
    expect((await call(mine.url, mine.apiKey)).status).toBe(200);
    const unknown = `${origin}/sessions/nobody/v1`;
    const refused = [
      await call(mine.url),
      await call(mine.url, ""),
      await call(mine.url, `${mine.apiKey}x`),
      await call(mine.url, gateway.adminToken),
      await call(other.url, mine.apiKey),
      await call(unknown, mine.apiKey),
    ];
    const errors = await Promise.all(refused.map(errorOf));
    expect(refused.map((response) => response.status)).toEqual(errors.map(() => 401));
    // The same words for a session of someone else and for none at all.
    expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1);
    expect(errors[0]).toMatchObject({ type: "invalid_request_error", code: "invalid_api_key" });
    expect(await other.traces()).toEqual([]);
  });

  it("of a session do not open admin routes", async () => {
    const { gateway, open } = createTestGateway(() => "ok");
    const session = await open();
    const attempts = [
      ["POST", "/sessions"],
      ["GET", "/sessions/session-0/traces"],
      ["DELETE", "/sessions/session-0"],
    ] as const;
    for (const [method, path] of attempts) {
      const headers = { authorization: `Bearer ${session.apiKey}` };
      const init = method === "POST" ? { method, headers, body: "{}" } : { method, headers };
      expect((await gateway.fetch(new Request(origin + path, init))).status).toBe(401);
    }
    expect((await session.post({ messages: [userSays("x")] })).status).toBe(200);
  });

  it("are revoked when the session closes, and traces are forgotten", async () => {
    const { open, admin } = createTestGateway(() => "ok");
    const session = await open();
    await session.complete({ messages: [userSays("x")] });
    expect(await (await session.close()).json()).toEqual({ deleted: 1 });
    expect((await session.post({ messages: [userSays("x")] })).status).toBe(401);
    expect((await admin("GET", "/sessions/session-0/traces")).status).toBe(404);
    expect(await (await session.close()).json()).toEqual({ deleted: 0 });
    await admin("POST", "/sessions", { session_id: "session-0" });
    expect(await (await admin("GET", "/sessions/session-0/traces")).json()).toEqual([]);
    expect((await session.post({ messages: [userSays("x")] })).status).toBe(401);
  });

  it("for admins can be chosen", async () => {
    const target = createScriptedTarget([]);
    const gateway = createGateway({ target, model: "m", adminToken: "chosen" });
    const open = (token: string): Promise<Response> =>
      gateway.fetch(
        new Request(`${origin}/sessions`, {
          method: "POST",
          body: "{}",
          headers: { authorization: `bearer ${token}` },
        }),
      );
    expect((await open("chosen")).status).toBe(201);
    expect((await open("other")).status).toBe(401);
    expect(() => createGateway({ target, model: "m", adminToken: "" })).toThrow("adminToken");
  });
});

describe("paths", () => {
  it("give a hostile agent nothing", async () => {
    const { gateway, open } = createTestGateway(() => "ok");
    const mine = await open();
    const victim = await open();
    await victim.complete({ messages: [userSays("secret")] });
    const tricks = [
      "/sessions/session-0/../session-1/v1/chat/completions",
      "/sessions/session-0/%2e%2e/session-1/v1/chat/completions",
      "/sessions/session-0%2f..%2fsession-1/v1/chat/completions",
      "/sessions/session-0%2F..%2Fsession-1/v1/chat/completions",
      "/sessions/session-0%252f..%252fsession-1/v1/chat/completions",
      "/sessions/session-0\\..\\session-1/v1/chat/completions",
      "/sessions//session-1/v1/chat/completions",
      "//sessions/session-1/v1/chat/completions",
      "/sessions/session-1//v1/chat/completions",
      "/sessions/session-0/v1/../../session-1/v1/chat/completions",
      "/sessions/session-0/trajectories/..%2f..%2fsession-1/v1/../../../../session-1/v1/chat/completions",
      "/sessions/session-0/v1/sessions/session-1/v1/chat/completions",
      "/sessions/session-0/trajectories/t/v1/../../../traces",
      "/sessions/session-0/v1/../traces",
      "/sessions/session-0/v1/..%2ftraces",
      "/sessions/session-1/traces",
      "/sessions/session-1/traces/",
      "/sessions/session-1%2ftraces",
      "/sessions/session-1",
      "/sessions/session-1?x=/sessions/session-0/v1/chat/completions",
      "/sessions/session-1#/sessions/session-0/v1/chat/completions",
      "/sessions",
      "/sessions/%",
      "/SESSIONS/session-1/v1/chat/completions",
      "/sessions/session-0/v1/chat%2fcompletions",
      "/v1/chat/completions",
    ];
    for (const path of tricks) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const headers = { authorization: `Bearer ${mine.apiKey}` };
        const init = method === "POST" ? { method, headers, body } : { method, headers };
        const response = await gateway.fetch(new Request(origin + path, init));
        expect([path, method, [401, 404].includes(response.status)]).toEqual([path, method, true]);
        expect(await response.text()).not.toContain("secret");
      }
    }
    expect(await victim.traces()).toHaveLength(1);
    expect(await mine.traces()).toEqual([]);
  });

  it("carry uids of any characters", async () => {
    const { gateway, admin } = createTestGateway(() => "ok");
    const uids = [
      "",
      ".",
      "..",
      "~",
      "~..",
      "a/b",
      "a/../b",
      "%2f",
      "%",
      "ü 😀",
      "?#&",
      "v1",
      "traces",
      "a\nb",
    ];
    const call = (url: string, apiKey: string): Promise<Response> =>
      gateway.fetch(
        new Request(`${url}/chat/completions`, {
          method: "POST",
          body,
          headers: { authorization: `Bearer ${apiKey}` },
        }),
      );
    const opened: { session_id: string; url: string; api_key: string }[] = [];
    for (const uid of uids) {
      const response = await admin("POST", "/sessions", { session_id: uid });
      opened.push((await response.json()) as (typeof opened)[number]);
    }
    for (const { session_id, url, api_key } of opened) {
      expect((await call(url, api_key)).status).toBe(200);
      const path = new URL(url).pathname.replace(/\/v1$/, "/traces");
      const traces = await (await admin("GET", path)).json();
      expect(traces).toMatchObject([{ session_id }]);
    }
    expect(new Set(opened.map(({ url }) => new URL(url).href)).size).toBe(uids.length);
  });
});

describe("bad requests", () => {
  it("are refused by name", async () => {
    const { open } = createTestGateway(() => "ok");
    const session = await open();
    const messages = [userSays("x")];
    const image = { type: "image_url", image_url: { url: "data:," } };
    const tool = { type: "function", function: { name: "f" } };
    const other = { type: "function", function: { name: "g" } };
    const cases: [object, string | null][] = [
      [{}, "messages"],
      [{ messages: [] }, "messages"],
      [{ messages: "x" }, "messages"],
      [{ messages: [1] }, "messages[0]"],
      [{ messages: [{ role: "robot", content: "x" }] }, "messages[0].role"],
      [{ messages: [{ role: "user" }] }, "messages[0].content"],
      [{ messages: [{ role: "user", content: null }] }, "messages[0].content"],
      [{ messages: [...messages, { role: "user", content: [image] }] }, "messages[1].content[0]"],
      [{ messages: [{ role: "tool", content: "x" }] }, "messages[0].tool_call_id"],
      [
        { messages: [{ role: "assistant", tool_calls: [{ id: "a" }] }] },
        "messages[0].tool_calls[0]",
      ],
      [{ messages, model: 1 }, "model"],
      [{ messages, n: 0 }, "n"],
      [{ messages, n: 1.5 }, "n"],
      [{ messages, temperature: -1 }, "temperature"],
      [{ messages, temperature: "1" }, "temperature"],
      [{ messages, top_p: 0 }, "top_p"],
      [{ messages, max_tokens: 0 }, "max_tokens"],
      [{ messages, max_completion_tokens: 0 }, "max_completion_tokens"],
      [{ messages, stop: "" }, "stop"],
      [{ messages, stop: [1] }, "stop"],
      [{ messages, seed: 0.5 }, "seed"],
      [{ messages, stream: "yes" }, "stream"],
      [{ messages, tools: [{ type: "custom" }] }, "tools[0]"],
      [{ messages, tool_choice: "required" }, "tool_choice"],
      [{ messages, tools: [tool], tool_choice: other }, "tool_choice"],
      [{ messages, logprobs: true, top_logprobs: 21 }, "top_logprobs"],
      [{ messages, frequency_penalty: 0.1 }, "frequency_penalty"],
      [{ messages, presence_penalty: -1 }, "presence_penalty"],
      [{ messages, logit_bias: { 1: 2 } }, "logit_bias"],
      [
        {
          messages,
          response_format: { type: "json_schema", json_schema: { schema: { type: 1 } } },
        },
        "response_format",
      ],
      [{ messages, chat_template_kwargs: { x: 1 } }, "chat_template_kwargs"],
      [{ messages, functions: [{}] }, "functions"],
    ];
    for (const [request, param] of cases) {
      const response = await session.post(request);
      const error = await errorOf(response);
      expect([request, response.status, error.param]).toEqual([request, 400, param]);
      expect(error.message).toContain(param ?? "");
      expect(error.type).toBe("invalid_request_error");
    }
    expect(await session.traces()).toEqual([]);
  });

  it("get a status of their own", async () => {
    const { open, gateway, admin } = createTestGateway(() => "ok", {}, { maxBodyBytes: 200 });
    const session = await open();
    for (const text of ["", "{", "[1]", "null"]) {
      const response = await session.post(text);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).code).toBe("invalid_json");
    }
    const large = JSON.stringify({ messages: [userSays("x".repeat(200))] });
    expect((await session.post(large)).status).toBe(413);
    const headers = { authorization: `Bearer ${session.apiKey}`, "content-length": "1" };
    expect((await session.post(large, { headers })).status).toBe(413);
    const nowhere = await session.post({}, { path: "/nowhere" });
    expect(nowhere.status).toBe(404);
    expect((await errorOf(nowhere)).code).toBe("not_found");
    expect((await session.post(undefined, { method: "GET", body: null })).status).toBe(405);
    expect((await gateway.fetch(new Request(`${origin}/health`, { method: "POST" }))).status).toBe(
      405,
    );
    expect((await gateway.fetch(new Request(`${origin}/nowhere`))).status).toBe(404);
    expect((await admin("PUT", "/sessions")).status).toBe(405);
    const taken = await admin("POST", "/sessions", { session_id: "session-0" });
    expect(taken.status).toBe(409);
    const unknown = await admin("POST", "/sessions", { sampling_params: { beams: 2 } });
    expect((await errorOf(unknown)).param).toBe("sampling_params.beams");
    const halfPair = await admin("POST", "/sessions", { session_id: "\uD800" });
    expect(halfPair.status).toBe(400);
  });
});

it("lists its model and tells its health", async () => {
  const { gateway, open } = createTestGateway(() => "ok", {}, { model: "org/name" });
  const session = await open();
  const get = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${session.apiKey}` };
    return (await gateway.fetch(new Request(session.url + path, { headers }))).json();
  };
  expect(await get("/models")).toMatchObject({
    object: "list",
    data: [{ id: "org/name", object: "model" }],
  });
  expect(await get("/models/org%2Fname")).toMatchObject({ id: "org/name" });
  expect(await get("/models/other")).toMatchObject({ error: { code: "model_not_found" } });
  const health = await gateway.fetch(new Request(`${origin}/health`));
  expect(await health.json()).toEqual({ status: "ok" });
});
