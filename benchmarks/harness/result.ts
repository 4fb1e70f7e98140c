/** One measured number, and whether it is as good as we want it. */

export interface Goal {
  /** As a reader sees it: `<= 0.15`. */
  readonly text: string;
  isMet(value: number): boolean;
}

export const atMost = (bound: number): Goal => ({
  text: `<= ${bound}`,
  isMet: (value) => value <= bound,
});

export const atLeast = (bound: number): Goal => ({
  text: `>= ${bound}`,
  isMet: (value) => value >= bound,
});

/** A line of a report. `peer`, its name and the ratio to it are null where there is nothing to compare with. */
export interface Result {
  readonly metric: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly peerName: string | null;
  readonly ratio: number | null;
  readonly goal: string | null;
  readonly met: boolean | null;
}

/** A result without a peer, rounded to five significant digits; the goal is judged before rounding. */
export function result(metric: string, unit: string, value: number, goal?: Goal): Result {
  if (!Number.isFinite(value)) throw new RangeError(`${metric} is ${value}; nothing was measured.`);
  return {
    metric,
    unit,
    ours: Number(value.toPrecision(5)),
    peer: null,
    peerName: null,
    ratio: null,
    goal: goal?.text ?? null,
    met: goal?.isMet(value) ?? null,
  };
}

export interface Comparison {
  readonly ours: number;
  readonly peer: number;
  readonly peerName: string;
  /** Ours to the peer's, as pairs of one round gave it; not always that of `ours` and `peer`. */
  readonly ratio: number;
}

/** A result beside a peer's; the goal is the ratio's. */
export function compared(
  metric: string,
  unit: string,
  { ours, peer, peerName, ratio }: Comparison,
  goal?: Goal,
): Result {
  const alone = result(metric, unit, ours);
  if (!Number.isFinite(peer) || !Number.isFinite(ratio)) {
    throw new RangeError(`${metric} of ${peerName} is ${peer}; nothing was measured.`);
  }
  return {
    ...alone,
    peer: Number(peer.toPrecision(5)),
    peerName,
    ratio: Number(ratio.toPrecision(4)),
    goal: goal === undefined ? null : `ratio ${goal.text}`,
    met: goal?.isMet(ratio) ?? null,
  };
}
