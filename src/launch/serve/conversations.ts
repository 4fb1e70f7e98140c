/**
 * The session that a request runs in. Each request has a separate one, which ends with its response; those of
 * the Responses API stay, since a later request may continue one by its id.
 */
import { randomInt, randomUUID } from "node:crypto";
import type { Gateway } from "../../gateway/gateway.ts";
import { referredResponses } from "../../gateway/routes/responses/references.ts";
import { endOfBody } from "./end-of-body.ts";
import { type CallOrigin, callOrigin, type ModelRequest } from "./model-request.ts";

interface OpenSession {
  readonly uid: string;
  readonly apiKey: string;
  /** Of its last request. */
  about: CallOrigin;
}

/** Responses that can be continued. */
const maxKept = 1000;
const origin = "http://127.0.0.1";

export class Conversations {
  readonly #gateway: Gateway;
  /** By the id of a response, the one used last at the end. */
  readonly #kept = new Map<string, OpenSession>();
  readonly #open = new Map<string, OpenSession>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Never rejects: failures are responses. */
  async respond(request: ModelRequest): Promise<Response> {
    const { path, body, fields, headers, signal } = request;
    const isKept = path === "responses";
    const known = isKept ? this.#continued(fields) : undefined;
    const about = callOrigin(request);
    const session = known ?? (await this.#begin(fields["seed"], about));
    session.about = about;
    const own = new Headers({
      authorization: `Bearer ${session.apiKey}`,
      "content-type": "application/json",
    });
    for (const name of ["anthropic-version", "anthropic-beta"]) {
      const value = headers.get(name);
      if (value !== null) own.set(name, value);
    }
    const url = `${origin}/sessions/${session.uid}/v1/${path}`;
    const response = await this.#gateway.fetch(
      new Request(url, { method: "POST", headers: own, body, signal }),
    );
    let isContinued = known !== undefined;
    return endOfBody(response, {
      id: isKept ? /"id":\s*"(resp_[0-9a-f]+)"/u : null,
      onId: (id) => {
        isContinued = true;
        this.#keep(id, session);
      },
      onEnd: () => {
        if (!isContinued) void this.#close(session);
      },
    });
  }

  /** What the request of a call in flight says about itself. */
  originOf(sessionUid: string): CallOrigin | undefined {
    return this.#open.get(sessionUid)?.about;
  }

  /** The session of the response that a request continues, by its id or by that of an item. */
  #continued(fields: ModelRequest["fields"]): OpenSession | undefined {
    const previous = fields["previous_response_id"];
    const own = typeof previous === "string" ? this.#kept.get(previous) : undefined;
    if (own !== undefined) return own;
    for (const id of referredResponses(fields["input"])) {
      const session = this.#kept.get(id);
      if (session !== undefined) return session;
    }
    return undefined;
  }

  /** With a seed of the client, equal requests have equal responses. */
  async #begin(seed: unknown, about: CallOrigin): Promise<OpenSession> {
    const uid = randomUUID();
    const own = typeof seed === "number" ? 0 : randomInt(2 ** 32);
    const body = JSON.stringify({ session_id: uid, seed: own });
    const opened = await this.#gateway.fetch(this.#admin("/sessions", { method: "POST", body }));
    const { api_key: apiKey } = (await opened.json()) as { readonly api_key: string };
    const session = { uid, apiKey, about };
    this.#open.set(uid, session);
    return session;
  }

  async #close({ uid }: OpenSession): Promise<void> {
    this.#open.delete(uid);
    await this.#gateway.fetch(this.#admin(`/sessions/${uid}`, { method: "DELETE" }));
  }

  #keep(id: string, session: OpenSession): void {
    this.#kept.set(id, session);
    const [oldest] = this.#kept;
    if (this.#kept.size <= maxKept || oldest === undefined) return;
    this.#kept.delete(oldest[0]);
    const isUsed = [...this.#kept.values()].some(({ uid }) => uid === oldest[1].uid);
    if (!isUsed) void this.#close(oldest[1]);
  }

  #admin(path: string, init: RequestInit): Request {
    const headers = { authorization: `Bearer ${this.#gateway.adminToken}` };
    return new Request(origin + path, { ...init, headers });
  }
}
