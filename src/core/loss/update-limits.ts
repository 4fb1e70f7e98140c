/** Limits on an update's metrics, beyond which it is not applied. */
import { AgentTrainerError } from "../errors.ts";

/** Norm before clipping; estimated KL from the sampling weights; mean ratio to them. */
export type MeasuredMetric = "grad_norm" | "kl_k3" | "ratio_mean";

type UpdateMetrics = Readonly<Record<string, number>>;

/** Each is off when null. */
export interface UpdateLimits {
  /** On `grad_norm`, the norm before clipping. */
  readonly gradNorm: number | null;
  /** On `kl_k3`. */
  readonly kl: number | null;
  /** On `ratio_mean`, and on its inverse. */
  readonly ratio: number | null;
}

export type LimitName = keyof UpdateLimits;

/** The metric that each limit is checked against. */
export const limitMetrics: Readonly<Record<LimitName, MeasuredMetric>> = {
  gradNorm: "grad_norm",
  kl: "kl_k3",
  ratio: "ratio_mean",
};

const limitNames: readonly LimitName[] = ["gradNorm", "kl", "ratio"];

/** A limit that was exceeded. */
export interface ExceededLimit {
  readonly name: LimitName;
  readonly value: number;
  readonly limit: number;
}

const isBeyond = (name: LimitName, value: number, limit: number): boolean =>
  value > limit || (name === "ratio" && value < 1 / limit);

/** Limits that these metrics exceed; a limit whose metric is missing is not checked. */
export function exceededLimits(
  metrics: UpdateMetrics,
  limits: UpdateLimits,
): readonly ExceededLimit[] {
  return limitNames.flatMap((name) => {
    const limit = limits[name];
    const value = metrics[limitMetrics[name]];
    if (limit === null || value === undefined || !isBeyond(name, value, limit)) return [];
    return [{ name, value, limit }];
  });
}

/**
 * For backends that measure an update before they apply it.
 * @throws AgentTrainerError LIMIT_EXCEEDED when the metrics are beyond a limit; `refusedLimits` reads it.
 */
export function refuseBeyond(limits: UpdateLimits | undefined, metrics: UpdateMetrics): void {
  const exceeded = limits === undefined ? [] : exceededLimits(metrics, limits);
  if (exceeded.length === 0) return;
  const list = exceeded.map(({ name, value, limit }) => `${name} ${value} is beyond ${limit}`);
  throw new AgentTrainerError({
    code: "LIMIT_EXCEEDED",
    message: `The update was not applied: ${list.join(", ")}.`,
    fields: { exceeded },
  });
}

/** Limits for which a backend refused an update; null for any other error. */
export function refusedLimits(error: unknown): readonly ExceededLimit[] | null {
  if (!AgentTrainerError.isInstance(error) || error.code !== "LIMIT_EXCEEDED") return null;
  const { exceeded } = error.fields;
  return Array.isArray(exceeded) ? (exceeded as readonly ExceededLimit[]) : null;
}
