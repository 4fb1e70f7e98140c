/** A Fireworks server of the built-in model in this process, and requests to it as they come over the wire. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadRenderer } from "../../../src/models/renderers/load.ts";
import {
  createFireworksServer,
  type FireworksServerOptions,
  type TinkerServer,
} from "../../../src/tinker-server/index.ts";
import { modelPath } from "../local-server.ts";

export const key = "fw_test";
export const baseModel = "accounts/fireworks/models/shop-tiny";
export const account = "local";

// oxlint-disable-next-line typescript/no-explicit-any -- what comes over the wire is compared, not used
export type Json = Record<string, any>;

export interface SampledToken {
  readonly token: string;
  readonly token_id: number;
  readonly logprob: number;
  readonly sampling_logprob: number | null;
}

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
  options: Partial<FireworksServerOptions> = {},
): Promise<LocalFireworks> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "fireworks-"));
  const server = await createFireworksServer({
    modelPath,
    modelName: "shop-tiny",
    renderer: await loadRenderer(modelPath),
    token: key,
    threads: 2,
    precision: "f32",
    pollMs: 2000,
    ...options,
    folder,
  });
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

/** One datum: `advantages` make it one for policy losses. */
export function datum(tokens: number[], more: Record<string, number[]> = {}): Json {
  const inputs = Object.entries(more).map(([name, data]) => [
    name,
    { data, dtype: "float32", shape: [data.length] },
  ]);
  const length = tokens.length - 1;
  return {
    model_input: { chunks: [{ type: "encoded_text", tokens: tokens.slice(0, -1) }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens.slice(1), dtype: "int64", shape: [length] },
      ...Object.fromEntries(inputs),
    },
  };
}

export function forwardBackward(
  modelId: string,
  seqId: number,
  data: Json[],
  loss = "cross_entropy",
  config?: Json,
): Json {
  const input = { data, loss_fn: loss, ...(config ? { loss_fn_config: config } : {}) };
  return { forward_backward_input: input, model_id: modelId, seq_id: seqId };
}

export function optimStep(modelId: string, seqId: number, more: Json = {}): Json {
  const adam = { learning_rate: 0.05 };
  return { adam_params: adam, model_id: modelId, seq_id: seqId, type: "optim_step", ...more };
}

export function snapshot(modelId: string, seqId: number, path: string): Json {
  return {
    model_id: modelId,
    path,
    seq_id: seqId,
    type: "save_weights_for_sampler",
    checkpoint_type: "base",
  };
}
