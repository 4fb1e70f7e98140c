/** What targets get of the gateway. */
import type { CallGate } from "../call/call-gate.ts";

export interface TargetServices {
  /** The name that the gateway gives its model. */
  readonly model: string;
  /** Tells the version of the weights, and holds calls while they change. */
  readonly gate: CallGate;
  readonly requestTimeoutMs: number;
  /** Told of failures that no call is about. */
  readonly report: (error: unknown) => void;
}
