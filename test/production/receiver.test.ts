/** What the receiver refuses, bounds and says: by the rules of OTLP over HTTP. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { describe, expect, it } from "vitest";
import { startReceiver } from "./collected.ts";

const id = (n: number, length: number): string => n.toString(16).padStart(length, "0");
const spanOf = (n: number, more: object = {}): object => ({
  traceId: id(n, 32),
  spanId: id(n, 16),
  name: "chat",
  startTimeUnixNano: "1700000000000000000",
  endTimeUnixNano: "1700000001000000000",
  ...more,
});
const requestOf = (...spans: readonly object[]): object => ({
  resourceSpans: [{ scopeSpans: [{ spans }] }],
});
const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } });

type Sent = string | Uint8Array<ArrayBuffer>;

const post = (url: string, body: Sent, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

describe("OTLP", () => {
  it("answers with the message of the encoding, empty where all was taken", async () => {
    await using receiver = await startReceiver();
    const response = await post(receiver.url, JSON.stringify(requestOf(spanOf(1))));
    expect([response.status, await response.json()]).toEqual([200, {}]);
    const proto = await post(receiver.url, new Uint8Array(0), {
      "content-type": "application/x-protobuf",
    });
    expect([proto.status, proto.headers.get("content-type")]).toEqual([
      200,
      "application/x-protobuf",
    ]);
    expect(
      ProtobufTraceSerializer.deserializeResponse(new Uint8Array(await proto.arrayBuffer())),
    ).toEqual({});
  });

  it("rejects spans that it cannot read, counts and keeps them aside, and takes the others", async () => {
    await using receiver = await startReceiver();
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const bad = [
      spanOf(2, { traceId: "x" }),
      spanOf(3, {
        attributes: [
          attribute("gen_ai.operation.name", "chat"),
          attribute(
            "gen_ai.input.messages",
            `[{"role": "user", "name": "sk-abcdefgh12345678", "content": {"a": ${deep}}}]`,
          ),
        ],
      }),
    ];
    const response = await post(receiver.url, JSON.stringify(requestOf(spanOf(1), ...bad)));
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(response.status).toBe(200);
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({
      partialSuccess: { rejectedSpans: "2", errorMessage: "a span has no valid trace id" },
    });
    expect(JsonTraceSerializer.deserializeResponse(bytes)).toMatchObject({
      partialSuccess: { rejectedSpans: "2" },
    });
    expect(receiver.spans().map(({ id: own }) => own)).toEqual([id(1, 16)]);
    const kept = readFileSync(join(receiver.folder, "rejected.jsonl"), "utf8");
    expect(kept).toContain("Maximum call stack");
    expect(kept).not.toContain("sk-abc");
    expect(receiver.counts).toMatchObject({ spans: 1, rejected: 2 });
  });

  it("takes as many spans as a request may have", async () => {
    await using receiver = await startReceiver({ maxSpans: 3 });
    const spans = [1, 2, 3, 4, 5].map((n) => spanOf(n));
    const response = await post(receiver.url, JSON.stringify(requestOf(...spans)));
    expect(await response.json()).toMatchObject({ partialSuccess: { rejectedSpans: "2" } });
    expect(receiver.spans().length).toBe(3);
  });

  it.each<readonly [string, Sent, Record<string, string>, number]>([
    ["no JSON", "{", {}, 400],
    ["no request", '{"spans": []}', {}, 400],
    [
      "no protobuf",
      new Uint8Array([0x0a, 0xff]),
      { "content-type": "application/x-protobuf" },
      400,
    ],
    ["another type", "{}", { "content-type": "text/plain" }, 415],
    ["another encoding", "{}", { "content-encoding": "br" }, 415],
    ["no gzip", "{}", { "content-encoding": "gzip" }, 400],
    ["a large body", " ".repeat(2000), {}, 413],
    [
      "a body that unpacks to much",
      gzipSync(" ".repeat(100_000)),
      { "content-encoding": "gzip" },
      413,
    ],
  ])("refuses %s for good", async (_, body, headers, status) => {
    await using receiver = await startReceiver({ maxBodyBytes: 1000 });
    const response = await post(receiver.url, body, headers);
    expect(response.status).toBe(status);
    expect(response.headers.has("retry-after")).toBe(false);
    expect(receiver.spans()).toEqual([]);
  });

  it("asks to send again what its disk has no room for", async () => {
    await using receiver = await startReceiver({ maxBytes: 300 });
    const body = JSON.stringify(requestOf(...[1, 2, 3, 4].map((n) => spanOf(n))));
    const response = await post(receiver.url, body);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(receiver.counts.spans).toBe(0);
    expect((await post(receiver.url, JSON.stringify(requestOf(spanOf(1))))).status).toBe(200);
  });

  it("keeps no secrets of what was said", async () => {
    await using receiver = await startReceiver();
    const said = [{ role: "user", content: "my key is sk-abcdefgh12345678, and mail a@b.de" }];
    const attributes = [
      attribute("gen_ai.operation.name", "chat"),
      attribute("gen_ai.input.messages", JSON.stringify(said)),
    ];
    await post(receiver.url, JSON.stringify(requestOf(spanOf(1, { attributes }))));
    const [span] = receiver.spans();
    expect(span!.model!.messages).toEqual([
      { role: "user", content: "my key is [redacted], and mail a@b.de" },
    ]);
  });

  it("says which calls have no text", async () => {
    await using receiver = await startReceiver();
    const attributes = [attribute("gen_ai.operation.name", "chat")];
    await post(receiver.url, JSON.stringify(requestOf(spanOf(1, { attributes }), spanOf(2))));
    expect(receiver.counts).toMatchObject({ spans: 2, modelCalls: 1, withoutText: 1 });
  });
});

describe("access", () => {
  it("is for programs of this machine, or with the key", async () => {
    await using open = await startReceiver();
    const body = JSON.stringify(requestOf(spanOf(1)));
    expect((await post(open.url, body, { origin: "https://example.com" })).status).toBe(403);
    await using locked = await startReceiver({ key: "secret-key" });
    expect((await post(locked.url, body)).status).toBe(401);
    expect((await post(locked.url, body, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await post(locked.url, body, { authorization: "Bearer secret-key" })).status).toBe(200);
    expect((await fetch(`${locked.url}/feedback`, { method: "POST", body: "{}" })).status).toBe(
      401,
    );
  });

  it("has two paths, and one method", async () => {
    await using receiver = await startReceiver();
    expect((await fetch(`${receiver.url}/v1/metrics`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${receiver.url}/v1/traces`)).status).toBe(405);
  });
});

describe("feedback", () => {
  const send = (url: string, body: unknown): Promise<Response> =>
    fetch(`${url}/feedback`, { method: "POST", body: JSON.stringify(body) });

  it("takes one piece or a list, days later too", async () => {
    await using receiver = await startReceiver();
    await send(receiver.url, { traceId: "t", thumb: "up", at: 5 });
    const more = [
      { responseId: "r", score: 0.2, correction: "no", at: 6 },
      { conversationId: "c", outcome: { refunded: true }, at: 7 },
    ];
    expect(await (await send(receiver.url, more)).json()).toEqual({ accepted: 2 });
    expect(receiver.feedback()).toEqual([{ traceId: "t", thumb: "up", at: 5 }, ...more]);
  });

  it("refuses all of a list with one that is none, and says why", async () => {
    await using receiver = await startReceiver();
    const response = await send(receiver.url, [{ traceId: "t", thumb: "up" }, { traceId: "t" }]);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("says nothing") },
    });
    expect(receiver.feedback()).toEqual([]);
    expect((await send(receiver.url, undefined)).status).toBe(400);
  });
});
