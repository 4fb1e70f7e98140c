/** An episode to begin with, for something that is wrong with a run. */
import type { Database } from "libsql";
import type { DiseaseName, RunFinding } from "../../core/health.ts";
import { onlyConditions } from "./query.ts";

/** What shows it best; where nothing is named, a low reward. */
const orders: Partial<Readonly<Record<DiseaseName, string>>> = {
  reward_hacked: "reward DESC",
  validation_diverges: "reward DESC",
  length_collapse: "response_tokens ASC, reward DESC",
  truncation: "response_tokens DESC",
  tool_errors: "tool_errors DESC",
};

/** Number of a training episode of the last step that shows it; null where there is none. */
export function exampleEpisode(db: Database, finding: RunFinding): number | null {
  const step = finding.steps.at(-1);
  if (step === undefined) return null;
  const only = finding.filter === undefined ? "1" : onlyConditions[finding.filter.only];
  const order = orders[finding.disease] ?? "reward ASC";
  const found = db
    .prepare(
      `SELECT n FROM episodes WHERE step = ? AND phase = 'train' AND ${only} ORDER BY ${order}, n LIMIT 1`,
    )
    .get(step) as { readonly n: number } | undefined;
  return found?.n ?? null;
}
