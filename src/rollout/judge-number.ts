/** Whether a reward that is a plain number means right or wrong. */

/**
 * With a threshold, by it. Without one, 1 and 0 mean what `true` and `false` would; of any other number
 * nobody said what it means: null.
 */
export function judgeNumber(reward: number, solvedReward: number | null): boolean | null {
  if (solvedReward !== null) return reward >= solvedReward;
  if (reward === 1) return true;
  return reward === 0 ? false : null;
}
