/** What a backend refuses by name since it lacks it, with the backends that have it. */
import type { ModelSpec } from "./backend.ts";
import { backendsThat } from "./capabilities.ts";
import { UnsupportedOptionError } from "./errors.ts";
import { countObserved } from "./loss/observations.ts";
import type { TrainingRow } from "./loss/training-row.ts";

/** For models with one adapter. @throws UnsupportedOptionError for adapters besides the model's own */
export function refuseAdapters({ adapters = [] }: ModelSpec, backend: string): void {
  if (adapters.length === 0) return;
  const others = backendsThat((row) => row.adapters === true);
  throw new UnsupportedOptionError("model.adapter_by_role", adapters, backend, others);
}

/** @throws UnsupportedOptionError for a quantization other than none */
export function refuseQuantization({ quantization = "none" }: ModelSpec, backend: string): void {
  if (quantization === "none") return;
  const others = backendsThat(({ quantizations = [] }) => quantizations.includes(quantization));
  throw new UnsupportedOptionError("model.quantization", quantization, backend, others);
}

/** @throws UnsupportedOptionError for rows with observations, which would be trained without them */
export function refuseObservations(rows: readonly TrainingRow[], backend: string): void {
  const observed = countObserved(rows);
  if (observed === 0) return;
  const others = backendsThat(({ observations }) => observations === true);
  throw new UnsupportedOptionError("algorithm.observation_loss", observed, backend, others);
}
