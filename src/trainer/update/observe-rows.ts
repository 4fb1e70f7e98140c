/** Learning from what the environment says, as `algorithm.observation_loss` configures it. */
import {
  onlyObserved,
  type ObservedRows,
  withObservations,
} from "../../algorithms/rows/observations.ts";
import { buildRows, type RowsOptions } from "../../algorithms/rows/rows.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { weightsOf } from "../../config/role-map.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Renderer } from "../../core/policy.ts";
import type { TrajectoryGroup } from "../../core/trajectory.ts";

/** Whether any role has a weight. */
const isObserving = ({ algorithm }: TrainConfig): boolean =>
  [...weightsOf(algorithm.observationLoss).values()].some((weight) => weight > 0);

export interface ObservedGroups {
  /** What the rows were made of. */
  readonly groups: readonly TrajectoryGroup[];
  /** Groups of them that have no rows, since their rewards teach nothing; what they observed does. */
  readonly uniform: readonly TrajectoryGroup[];
  readonly options: RowsOptions;
}

/** @throws ConfigError where nothing is known of how messages are written. */
export function observeRows(
  config: TrainConfig,
  renderer: Renderer | undefined,
  rows: readonly TrainingRow[],
  { groups, uniform, options }: ObservedGroups,
): ObservedRows {
  if (!isObserving(config)) return { rows, metrics: {} };
  if (renderer === undefined) {
    throw new ConfigError({
      message:
        "algorithm.observation_loss needs to know how messages become tokens, but the backend has no renderer.",
      hint: "Use a backend that returns a renderer from start().",
    });
  }
  const nothing = uniform.map(({ members }) => new Float64Array(members.length));
  const skipTruncated = config.algorithm.maskTruncatedSamples;
  const more = buildRows(uniform, nothing, { ...options, skipTruncated }).rows.map(onlyObserved);
  const weights = weightsOf(config.algorithm.observationLoss);
  const observed = withObservations([...rows, ...more], groups, { renderer, weights });
  const isUsed = (row: TrainingRow, i: number): boolean =>
    i < rows.length || row.observationWeights !== undefined;
  return { ...observed, rows: observed.rows.filter(isUsed) };
}
