/** The groups of a step, and what was counted while building them. */
import type { TrajectoryGroup } from "../../core/trajectory.ts";

export interface StepGroups {
  readonly groups: readonly TrajectoryGroup[];
  readonly metrics: Readonly<Record<string, number>>;
}
