/** The parts of a gateway that its routes share. */
import type { SamplerTarget } from "../core/backend.ts";
import type { SessionTable } from "./session-table.ts";

/** What routes need of the gateway. */
export interface GatewayContext {
  readonly target: SamplerTarget;
  readonly model: string;
  readonly sessions: SessionTable;
  readonly adminDigest: Buffer;
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  /** Tells the owner of failures that clients only see as a 5xx. Never throws. */
  report(error: unknown): void;
}
