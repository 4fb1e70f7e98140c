/** Stepping through an episode: where one is, and the keys. */
import type { KeyHandlers } from "./keys.ts";

export interface ReplayProps {
  /** Messages shown. */
  readonly at: number;
  readonly count: number;
  readonly onMove: (at: number) => void;
  readonly onEnd: () => void;
}

export function ReplayBar({ at, count, onMove, onEnd }: ReplayProps) {
  return (
    <div class="row replay">
      <button type="button" disabled={at <= 1} onClick={() => onMove(at - 1)}>
        ← Before
      </button>
      <span role="status">
        message {at} of {count}
      </span>
      <button type="button" disabled={at >= count} onClick={() => onMove(at + 1)}>
        Next →
      </button>
      <button type="button" onClick={onEnd}>
        Show all
      </button>
      <span class="dim">
        <kbd>→</kbd> <kbd>←</kbd> <kbd>Home</kbd> <kbd>End</kbd>, <kbd>r</kbd> ends it
      </span>
    </div>
  );
}

/** Keys of a replay, which take the place of those that lead to other episodes. */
export function replayKeys({ at, count, onMove, onEnd }: ReplayProps): KeyHandlers {
  const to = (next: number) => () => onMove(Math.max(1, Math.min(count, next)));
  return {
    ArrowRight: to(at + 1),
    ArrowLeft: to(at - 1),
    " ": to(at + 1),
    j: to(at + 1),
    k: to(at - 1),
    Home: to(1),
    End: to(count),
    r: onEnd,
    Escape: onEnd,
  };
}
