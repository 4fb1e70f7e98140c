/**
 * An inference server that responds as a script says, and fails on request: for tests of what
 * stands in front of such servers. Speaks as vLLM, SGLang, llama.cpp's server or any other of OpenAI's
 * protocol do, over the byte renderer's tokens.
 */
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text as readBody } from "node:stream/consumers";
import { byteTokens } from "../byte-renderer.ts";
import { createScriptedSampler, type Script } from "../scripted-sampler.ts";
import type { UpstreamRequest, UpstreamAdapter, WireBody } from "./adapters/adapter.ts";
import { promptOf } from "./adapters/chat-prompt.ts";
import { llamacpp } from "./adapters/llamacpp.ts";
import { openai } from "./adapters/openai.ts";
import { sglang } from "./adapters/sglang.ts";
import { vllm } from "./adapters/vllm.ts";
import { cutAtStop } from "./sampled.ts";
import { deliver, type Fault } from "./fault.ts";

/** Options of a scripted inference server: its kind, its script, and the faults that it makes. */
export interface UpstreamOptions {
  /** @default "vllm" */
  readonly kind?: "vllm" | "sglang" | "llamacpp" | "openai";
  /** As in `createScriptedSampler`. */
  readonly script: Script;
  /** @default 65_536 */
  readonly contextLength?: number;
  /** @default "scripted" */
  readonly model?: string;
  /** What goes wrong with the call of this number, from 0. @default nothing */
  readonly fault?: (call: number) => Fault | undefined;
  /** Port to listen on; 0 takes a free one. @default 0 */
  readonly port?: number;
}

/** A request that was made to sample something. */
export interface UpstreamCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: WireBody;
}

/** A running inference server that replays a script, and the calls that it received. */
export interface Upstream extends AsyncDisposable {
  readonly url: string;
  /** In order of arrival, those that failed included. */
  readonly calls: readonly UpstreamCall[];
  /** Connections that are open now. */
  readonly connections: number;
  /** Calls whose response is not sent yet and whose caller is still there. */
  readonly active: number;
}

const adapters: Readonly<Record<NonNullable<UpstreamOptions["kind"]>, UpstreamAdapter>> = {
  vllm,
  sglang,
  llamacpp,
  openai,
};

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/**
 * Starts a scripted inference server on the loopback address.
 *
 * @example
 * await using upstream = await createUpstream({
 *   script: () => "4",
 *   fault: (call) => (call === 0 ? { type: "status", status: 503 } : undefined),
 * });
 */
export async function createUpstream(options: UpstreamOptions): Promise<Upstream> {
  const { kind = "vllm", script, contextLength = 65_536, model = "scripted", fault } = options;
  const adapter = adapters[kind];
  const sampler = createScriptedSampler(script, { contextLength, keepRequests: false });
  const calls: UpstreamCall[] = [];
  const sockets = new Set<Socket>();
  let active = 0;

  async function sampleCall(
    request: UpstreamRequest,
    response: ServerResponse,
    call: number,
  ): Promise<void> {
    const { prompt, n, stops, stream } = request;
    const refusal = adapter.refuse?.(request);
    if (refusal) {
      sendJson(response, refusal.status, refusal.body);
      return;
    }
    const room = contextLength - prompt.length;
    const { maxTokens = room } = request;
    const isChat = request.body["messages"] !== undefined;
    if (room < 1 || (isChat && maxTokens > room)) {
      const message = `This model's maximum context length is ${contextLength} tokens. However, you requested ${request.maxTokens ?? 0} output tokens and your prompt contains ${prompt.length} input tokens.`;
      sendJson(response, 400, { error: { message, type: "BadRequestError", code: 400 } });
      return;
    }
    const params = { temperature: 1, topP: 1, topK: 0, minP: 0, maxTokens, seed: 0 };
    const stopTokenIds = [byteTokens.turnEnd];
    const sampled = await sampler.sample({
      tokens: prompt,
      n,
      params: { ...params, stopTokenIds },
    });
    const cut = sampled.map((sample) => cutAtStop(sample, stops));
    const values = stream
      ? adapter.events(request, cut, model)
      : [adapter.whole(request, cut, model)];
    const contentType = stream ? "text/event-stream; charset=utf-8" : "application/json";
    const { end } = adapter;
    await deliver({ response, contentType, values, stream, end }, fault?.(call));
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "GET") {
      const found = adapter.probe(path, model, contextLength);
      sendJson(response, found ? 200 : 404, found ?? { detail: "Not Found" });
      return;
    }
    const body = JSON.parse(await readBody(request)) as WireBody;
    if (path === "/tokenize") {
      const tokens = Array.from(promptOf(body));
      sendJson(response, 200, { count: tokens.length, tokens });
      return;
    }
    const wanted = adapter.read(path, body);
    if (!wanted) {
      sendJson(response, 404, { detail: "Not Found" });
      return;
    }
    const call = calls.push({ path, headers: request.headers, body }) - 1;
    active++;
    response.once("close", () => active--);
    await sampleCall(wanted, response, call);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendJson(response, 500, { error: { message: String(error) } });
      else response.destroy();
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    get connections() {
      return sockets.size;
    },
    get active() {
      return active;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
