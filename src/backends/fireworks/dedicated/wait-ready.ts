/** Waits until a trainer or a deployment is ready, reports every change of its state, and gives up in time. */
import { DeadlineError } from "../../../core/errors.ts";
import { FireworksError } from "../api/fireworks-error.ts";
import type { Json } from "../../../tinker-api/wire/transport.ts";
import type { FireworksHttp } from "../api/http.ts";
import type { ControlPlane } from "./control-plane.ts";

export interface WaitOptions {
  readonly http: FireworksHttp;
  readonly plane: ControlPlane;
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
  /** Limit on waiting for hardware. */
  readonly capacityMs: number;
  /** Limit on starting, once there is hardware. */
  readonly readyMs: number;
}

const pollMs = 5_000;
/** A state that does not change is reported again after so long. */
const reportMs = 60_000;

const failedStates = /FAILED|CANCELL|COMPLETED|EARLY_STOPPED|DELET|ARCHIVED|PAUSED/u;

interface Awaited {
  /** For messages: "The trainer ...". */
  readonly what: string;
  readonly name: string;
  /** Whether it waits for hardware. */
  isPending(state: string): boolean;
  isReady(state: string): Promise<boolean>;
}

async function wait(thing: Awaited, options: WaitOptions): Promise<Json> {
  const { http, plane, signal, onProgress, capacityMs, readyMs } = options;
  const { what, name } = thing;
  // Polls are counted as well as the clock, since the clock of a test stands still.
  let [pendingMs, startingMs] = [0, 0];
  let reported = "";
  let reportedAt = -Infinity;
  for (;;) {
    const found = await plane.get(name, signal);
    const state = typeof found?.["state"] === "string" ? found["state"] : "MISSING";
    if (found === null || failedStates.test(state)) throw failed(what, name, state, found);
    if (await thing.isReady(state)) {
      onProgress(`${what} ${name} is ready.`);
      return found;
    }
    const isPending = thing.isPending(state);
    const waitedMs = pendingMs + startingMs;
    if (state !== reported || waitedMs - reportedAt >= reportMs) {
      onProgress(`${what} ${name}: ${state} for ${Math.round(waitedMs / 1000)} s.`);
      [reported, reportedAt] = [state, waitedMs];
    }
    if (isPending && pendingMs >= capacityMs)
      throw new DeadlineError(`Waiting for hardware for ${name}`, capacityMs);
    if (!isPending && startingMs >= readyMs)
      throw new DeadlineError(`Waiting for ${name} to be ready`, readyMs);
    const before = performance.now();
    await http.sleep(pollMs, signal);
    const passedMs = Math.max(pollMs, performance.now() - before);
    if (isPending) pendingMs += passedMs;
    else startingMs += passedMs;
  }
}

/** @param path where its training API is mounted. */
export async function waitForTrainer(
  name: string,
  path: string,
  options: WaitOptions,
): Promise<Json> {
  return wait(
    {
      what: "The trainer",
      name,
      isPending: (state) => state === "JOB_STATE_PENDING",
      isReady: async (state) =>
        state === "JOB_STATE_RUNNING" && (await options.plane.isHealthy(path, options.signal)),
    },
    options,
  );
}

export async function waitForDeployment(name: string, options: WaitOptions): Promise<Json> {
  return wait(
    {
      what: "The deployment",
      name,
      isPending: () => false,
      isReady: async (state) => state === "READY",
    },
    options,
  );
}

function failed(what: string, name: string, state: string, found: Json | null): FireworksError {
  const { message } = (found?.["status"] ?? {}) as { message?: unknown };
  const reason = typeof message === "string" && message !== "" ? ` Its message: ${message}` : "";
  return new FireworksError({
    message: `${what} ${name} will not become ready: ${found === null ? "it is not there" : state}.${reason}`,
    hint: "Look at it in the console of Fireworks; what was created for this run is deleted.",
    fields: { name, state },
  });
}
