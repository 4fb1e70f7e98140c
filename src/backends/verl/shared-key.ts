/** An option that agent-trainer and verl both have. */
import type { VerlBackendOptions, VerlRunOptions } from "./verl-options.ts";

export interface SharedKey {
  /** As in our YAML file. */
  readonly ours: string;
  readonly theirs: string;
  value(run: VerlRunOptions, options: VerlBackendOptions): string | number;
}

/** No limit, as a value that verl accepts. */
export const never = 1e9;
