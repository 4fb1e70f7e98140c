/** OpenEnv's route `/mcp`: sessions that outlive a request, and their tools in JSON-RPC. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { OpenEnvSession, rpcError, rpcResult } from "./openenv-session.ts";
import type { ServedSource } from "./served-source.ts";

/** Sessions without a socket and without requests for this long end. */
const abandonedMs = 15 * 60_000;

const request = z.looseObject({
  jsonrpc: z.literal("2.0").default("2.0"),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
  id: z.union([z.string(), z.number()]).nullish(),
});

/** Sessions that were begun over HTTP. */
export class OpenEnvSessions {
  readonly #source: ServedSource;
  readonly #sessions = new Map<string, OpenEnvSession>();
  readonly #sweep: NodeJS.Timeout;

  constructor(source: ServedSource) {
    this.#source = source;
    this.#sweep = setInterval(() => {
      const now = Date.now();
      for (const [id, session] of this.#sessions) {
        if (!session.isAttached && now - session.seenAt > abandonedMs) void this.#end(id);
      }
    }, 60_000);
    this.#sweep.unref();
  }

  /** The response to the body of a request, which is undefined where that is no JSON. */
  async answer(body: unknown): Promise<object> {
    if (body === undefined) return rpcError(null, -32_700, "Parse error");
    const read = request.safeParse(body);
    if (!read.success) return rpcError(null, -32_600, z.prettifyError(read.error));
    const { id = null, method, params } = read.data;
    if (method === "openenv/session/create") {
      const sessionId = randomUUID();
      this.#sessions.set(sessionId, new OpenEnvSession(this.#source));
      return rpcResult(id, { session_id: sessionId });
    }
    const { session_id: named } = params;
    const session = typeof named === "string" ? this.#sessions.get(named) : undefined;
    if (method === "openenv/session/close") {
      if (session === undefined) return unknownSession(id, named);
      await this.#end(named as string);
      return rpcResult(id, { session_id: named, closed: true });
    }
    // Tools are the same in all sessions; calls need one.
    if (named === undefined && method === "tools/list") {
      return await new OpenEnvSession(this.#source).rpc({ id, method });
    }
    if (session === undefined) return unknownSession(id, named);
    session.seenAt = Date.now();
    return await session.rpc({ id, method, params });
  }

  /** Gives a session to a socket; null where there is none, or another socket has it. */
  attach(id: string): OpenEnvSession | null {
    const session = this.#sessions.get(id);
    if (session === undefined || session.isAttached) return null;
    session.isAttached = true;
    return session;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all(Array.from(this.#sessions.keys(), (id) => this.#end(id)));
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.close();
  }
}

const unknownSession = (id: unknown, named: unknown): object =>
  rpcError(
    id,
    -32_602,
    named === undefined
      ? "Invalid params - 'session_id' is required"
      : `Unknown session_id: ${JSON.stringify(named)}`,
  );
