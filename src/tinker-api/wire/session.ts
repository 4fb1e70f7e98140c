/** A session of a server: heartbeats keep it alive, and models are made in it. */
import { awaitJson, issue, type TinkerCallOptions } from "./futures.ts";
import type { Json, Transport } from "./transport.ts";

const heartbeatTimeoutMs = 10_000;
/** Without a heartbeat for so long, the server may end the session. */
const silenceMs = 120_000;

export interface CreatedModel {
  readonly modelId: string;
  /** What the server says of it. */
  readonly answer: Json;
}

export class Session {
  readonly id: string;
  readonly transport: Transport;
  readonly #heartbeat: NodeJS.Timeout;
  #nextModel = 0;
  #lastHeartbeat = Date.now();
  /** Silence after which there is something to say. */
  #nextWarningMs = silenceMs;

  private constructor(transport: Transport, id: string) {
    this.transport = transport;
    this.id = id;
    this.#heartbeat = setInterval(() => void this.#beat(), transport.settings.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Opens a session, and passes on what the server has to say. */
  static async open(transport: Transport, body: object): Promise<Session> {
    const answer = await transport.post("create_session", { ...body, type: "create_session" });
    for (const kind of ["info", "warning", "error"] as const) {
      const message = answer[`${kind}_message`];
      if (typeof message === "string" && message !== "")
        transport.settings.onWarning(`${transport.profile.service} says (${kind}): ${message}`);
    }
    return new Session(transport, transport.field(answer, "session_id"));
  }

  async #beat(): Promise<void> {
    const { transport } = this;
    const error = await transport
      .attempt({
        method: "POST",
        path: transport.route("session_heartbeat"),
        json: { session_id: this.id, type: "session_heartbeat" },
        timeoutMs: heartbeatTimeoutMs,
      })
      .then(
        (outcome) => (outcome.kind === "ok" ? null : outcome.fault.error),
        (thrown: Error) => thrown,
      );
    if (error === null) {
      this.#lastHeartbeat = Date.now();
      this.#nextWarningMs = silenceMs;
      return;
    }
    const silence = Date.now() - this.#lastHeartbeat;
    if (silence < this.#nextWarningMs) return;
    this.#nextWarningMs = silence + silenceMs;
    transport.settings.onWarning(
      `${transport.profile.service} has had no heartbeat for ${Math.round(silence / 1000)} s: ${error.message}`,
    );
  }

  /** @param fields of the request: the base model, and what of it is trained. */
  async createModel(fields: object, options: TinkerCallOptions): Promise<CreatedModel> {
    const { transport } = this;
    const issued = await issue(transport, {
      method: "POST",
      path: transport.route("create_model"),
      json: {
        ...fields,
        session_id: this.id,
        model_seq_id: this.#nextModel++,
        type: "create_model",
      },
      signal: options.signal,
    });
    const answer = await awaitJson(transport, issued, { ...options, type: "CreateModel" });
    return { modelId: transport.field(answer, "model_id", issued.modelId), answer };
  }

  /** No more heartbeats. */
  stop(): void {
    clearInterval(this.#heartbeat);
  }
}
