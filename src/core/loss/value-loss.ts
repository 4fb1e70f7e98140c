/**
 * The loss of a critic: squared errors of its values, with PPO's clip around the values of before the update
 * (as in verl):
 *
 *   L = 1/2 max((V - R)^2, (clip(V, V_old - c, V_old + c) - R)^2)
 */

/** How a critic learns in an update: part of `LossSpec`. */
export interface CriticSpec {
  /** Its AdamW is otherwise that of the policy, without weight decay. */
  readonly learningRate: number;
  /** Optimizer steps on the rows of each update. */
  readonly epochs: number;
  /** c; null does not clip. */
  readonly clip: number | null;
  /** Only the critic learns: the policy's weights and moments stay as they are. */
  readonly isWarmup: boolean;
}

/** What a critic takes where options say nothing. */
export type CriticDefaults = Pick<CriticSpec, "learningRate" | "epochs">;

export interface ValueTerm {
  readonly term: number;
  /** d term / d value. */
  readonly gradient: number;
  /** The clipped error is the larger one. */
  readonly isClipped: boolean;
}

/** One token's value `now`, the one `before` the update, and its return. */
export function valueTerm(
  now: number,
  before: number,
  target: number,
  clip: number | null,
): ValueTerm {
  const error = now - target;
  const limited = clip === null ? now : Math.min(Math.max(now, before - clip), before + clip);
  const clippedError = limited - target;
  const isClipped = clippedError ** 2 > error ** 2;
  return isClipped
    ? { term: 0.5 * clippedError ** 2, gradient: 0, isClipped }
    : { term: 0.5 * error ** 2, gradient: error, isClipped };
}
