/** For backends whose loss has no term for tokens that were not sampled. */
import { backendsThat } from "./capabilities.ts";
import { UnsupportedOptionError } from "./errors.ts";
import { countObserved } from "./loss/observations.ts";
import type { TrainingRow } from "./loss/training-row.ts";

/** @throws UnsupportedOptionError for rows with observations, which would be trained without them. */
export function refuseObservations(rows: readonly TrainingRow[], backend: string): void {
  const observed = countObserved(rows);
  if (observed === 0) return;
  const others = backendsThat(({ observations }) => observations === true);
  throw new UnsupportedOptionError("algorithm.observation_loss", observed, backend, others);
}
