/**
 * In which order a run takes its training tasks, and did before it was resumed with another order: an epoch
 * that was begun continues with the tasks that it has left.
 */
import { CheckpointError, ConfigError } from "../core/errors.ts";
import type { ConfigChange } from "../core/events.ts";
import type { Dataset, Task } from "../core/task.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { type BatchPlanOptions, curriculumRank } from "./batches.ts";
import type { RunState, TaskOrder } from "./checkpoint.ts";
import { hashDataset, otherTasksError } from "./run-identity.ts";

type Changes = readonly ConfigChange[];

type OrderOptions = Pick<TaskOrder, "seed" | "curriculum" | "difficultyKey">;

function hashOf(options: OrderOptions, tasks: Dataset): string | null {
  const { rank } = curriculumRank(options);
  return rank === undefined ? null : hashDataset(tasks, rank);
}

/** The order that the options ask for. */
export function orderOf({ data }: Pick<TrainConfig, "data">, tasks: Dataset): TaskOrder {
  const { seed, curriculum } = data;
  const key = "difficultyKey" in curriculum ? { difficultyKey: curriculum.difficultyKey } : {};
  const options = { seed, curriculum: curriculum.type, ...key };
  return { ...options, hash: hashOf(options, tasks), until: null };
}

const isSame = (a: TaskOrder, b: TaskOrder): boolean =>
  a.seed === b.seed &&
  a.curriculum === b.curriculum &&
  (a.curriculum === "none" || a.difficultyKey === b.difficultyKey);

/** The orders of a checkpoint; one that was saved without them had a single order. */
function ordersOf({ orders, dataHash }: RunState, data: TrainConfig["data"], changes: Changes) {
  if (orders !== undefined) return orders;
  const before = (option: string): unknown =>
    changes.find((each) => each.option === option)?.before;
  const options = {
    seed: before("data.seed") ?? data.seed,
    curriculum: before("data.curriculum.type") ?? data.curriculum.type,
    difficultyKey:
      before("data.curriculum.difficulty_key") ??
      ("difficultyKey" in data.curriculum ? data.curriculum.difficultyKey : "difficulty"),
  } as OrderOptions;
  return [{ ...options, hash: options.curriculum === "none" ? null : dataHash, until: null }];
}

/**
 * Whether the training tasks are those of a checkpoint, and its orders can be made again.
 *
 * @throws CheckpointError that says what differs.
 */
export function checkTasks(
  saved: RunState,
  { data }: Pick<TrainConfig, "data">,
  tasks: Dataset,
  run: { readonly folder: string; readonly changes: Changes },
): void {
  const { folder, changes } = run;
  // Without orders, the hash is that with the difficulties, where those mattered.
  const orders = ordersOf(saved, data, changes);
  const isOlder = saved.orders === undefined && orders[0]?.hash !== null;
  if (!isOlder && saved.dataHash !== hashDataset(tasks)) throw otherTasksError(folder);
  for (const order of orders) {
    let reason = "are others now";
    try {
      if (hashOf(order, tasks) === order.hash) continue;
      if (isOlder) throw otherTasksError(folder);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      reason = "are no longer there";
    }
    const { curriculum, difficultyKey } = order;
    throw new CheckpointError({
      message: `The run in ${folder} was trained with data.curriculum=${curriculum}, and the difficulties that ordered its tasks, metadata.${difficultyKey}, ${reason}.`,
      hint: "Use the same training data: which tasks the epoch has left depends on them. A new field of difficulties may be added and named.",
      fields: { folder, curriculum, difficultyKey },
    });
  }
}

/** @param begun how many tasks the run has begun */
export function ordersAfter(
  saved: RunState,
  { data }: Pick<TrainConfig, "data">,
  changes: Changes,
  { now, begun }: { readonly now: TaskOrder; readonly begun: number },
): readonly TaskOrder[] {
  const orders = ordersOf(saved, data, changes);
  const last = orders.at(-1) as TaskOrder;
  if (isSame(last, now)) return [...orders.slice(0, -1), now];
  return [...orders.slice(0, -1), { ...last, until: begun }, now];
}

/** Orders as a plan of batches takes them. */
export function plannedOrders(
  orders: readonly TaskOrder[],
): Pick<BatchPlanOptions<Task>, "seed" | "rank" | "earlier"> {
  const plans = orders.map((order) => ({
    seed: order.seed,
    ...curriculumRank(order),
    until: order.until ?? Infinity,
  }));
  const { seed, ...now } = plans.at(-1) as (typeof plans)[number];
  return {
    seed,
    ...(now.rank === undefined ? {} : { rank: now.rank }),
    earlier: plans.slice(0, -1),
  };
}
