/** Whether a reward that is a plain number means right or wrong. */

/**
 * With a threshold, by it. Without one, at least 1 is right and at most 0 is wrong, as for `true` and
 * `false`; what lies between is partly right, and nobody said which: null.
 */
export function judgeNumber(reward: number, solvedReward: number | null): boolean | null {
  if (solvedReward !== null) return reward >= solvedReward;
  if (reward >= 1) return true;
  return reward <= 0 ? false : null;
}
