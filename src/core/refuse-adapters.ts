/** For backends whose models have one adapter. */
import type { ModelSpec } from "./backend.ts";
import { backendsThat } from "./capabilities.ts";
import { UnsupportedOptionError } from "./errors.ts";

/** @throws UnsupportedOptionError for adapters besides the model's own */
export function refuseAdapters({ adapters = [] }: ModelSpec, backend: string): void {
  if (adapters.length === 0) return;
  const others = backendsThat((row) => row.adapters === true);
  throw new UnsupportedOptionError("model.adapter_by_role", adapters, backend, others);
}
