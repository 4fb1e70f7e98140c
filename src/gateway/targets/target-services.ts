/** What targets get of the gateway. */
import type { CallGate } from "../call/call-gate.ts";
import type { PromptLimit } from "../call/prompt-limit.ts";

export interface TargetServices {
  /** The name that the gateway gives its model. */
  readonly model: string;
  /** Has the version of the weights, and holds calls while they change. */
  readonly gate: CallGate;
  readonly requestTimeoutMs: number;
  /** @default none */
  readonly promptLimit?: PromptLimit;
  /** Receives failures that belong to no call. */
  readonly report: (error: unknown) => void;
}
