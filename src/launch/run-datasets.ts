/** The tasks of a run: what code passed, else what the options name, in the part that the options ask for. */
import type { TrainConfig } from "../config/train-config.ts";
import type { EnvironmentSource } from "../core/environment.ts";
import type { Dataset, Task } from "../core/task.ts";
import { findLeaks, type Leak } from "../datasets/overlap/overlap.ts";
import { MixedTasks, type TaskPart } from "../datasets/tasks/mixed-tasks.ts";
import { select, splitDataset } from "../datasets/tasks/select.ts";
import type { DatasetInput } from "../datasets/tasks/task.ts";
import type { PullProgress } from "../backends/local/index.ts";
import { isGiven, defined } from "../util/defined.ts";
import { fieldsOf, shardOf } from "./dataset-options.ts";
import type { OpenSource } from "./mixture.ts";
import { type DatasetSource, type LoadDatasetOptions, loadNamed } from "./load-dataset.ts";

/** Datasets that code passed. */
export interface PassedDatasets {
  readonly trainDataset?: DatasetInput | null;
  readonly valDataset?: DatasetInput | null;
  /** Has the tasks where neither code nor the options name a dataset. */
  readonly environment?: EnvironmentSource | null;
  /** Those of `dataset.sources`, in place of a single dataset. @default none */
  readonly sources?: readonly OpenSource[];
  /** The environment's training tasks stay unread. @default false */
  readonly valOnly?: boolean;
  readonly signal?: AbortSignal;
  readonly onPull?: (progress: PullProgress) => void;
}

/** Tasks, and what to warn of at the start. */
export interface RunTasks {
  readonly trainTasks: Dataset;
  readonly valTasks: readonly Task[];
  readonly warnings: readonly string[];
}

const shownLeaks = 3;

const quoted = ({ instruction }: Task): string =>
  JSON.stringify(instruction.length > 80 ? `${instruction.slice(0, 79)}…` : instruction);

/** What is said of validation tasks that are training tasks, too. */
function leakWarning(leaks: readonly Leak[], count: number): string {
  const examples = leaks
    .slice(0, shownLeaks)
    .map(({ val, train }) => `"${val.id}" is "${train.id}": ${quoted(val)}`)
    .join("; ");
  return `${leaks.length} of ${count} validation tasks are also training tasks, so the validation reward overstates what was learned. ${examples}. dataset.leak_check=false turns this check off.`;
}

/** The datasets that code passed, or those of the environment where nothing names one. */
function fromEnvironment(
  { dataset, environment: { split, valSplit } }: TrainConfig,
  { trainDataset, valDataset, environment, valOnly = false, signal }: PassedDatasets,
): Pick<PassedDatasets, "trainDataset" | "valDataset"> {
  if (!isGiven(environment))
    return { trainDataset: trainDataset ?? null, valDataset: valDataset ?? null };
  const from = (name: string | null): DatasetInput | null =>
    name === null ? null : environment.tasks(name, {}, signal);
  const isSet = (option: string | null, given: unknown): boolean =>
    option !== null || isGiven(given);
  return {
    trainDataset:
      valOnly || isSet(dataset.train, trainDataset) ? (trainDataset ?? null) : from(split),
    valDataset: isSet(dataset.val, valDataset) ? (valDataset ?? null) : from(valSplit),
  };
}

/** @throws ConfigError for a dataset that cannot be read. */
export async function loadTasks(
  config: TrainConfig,
  folder: string,
  passed: PassedDatasets,
): Promise<RunTasks> {
  const { signal, onPull } = passed;
  const { trainDataset, valDataset } = fromEnvironment(config, passed);
  const { dataset } = config;
  const warnings: string[] = [];
  const shared: LoadDatasetOptions = {
    fields: fieldsOf(dataset.fields),
    skipBadRows: dataset.skipBadRows,
    deduplicate: dataset.deduplicate,
    folder,
    onWarning: (message) => void warnings.push(message),
    ...defined({ onDownload: onPull }),
    // A run that is interrupted before it starts still has a result.
    ...(signal === undefined || signal.aborted ? {} : { signal }),
  };
  const load = async (
    given: DatasetInput | null | undefined,
    option: "train" | "val",
    part: LoadDatasetOptions,
  ): Promise<Dataset | null> => {
    const source: DatasetSource<unknown> | null = isGiven(given) ? given : dataset[option];
    if (source === null) return null;
    const name = option === "train" ? "training data" : "validation data";
    return await loadNamed(source, {
      ...shared,
      ...part,
      option: `dataset.${option}`,
      ...(isGiven(given) ? { name } : {}),
    });
  };
  const { limit, valLimit, valFraction } = dataset;
  const part = { shard: shardOf(dataset.shard), limit };
  const valPart = { limit: valLimit };
  const { sources = [], valOnly = false } = passed;
  if (sources.length > 0) {
    const from = async (open: OpenSource, which: "train" | "val", own: LoadDatasetOptions) => {
      const { name, weight = 1, limit: most = null, split = "train" } = open.options;
      const named = open.options[which] ?? null;
      const isOfEnvironment = named === null && which === "train";
      const source = isOfEnvironment ? open.environment?.tasks(split, {}, signal) : named;
      if (source === undefined || source === null) return [];
      const least = Math.min(most ?? Infinity, own.limit ?? Infinity);
      const tasks = await loadNamed(source, {
        ...{ ...shared, ...own, limit: Number.isFinite(least) ? least : null },
        option: `dataset.sources.${name}.${which}`,
        ...(isOfEnvironment ? { name: `tasks of ${name}` } : {}),
      });
      return [{ name, weight, tasks }];
    };
    const all = async (which: "train" | "val", own: LoadDatasetOptions): Promise<MixedTasks> => {
      const parts: TaskPart[] = [];
      for (const source of sources) parts.push(...(await from(source, which, own)));
      return new MixedTasks(parts);
    };
    const trainTasks = valOnly ? [] : await all("train", part);
    return checked(config, trainTasks, [...(await all("val", valPart))], warnings);
  }
  const isSplit = valFraction > 0 && !isGiven(valDataset) && dataset.val === null;
  const all = (await load(trainDataset, "train", isSplit ? {} : part)) ?? [];
  const split = isSplit ? splitDataset(all, valFraction) : null;
  const trainTasks = split === null ? all : select(split.train, part);
  const val = split === null ? await load(valDataset, "val", valPart) : select(split.val, valPart);
  return checked(config, trainTasks, val === null ? [] : [...val], warnings);
}

/** With a warning where validation tasks are training tasks, too. */
function checked(
  { dataset }: TrainConfig,
  trainTasks: Dataset,
  valTasks: readonly Task[],
  warnings: readonly string[],
): RunTasks {
  if (valTasks.length > 0 && dataset.leakCheck) {
    const leaks = findLeaks(trainTasks, valTasks);
    if (leaks.length > 0)
      return {
        ...{ trainTasks, valTasks },
        warnings: [...warnings, leakWarning(leaks, valTasks.length)],
      };
  }
  return { trainTasks, valTasks, warnings };
}
