/** The parts of a gateway that its routes share. */
import type { BodyLimits } from "./http/body.ts";
import type { ExchangeRecorder } from "./http/exchange.ts";
import type { BodyBudget } from "./http/body-budget.ts";
import type { CallGate } from "./call/call-gate.ts";
import type { IgnoredFields } from "./routes/fields/ignored-fields.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { SessionTable } from "./session/session-table.ts";
import type { Target } from "./targets/target.ts";
import type { TraceStore } from "./store/trace-store.ts";

/** What routes need of the gateway. */
export interface GatewayContext extends BodyLimits {
  readonly target: Target;
  readonly model: string;
  readonly sessions: SessionTable;
  readonly store: TraceStore;
  readonly gate: CallGate;
  readonly bodyBudget: BodyBudget;
  readonly metrics: GatewayMetrics;
  /** Fields of requests without an effect. */
  readonly ignored: IgnoredFields;
  /** Absent without a listener for bodies. */
  readonly exchanges?: ExchangeRecorder;
  readonly adminDigest: Buffer;
  /** Whether no token is required. */
  readonly isOpen: boolean;
  readonly requestTimeoutMs: number;
  /** How long a call may be silent once its response has begun. */
  readonly keepAliveMs: number;
  /** Reports failures that clients only see as a 5xx to the owner. Never throws. */
  report(error: unknown): void;
}
