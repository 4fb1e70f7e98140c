/**
 * Fireworks' serverless API as it was recorded, in this process: futures that are not ready at once,
 * requests carried out in the order of their numbers, idempotency keys, sessions that have to be deleted.
 */
import { serve } from "@hono/node-server";
import { createRandom } from "../../src/util/random.ts";
import { end, logprobOf, no, passOver, yes, type WireDatum } from "./toy-policy.ts";

type Json = Record<string, unknown>;

export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Json | null;
}

/** What happens instead: a response, or `refused` (never arrives), `lost` (arrives; the response does not). */
export type Fault = Response | "refused" | "lost" | null;

export interface StandInOptions {
  readonly accounts?: readonly string[];
  readonly capabilities?: Json;
  /** Polls that say "try again" before there is a result. @default 1 */
  readonly polls?: number;
  readonly fault?: (request: SeenRequest) => Fault;
}

interface Model {
  readonly session: string;
  readonly isFrozen: boolean;
  weight: number;
  ascent: number;
  steps: number;
  next: number;
  snapshots: number;
  /** Requests that came before their turn. */
  readonly early: Map<number, () => void>;
}

interface Future {
  readonly result: () => Json | null;
  polls: number;
}

const serverless = "/training/v1/serverless";
const run = (n: number): string => `run-${n.toString(16).padStart(32, "0")}`;

export class FireworksStandIn {
  readonly requests: SeenRequest[] = [];
  /** Sessions that are there. */
  readonly sessions = new Set<string>();
  readonly models = new Map<string, Model>();
  /** Weights by the path that a save returned. */
  readonly snapshots = new Map<string, number>();
  readonly states = new Map<string, { readonly weight: number; readonly session: string }>();
  readonly promoted = new Map<string, string>();
  heartbeats = 0;
  fault: (request: SeenRequest) => Fault;
  readonly #options: StandInOptions;
  readonly #futures = new Map<string, Future>();
  readonly #byKey = new Map<
    string,
    { readonly body: string; readonly result: () => Json | null }
  >();
  #count = 0;

  constructor(options: StandInOptions = {}) {
    this.#options = options;
    this.fault = options.fault ?? (() => null);
  }

