/** Sessions for rollouts in this process: the contract of `core/session.ts`. */
import type { TrajectoryHandle } from "../../core/agent.ts";
import type { RolloutSession, SessionHost } from "../../core/session.ts";
import { sessionPath } from "../http/path.ts";
import { EarlyReply, type Reply, toResponse } from "../http/reply.ts";
import type { OpenedSession, SessionTable } from "./session-table.ts";
import { raceAbort } from "../../util/abort.ts";
import { EventStream } from "../http/event-stream.ts";

function toRolloutSession(
  { session, apiKey }: OpenedSession,
  table: SessionTable,
  model: string,
  origin: string,
  app: (request: Request) => Promise<Reply>,
): RolloutSession {
  const { uid } = session;
  const handles = new Map<string, TrajectoryHandle>();
  return {
    uid,
    apiKey,
    model,
    baseUrl: origin + sessionPath(uid),
    fetch: directFetch(app, origin),
    trajectory(name, role) {
      const trajectoryUid = session.nameTrajectory(name, role);
      const known = handles.get(name);
      if (known) return known;
      const baseUrl = origin + sessionPath(uid, trajectoryUid);
      const handle = { uid: trajectoryUid, name, baseUrl, apiKey };
      handles.set(name, handle);
      return handle;
    },
    traces: () => session.traces(),
    recorded: () => session.storedTraces(),
    serverError: () => session.serverError,
    failedCalls: () => session.failedCalls.list(),
    close: () => table.close(session),
  };
}

/** `origin` gives the address that agents reach the gateway at, or throws when there is none yet. */
export function createSessionHost(
  table: SessionTable,
  model: string,
  origin: () => string,
  app: (request: Request) => Promise<Reply>,
): SessionHost {
  return {
    open: async (options) => {
      const base = origin();
      return toRolloutSession(await table.open(options), table, model, base, app);
    },
  };
}

/**
 * The server as a `fetch` for clients in this process, who see what they see through a socket. Requests under
 * `origin` go to `app`, others to the global `fetch`.
 */
function directFetch(app: (request: Request) => Promise<Reply>, origin: string): typeof fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith(`${origin}/`)) return await fetch(input, init);
    const request = new Request(input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const reply = await raceAbort(app(request), signal);
    const response = toResponse(reply);
    const isComplete = !(reply instanceof EventStream || reply instanceof EarlyReply);
    return isComplete ? response : untilAborted(response, signal);
  };
}

/** As a connection would: who aborts the request ends the body, and the server learns of it. */
function untilAborted(response: Response, signal: AbortSignal): Response {
  return new Response(response.body!.pipeThrough(new TransformStream(), { signal }), response);
}
