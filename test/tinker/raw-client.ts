/** Requests to a Tinker server as they come over the wire, from clients of others. */
import type { TinkerServer } from "../../src/tinker-server/index.ts";
import { token } from "./local-server.ts";

export type Json = Readonly<Record<string, unknown>>;

export interface RawClient {
  /** A body as text keeps what `JSON.stringify` would not write. */
  post(
    route: string,
    body: Json | string | Uint8Array<ArrayBuffer>,
    type?: string,
  ): Promise<Response>;
  send(
    method: string,
    route: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  resultOf(response: Response): Promise<Json>;
  createSession(): Promise<string>;
  /** In a session of its own, unless one is given. */
  createModel(options?: { sessionId?: string; rank?: number; seqId?: number }): Promise<string>;
}

export function rawClient({ fetch }: TinkerServer): RawClient {
  const at = (route: string): string => `http://tinker.test/api/v1/${route}`;
  const client: RawClient = {
    post: (route, body, type = "application/json") =>
      fetch(
        new Request(at(route), {
          method: "POST",
          headers: { "x-api-key": token, "content-type": type },
          body:
            typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
        }),
      ),
    send: (method, route, headers = {}) => fetch(new Request(at(route), { method, headers })),
    async resultOf(response) {
      const { request_id: id, ...rest } = (await response.json()) as Json;
      if (id === undefined) return { status: response.status, ...rest };
      for (;;) {
        const result = await client.post("retrieve_future", { request_id: id });
        const json = (await result.json()) as Json;
        if (json["type"] !== "try_again") return json;
      }
    },
    async createSession() {
      return String(
        ((await (await client.post("create_session", {})).json()) as Json)["session_id"],
      );
    },
    async createModel({ sessionId, rank = 2, seqId = 0 } = {}) {
      const response = await client.post("create_model", {
        session_id: sessionId ?? (await client.createSession()),
        model_seq_id: seqId,
        base_model: "shop-tiny",
        lora_config: { rank },
      });
      const result = await client.resultOf(response);
      if (typeof result["model_id"] === "string") return result["model_id"];
      throw new Error(JSON.stringify(result));
    },
  };
  return client;
}