  readonly fetch = async (input: string, init: RequestInit): Promise<Response> => {
    const url = new URL(input);
    const text = typeof init.body === "string" ? init.body : null;
    const request: SeenRequest = {
      method: init.method ?? "GET",
      path: url.pathname + url.search,
      headers: new Headers(init.headers),
      body: text === null ? null : (JSON.parse(text) as Json),
    };
    await Promise.resolve();
    init.signal?.throwIfAborted();
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault === "refused") throw new TypeError("fetch failed");
    if (fault instanceof Response) return fault;
    const response = this.#respond(request, url);
    if (fault === "lost") throw new TypeError("fetch failed");
    return response;
  };

  /** Forgets a promise: its poll is answered with 410. */
  forget(requestId: string): void {
    this.#futures.delete(requestId);
  }

  bodies(route: string): Json[] {
    return this.requests.flatMap(({ path, body }) =>
      path === `${serverless}/api/v1/${route}` && body !== null ? [body] : [],
    );
  }

  #respond(request: SeenRequest, url: URL): Response {
    const { method, body, headers } = request;
    if (headers.get("x-api-key") !== "fw_test")
      return fail(401, { error: { code: "UNAUTHENTICATED", message: "Invalid API key" } });
    const path = url.pathname;
    if (path === "/v1/accounts") {
      const accounts = this.#options.accounts ?? ["demo"];
      return Response.json({ accounts: accounts.map((id) => ({ name: `accounts/${id}` })) });
    }
    const named = /^\/v1\/accounts\/demo\/trainingSessions\/([^/]+)(.*)$/u.exec(path);
    if (named !== null) return this.#control(method, named[1]!, named[2]!, body);
    if (path === `${serverless}/inference/v1/completions`) return this.#complete(body!);
    const route = path.slice(`${serverless}/api/v1/`.length);
    if (route === "retrieve_future") return this.#retrieve(body!);
    if (route === "list_checkpoints")
      return Response.json({ checkpoints: [...this.states.keys()].map(lastPart) });
    return this.#once(request, route);
  }

  #control(method: string, session: string, rest: string, body: Json | null): Response {
    if (!this.sessions.has(session)) return fail(404, { code: 5, message: "session not found" });
    if (method === "DELETE") {
      this.sessions.delete(session);
      return Response.json({});
    }
    if (rest === "/checkpoints") {
      const listed = (paths: Iterable<string>, promotable: boolean) =>
        [...paths].map((path) => ({
          name: `accounts/demo/trainingSessions/${session}/checkpoints/${path.split("/").slice(1).join(".")}`,
          promotable,
        }));
      return Response.json({
        trainingSessionCheckpoints: [
          ...listed(this.snapshots.keys(), true),
          ...listed(this.states.keys(), false),
        ],
        nextPageToken: "",
      });
    }
    const [, name = ""] = /^\/checkpoints\/([^:]+):promote$/u.exec(rest) ?? [];
    if (this.promoted.has(body!["output_model"] as string))
      return fail(409, { code: 6, message: "model already exists" });
    this.promoted.set(body!["output_model"] as string, name);
    return Response.json({ model: { state: "READY", kind: "HF_PEFT_ADDON" } });
  }

  /** The same key brings the same promise; what was done is not done again. */
  #once({ body, headers }: SeenRequest, route: string): Response {
    if (route === "session_heartbeat") {
      this.heartbeats += 1;
      return Response.json({ type: "session_heartbeat" });
    }
    const key = headers.get("x-idempotency-key")!;
    const written = JSON.stringify(body);
    const known = this.#byKey.get(key);
    if (known !== undefined && known.body !== written)
      return fail(409, { error: { message: "idempotency key was used for another request" } });
    if (route === "create_session") {
      const session = known?.result() ?? this.#createSession();
      this.#byKey.set(key, { body: written, result: () => session });
      return Response.json(session);
    }
    let result = known?.result;
    if (result === undefined) {
      const started = this.#start(route, body!);
      if (started instanceof Response) return started;
      result = started;
      this.#byKey.set(key, { body: written, result });
    }
    const requestId = `req-${++this.#count}`;
    this.#futures.set(requestId, { result, polls: this.#options.polls ?? 1 });
    const model = result()?.["model_id"] ?? body!["model_id"];
    return Response.json({
      request_id: requestId,
      ...(model === undefined ? {} : { model_id: model }),
    });
  }

  #createSession(): Json {
    const id = `ts-${(++this.#count).toString(16).padStart(16, "0")}`;
    this.sessions.add(id);
    return { type: "create_session", session_id: id };
  }

  #start(route: string, body: Json): (() => Json | null) | Response {
    if (route === "create_model") {
      const session = body["session_id"] as string;
      if (!this.sessions.has(session)) return fail(404, { error: { message: "no session" } });
      const id = `${run(this.models.size)}:train:${String(body["model_seq_id"])}`;
      const isFrozen = body["base_only"] === true;
      const model = { weight: 0, ascent: 0, steps: 0, next: 1, snapshots: 0 };
      this.models.set(id, { session, isFrozen, ...model, early: new Map() });
      const { capabilities = { comms: "v1", supports_reinforce: true } } = this.#options;
      const answer = { type: "create_model", model_id: id, ...capabilities };
      return () => answer;
    }
    const model = this.models.get(body["model_id"] as string);
    if (model === undefined || !this.sessions.has(model.session))
      return fail(404, { error: { message: "model is not loaded" } });
    if (route === "unload_model") {
      this.models.delete(body["model_id"] as string);
      return () => ({ type: "unload_model", model_id: body["model_id"] });
    }
    const seq = body["seq_id"] as number;
    if (seq < model.next)
      return fail(409, { error: { message: "conflicts with durable request of this number" } });
    let result: Json | null = null;
    model.early.set(seq, () => {
      result = this.#work(route, body, model);
    });
    for (let work = model.early.get(model.next); work; work = model.early.get(model.next)) {
      model.next += 1;
      work();
    }
    return () => result;
  }

  #work(route: string, body: Json, model: Model): Json {
    const path = `demo/${(body["model_id"] as string).split(":")[0]}/${String(body["path"])}`;
    switch (route) {
      case "forward":
      case "forward_backward":
        return this.#pass(route, body, model);
      case "optim_step": {
        const { learning_rate: rate } = body["adam_params"] as { learning_rate: number };
        if (model.isFrozen) return failure("the reference cannot be trained");
        const norm = Math.abs(model.ascent);
        model.weight += rate * model.ascent;
        model.ascent = 0;
        model.steps += 1;
        return { metrics: { "grad_norm:mean": norm } };
      }
      case "save_weights_for_sampler":
        this.snapshots.set(path, model.weight);
        return { type: route, path };
      case "save_weights":
        if (this.states.has(path)) return failure("checkpoint already exists");
        this.states.set(path, { weight: model.weight, session: model.session });
        return { type: route, path };
      case "load_weights": {
        const state = this.states.get(body["path"] as string);
        if (state?.session !== model.session) return failure("no such checkpoint in this run");
        model.weight = state.weight;
        return { type: route, path: body["path"] };
      }
      default:
        return failure(`no route ${route}`);
    }
  }

  #pass(route: string, body: Json, model: Model): Json {
    const input = (body["forward_input"] ?? body["forward_backward_input"]) as {
      readonly data: readonly WireDatum[];
      readonly loss_fn: string;
      readonly loss_fn_config?: Record<string, number>;
    };
    if (input.data.some(({ loss_fn_inputs: inputs }) => "mask" in inputs))
      return failure("mask is not a loss input");
    const passes = input.data.map((datum) =>
      passOver(datum, input.loss_fn, input.loss_fn_config ?? {}, model.weight),
    );
    if (route === "forward_backward")
      model.ascent += passes.reduce((sum, { ascent }) => sum + ascent, 0);
    return {
      loss_fn_output_type: "TorchLossReturn",
      loss_fn_outputs: passes.map(({ logprobs }) => ({
        logprobs: { data: logprobs, dtype: "float32", shape: [logprobs.length] },
      })),
      metrics: { "loss:sum": passes.reduce((sum, { loss }) => sum + loss, 0) },
    };
  }

  #retrieve(body: Json): Response {
    const id = body["request_id"] as string;
    const future = this.#futures.get(id);
    if (future === undefined) return fail(410, { error: { message: "promise is gone" } });
    const result = future.result();
    if (result === null || future.polls-- > 0)
      return Response.json({ type: "try_again", request_id: id, queue_state: "active" });
    return Response.json(result);
  }

  #complete(body: Json): Response {
    const named = /^accounts\/demo\/trainingSessions\/([^/]+)(?:\/checkpoints\/(.+))?$/u.exec(
      body["model"] as string,
    );
    const [, session = "", snapshot] = named ?? [];
    const weight = snapshot === undefined ? 0 : this.snapshots.get(snapshot);
    if (!this.sessions.has(session) || weight === undefined)
      return fail(404, { error: { message: "model is not loaded" } });
    const random = createRandom((body["seed"] as number | undefined) ?? this.#count++);
    const prompt = body["prompt"] as number[];
    const temperature = body["temperature"] as number;
    const scaled = weight / (temperature === 0 ? 1e-3 : temperature);
    const token = random() < 1 / (1 + Math.exp(-scaled)) ? yes : no;
    const sampled = [token, end].slice(0, body["max_tokens"] as number);
    const entry = (id: number) => ({
      token: String(id),
      token_id: id,
      logprob: logprobOf(id, weight),
      sampling_logprob: logprobOf(id, scaled),
    });
    const ids = body["echo"] === true ? [...prompt, ...sampled] : sampled;
    return stream([
      {
        id: "cmpl-1",
        choices: [
          {
            index: 0,
            logprobs: { content: ids.map(entry) },
            finish_reason: sampled.length === 2 ? "stop" : "length",
            raw_output: { completion_token_ids: ids, prompt_token_ids: prompt },
          },
        ],
        usage: { prompt_tokens: prompt.length, completion_tokens: sampled.length },
        perf_metrics: { "prefill-queue-duration": "0.01" },
      },
    ]);
  }
}

export function stream(events: readonly object[], tail: string = "data: [DONE]\n\n"): Response {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text + tail, { headers: { "content-type": "text/event-stream" } });
}

export const fail = (status: number, body: object): Response => Response.json(body, { status });

const failure = (error: string): Json => ({ error, category: "user" });
const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A wait that passes at once, and is counted. */
export function countedSleep(): {
  readonly waits: number[];
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
} {
  const waits: number[] = [];
  return {
    waits,
    sleep: async (ms, signal) => {
      waits.push(ms);
      await new Promise<void>((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}

/** The same on a socket. */
export async function listen(
  server: FireworksStandIn,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const respond = async (request: Request): Promise<Response> => {
    const body = request.method === "POST" ? { body: await request.text() } : {};
    const { method, headers } = request;
    return server.fetch(request.url, { method, headers, ...body });
  };
  return new Promise((resolve) => {
    const socket = serve({ fetch: respond, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
      resolve({
        url: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise((done) => {
            socket.close(() => done());
          }),
      });
    });
  });
}
