/**
 * `agent-trainer/datasets`: tasks from files, hubs and generators; splits; duplicates and leaks.
 *
 * @module datasets
 */

export { loadDataset } from "./launch/load-dataset.ts";
export type { DatasetSource, LoadDatasetOptions } from "./launch/load-dataset.ts";
export type { HubDataset } from "./datasets/hub/hub-name.ts";
export type { FieldMap } from "./datasets/tasks/map-fields.ts";
export { splitDataset } from "./datasets/tasks/select.ts";
export type { SelectOptions, Shard, SplitDataset } from "./datasets/tasks/select.ts";
export { findLeaks } from "./datasets/overlap/overlap.ts";
export type { Leak } from "./datasets/overlap/overlap.ts";
export { inspectDataset } from "./launch/inspect-dataset.ts";
export type {
  DatasetReport,
  DuplicateExample,
  InspectDatasetOptions,
} from "./launch/inspect-dataset.ts";
export type { FieldReport, FieldType, Lengths } from "./datasets/field-report.ts";
