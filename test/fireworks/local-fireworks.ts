/** A Fireworks server of the built-in model in this process, and requests to it as they come over the wire. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadRenderer } from "../../src/models/renderers/load.ts";
import type { TinkerServer, TinkerServerOptions } from "../../src/tinker-server/index.ts";
import { createService, serveApp } from "../../src/tinker-server/server.ts";
import { createFireworksApp } from "./served/app.ts";
import { newSessionId } from "./served/names.ts";
import { modelPath } from "../tinker/local-server.ts";

export const key = "fw_test";
export const baseModel = "accounts/fireworks/models/shop-tiny";
export const account = "local";

// oxlint-disable-next-line typescript/no-explicit-any -- what comes over the wire is compared, not used
export type Json = Record<string, any>;

export interface LocalFireworks extends AsyncDisposable {
  readonly server: TinkerServer;
  readonly folder: string;
  send(
    method: string,
    path: string,
    body?: Json | string,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** To a route of the training API. */
  post(route: string, body: Json | string, headers?: Record<string, string>): Promise<Response>;
  /** Polls; what was refused at once comes with its status. */
  resultOf(response: Response): Promise<Json>;
  /** Both: the request, and its result. */
  call(route: string, body: Json | string): Promise<Json>;
  createSession(): Promise<string>;
  createModel(sessionId?: string, options?: Json): Promise<{ modelId: string; sessionId: string }>;
  /** The choices of a completion that is streamed. */
  complete(model: string, options?: Json): Promise<Json[]>;
}

export async function startFireworks(
  options: Partial<TinkerServerOptions> = {},
): Promise<LocalFireworks> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "fireworks-"));
  const service = await createService(
    {
      modelPath,
      modelName: "shop-tiny",
      renderer: await loadRenderer(modelPath),
      token: key,
      threads: 2,
      precision: "f32",
      ...options,
      folder,
    },
    { newSessionId, unreadInForward: ["logprobs", "advantages"] },
  );
  const limits = { pollMs: 2000, metadataBytes: 2 ** 20, maxBodyBytes: 2 ** 26 };
  const server = serveApp(
    service,
    createFireworksApp({ service, account, ...limits }, { token: key }),
  );
  const local: LocalFireworks = {
    server,
    folder,
    send: (method, path, body, headers = { "x-api-key": key }) =>
      server.fetch(
        new Request(`http://fireworks.test${path}`, {
          method,
          headers: { "content-type": "application/json", ...headers },
          ...(body === undefined
            ? {}
            : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        }),
      ),
    post: (route, body, headers = {}) =>
      local.send("POST", `/training/v1/serverless/api/v1/${route}`, body, {
        "x-api-key": key,
        ...headers,
      }),
    async resultOf(response) {
      const json = (await response.json()) as Json;
      if (json["request_id"] === undefined) return { status: response.status, ...json };
      for (;;) {
        const polled = await local.post("retrieve_future", { request_id: json["request_id"] });
        const result = (await polled.json()) as Json;
        if (result["type"] !== "try_again") return result;
      }
    },
    call: async (route, body) => local.resultOf(await local.post(route, body)),
    async createSession() {
      return ((await (await local.post("create_session", {})).json()) as Json)["session_id"];
    },
    async createModel(sessionId, { seq = 0, ...rest } = {}) {
      const id = sessionId ?? (await local.createSession());
      const result = await local.call("create_model", {
        session_id: id,
        model_seq_id: seq,
        base_model: baseModel,
        ...(rest["base_only"] ? {} : { lora_config: { rank: 2, alpha: 32, seed: 7 } }),
        ...rest,
      });
      if (typeof result["model_id"] !== "string") throw new Error(JSON.stringify(result));
      return { modelId: result["model_id"], sessionId: id };
    },
    async complete(model, more = {}) {
      const response = await local.send(
        "POST",
        "/training/v1/serverless/inference/v1/completions",
        {
          model,
          prompt: [40, 41, 42],
          max_tokens: 6,
          temperature: 1,
          top_p: 1,
          top_k: 0,
          logprobs: true,
          raw_output: true,
          seed: 3,
          stream: true,
          ...more,
        },
      );
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      return eventsOf(text).flatMap(({ choices }) => choices as Json[]);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  return local;
}

/** Of a stream that must end with [DONE]. */
export function eventsOf(stream: string): Json[] {
  const events = stream.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
  if (events.pop() !== "data: [DONE]") throw new Error(`A stream without an end: ${stream}`);
  return events.map((event) => JSON.parse(event.replace(/^data: /u, "")) as Json);
}
