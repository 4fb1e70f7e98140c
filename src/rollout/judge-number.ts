/** Whether a reward that is a plain number means correct or incorrect. */

/**
 * With a threshold, by it. Without one, at least 1 is correct and at most 0 is incorrect, as for
 * `true` and `false`; anything between is partly correct, hence null.
 */
export function judgeNumber(reward: number, solvedReward: number | null): boolean | null {
  if (solvedReward !== null) return reward >= solvedReward;
  if (reward >= 1) return true;
  return reward <= 0 ? false : null;
}
