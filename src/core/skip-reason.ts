/** Why a step taught nothing: as its metrics say it, and as a few words. */

type Metrics = Readonly<Record<string, number | undefined>>;

export const skipPrefix = "train/skip_reason/";

const short = {
  no_tasks: "no task left",
  failed: "all failed",
  prompt_too_long: "prompts too long",
  nothing_captured: "nothing captured",
  no_reward: "no rewards",
  excluded: "all excluded",
  equal_rewards: "rewards equal",
  not_finite: "not finite",
} as const;
export type SkipReason = keyof typeof short;

export function skipReason(metrics: Metrics): SkipReason | null {
  const key = Object.keys(metrics).find((name) => name.startsWith(skipPrefix));
  return key === undefined ? null : (key.slice(skipPrefix.length) as SkipReason);
}

/** A short note for the line of a step: why it taught nothing, or nothing by rewards; null where it did. */
export function shortReason(metrics: Metrics): string | null {
  const reason = skipReason(metrics);
  if (reason !== null) return short[reason] ?? reason;
  return metrics["train/zero_advantages"] === 1 ? "advantages all 0" : null;
}
