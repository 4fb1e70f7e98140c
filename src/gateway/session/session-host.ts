/** Sessions for rollouts in this process: the contract of `core/session.ts`. */
import type { TrajectoryHandle } from "../../core/agent.ts";
import type { RolloutSession, SessionHost } from "../../core/session.ts";
import { directFetch } from "../http/direct-fetch.ts";
import { sessionPath } from "../http/path.ts";
import type { Reply } from "../http/reply.ts";
import type { OpenedSession, SessionTable } from "./session-table.ts";

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
