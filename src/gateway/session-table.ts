/** The open sessions of a gateway, and the contract that rollouts see (`core/session.ts`). */
import type { TrajectoryHandle } from "../core/agent.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { RolloutSession, SessionHost, SessionOptions } from "../core/session.ts";
import { encodeSegment, sessionPath } from "./path.ts";
import { CaptureSession } from "./session.ts";
import type { TraceStore } from "./trace-store.ts";

export class SessionTable {
  readonly #sessions = new Map<string, CaptureSession>();
  readonly #store: TraceStore;
  #closed = false;

  constructor(store: TraceStore) {
    this.#store = store;
  }

  get(uid: string): CaptureSession | undefined {
    return this.#sessions.get(uid);
  }

  /** @throws AgentTrainerError REQUEST_INVALID when the uid is taken or cannot be used. */
  open(options: SessionOptions): CaptureSession {
    if (this.#closed) {
      throw new AgentTrainerError({ code: "ABORTED", message: "The gateway is closed." });
    }
    encodeSegment(options.uid);
    if (this.#sessions.has(options.uid)) {
      throw new AgentTrainerError({
        code: "REQUEST_INVALID",
        message: `A session with the uid ${JSON.stringify(options.uid)} is already open.`,
        hint: "Give every rollout and every retry a uid of its own, or close the other session first.",
        fields: { uid: options.uid },
      });
    }
    const session = new CaptureSession(options, this.#store);
    this.#sessions.set(options.uid, session);
    return session;
  }

  /** The token stops working at once; the uid is free again when this resolves. */
  async close(session: CaptureSession): Promise<void> {
    await session.close();
    if (this.#sessions.get(session.uid) === session) this.#sessions.delete(session.uid);
  }

  async closeAll(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions.values()].map((session) => this.close(session)));
  }
}

function toRolloutSession(
  session: CaptureSession,
  table: SessionTable,
  model: string,
  origin: string,
): RolloutSession {
  const { uid, apiKey } = session;
  const handles = new Map<string, TrajectoryHandle>();
  return {
    uid,
    apiKey,
    model,
    baseUrl: origin + sessionPath(uid),
    trajectory(name) {
      const known = handles.get(name);
      if (known) return known;
      const trajectoryUid = session.nameTrajectory(name);
      const baseUrl = origin + sessionPath(uid, trajectoryUid);
      const handle = { uid: trajectoryUid, name, baseUrl, apiKey };
      handles.set(name, handle);
      return handle;
    },
    traces: () => session.traces(),
    close: () => table.close(session),
  };
}

/** `origin` gives the address that agents reach the gateway at, or throws when there is none yet. */
export function createSessionHost(
  table: SessionTable,
  model: string,
  origin: () => string,
): SessionHost {
  return {
    open: async (options) => {
      const base = origin();
      return toRolloutSession(table.open(options), table, model, base);
    },
  };
}
