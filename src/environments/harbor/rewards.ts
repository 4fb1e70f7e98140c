/** Rewards of Harbor's tests: read from their files, and those of several steps in one. */

/** Finite numbers by name; one number is named `reward`. */
export type Rewards = Readonly<Record<string, number>>;

/** `reward.json` wins over `reward.txt`. null where neither holds finite numbers only. */
export function readRewards(json: string | null, text: string | null): Rewards | null {
  if (json !== null) {
    const value = parse(json);
    if (typeof value === "number") return Number.isFinite(value) ? { reward: value } : null;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const entries = Object.entries(value);
    const isRight = entries.length > 0 && entries.every(([, one]) => Number.isFinite(one));
    return isRight ? (value as Rewards) : null;
  }
  if (text === null || text.trim() === "") return null;
  const value = Number(text.trim());
  return Number.isFinite(value) ? { reward: value } : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Rewards of the steps that were scored, as Harbor derives them: the last step's, or the mean of each name,
 * where a step without it counts as 0. The number of the rollout is `reward`, or else the mean of all names.
 */
export function trialRewards(
  steps: readonly Rewards[],
  strategy: "mean" | "final" | null | undefined,
): { reward: number; signals: Rewards } {
  const names = [...new Set(steps.flatMap((step) => Object.keys(step)))];
  const mean = (values: readonly number[]): number =>
    values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;
  const signals: Rewards =
    strategy === "final" || steps.length === 1
      ? (steps.at(-1) ?? {})
      : Object.fromEntries(names.map((name) => [name, mean(steps.map((step) => step[name] ?? 0))]));
  return { reward: signals["reward"] ?? mean(Object.values(signals)), signals };
}
