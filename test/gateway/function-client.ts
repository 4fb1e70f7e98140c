/** The gateway as a function, without a socket, as tests use it. */
import { createGateway, type Gateway, type GatewayOptions } from "../../src/gateway/index.ts";
import {
  createScriptedTarget,
  type Script,
  type ScriptedSamplerOptions,
  type ScriptedSampler,
} from "../../src/testing/index.ts";

export const origin = "http://gateway.test";

export interface WireMessage {
  role: string;
  content: string | null;
  reasoning_content?: string;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
}

export interface WireChoice {
  index: number;
  message: WireMessage;
  finish_reason: string;
  logprobs: { content: { token: string; logprob: number }[] } | null;
}

export interface WireCompletion {
  id: string;
  object: string;
  model: string;
  choices: WireChoice[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

export interface WireTrace {
  trace_id: string;
  response_id: string;
  trajectory_id: string | null;
  sequence: number;
  choice: number;
  messages: WireMessage[];
  response_message: WireMessage;
  malformed: string | null;
  prompt_token_ids: number[];
  completion_token_ids: number[];
  logprobs: number[];
  finish_reason: string;
  weight_version: number;
  sampling_params: Record<string, unknown>;
  parent_trace_id: string | null;
  untrainable: string | null;
}

export interface WireError {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export interface TestSession {
  readonly url: string;
  readonly apiKey: string;
  /** POST to this session's chat completions (or to another path under its URL). */
  post(body: unknown, init?: RequestInit & { path?: string }): Promise<Response>;
  /** As `post`, but the answer must be a 200. */
  complete(body: unknown, path?: string): Promise<WireCompletion>;
  traces(): Promise<WireTrace[]>;
  close(): Promise<Response>;
}

export interface TestGateway {
  readonly gateway: Gateway;
  readonly sampler: ScriptedSampler;
  admin(method: string, path: string, body?: unknown): Promise<Response>;
  open(options?: Record<string, unknown>): Promise<TestSession>;
}

export function createTestGateway(
  script: Script,
  options: ScriptedSamplerOptions = {},
  gatewayOptions: Partial<GatewayOptions> = {},
): TestGateway {
  const target = createScriptedTarget(script, options);
  const gateway = createGateway({ target, model: "scripted", ...gatewayOptions });
  const admin = (method: string, path: string, body?: unknown): Promise<Response> =>
    gateway.fetch(
      new Request(origin + path, {
        method,
        headers: { authorization: `Bearer ${gateway.adminToken}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  let count = 0;
  return {
    gateway,
    sampler: target.sampler as ScriptedSampler,
    admin,
    open: async (sessionOptions = {}) => {
      const uid = `session-${count++}`;
      const response = await admin("POST", "/sessions", { session_id: uid, ...sessionOptions });
      const opened = (await response.json()) as {
        session_id: string;
        url: string;
        api_key: string;
      };
      const path = `/sessions/${encodeURIComponent(opened.session_id)}`;
      const post: TestSession["post"] = (body, { path: under, ...init } = {}) =>
        gateway.fetch(
          new Request(`${opened.url}${under ?? "/chat/completions"}`, {
            method: "POST",
            headers: { authorization: `Bearer ${opened.api_key}` },
            body: typeof body === "string" ? body : JSON.stringify(body),
            ...init,
          }),
        );
      return {
        url: opened.url,
        apiKey: opened.api_key,
        post,
        complete: async (body, under) => {
          const answer = await post(body, under === undefined ? {} : { path: under });
          if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
          return (await answer.json()) as WireCompletion;
        },
        traces: async () => (await (await admin("GET", `${path}/traces`)).json()) as WireTrace[],
        close: () => admin("DELETE", path),
      };
    },
  };
}

export function userSays(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

/** The data of each server-sent event. */
export async function readEvents(response: Response): Promise<string[]> {
  const text = await response.text();
  const events = text.split("\n\n");
  if (events.pop() !== "") throw new Error("The stream does not end with a blank line.");
  return events.map((event) => event.replace(/^data: /, ""));
}

export interface WireChunk {
  id: string;
  object: string;
  choices: {
    index: number;
    delta: {
      role?: string;
      content?: string;
      reasoning_content?: string;
      tool_calls?: { index: number; id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string | null;
    logprobs: { content: { logprob: number }[] } | null;
  }[];
  usage?: { total_tokens: number } | null;
}

export async function readChunks(response: Response): Promise<WireChunk[]> {
  const events = await readEvents(response);
  if (events.pop() !== "[DONE]") throw new Error("The stream does not end with [DONE].");
  return events.map((event) => JSON.parse(event) as WireChunk);
}

/** A promise with its ends outside. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
}

export const weatherTool = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
} as const;
