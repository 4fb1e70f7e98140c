/** Tasks that occur twice: within a dataset, or in the training data and in the validation data. */
import { createHash } from "node:crypto";
import type { Dataset, Task } from "../../core/task.ts";
import { pick } from "../tasks/select.ts";
import { NearIndex } from "./near-index.ts";
import { shinglesOf } from "./shingles.ts";
import { normalizeText } from "../../util/normalize-text.ts";

/** The instruction; or the whole row, where instructions do not tell tasks apart. */
interface TaskText {
  readonly kind: "instruction" | "row";
  of(task: Task): string;
}

const idKeys = new Set(["id", "task_id"]);

const byInstruction: TaskText = {
  kind: "instruction",
  of: ({ instruction }) => normalizeText(instruction),
};

const byRow: TaskText = {
  kind: "row",
  of: ({ instruction, metadata }) =>
    normalizeText(
      `${instruction} ${JSON.stringify(metadata, (key, value: unknown) => (idKeys.has(key) ? undefined : value))}`,
    ),
};

/** A dataset whose tasks share few instructions, such as "Solve the puzzle.", is compared by whole rows. */
function taskText(dataset: Dataset): TaskText {
  const distinct = new Set<string>();
  for (const { instruction } of dataset) {
    distinct.add(instruction);
    if (distinct.size * 2 > dataset.length) return byInstruction;
  }
  return byRow;
}

/** `exact`: the same text but for case and white space. `near`: also texts that share 70 % of their word triples. */
export type OverlapMode = "exact" | "near";

/** A task and one that is the same, or nearly. */
export interface Overlap {
  /** Position of the task. */
  readonly index: number;
  /** Position of the other one. */
  readonly other: number;
  readonly kind: OverlapMode;
}

/** Keys of 16 bytes in place of texts of any length. */
const digest = (text: string): string =>
  createHash("sha256").update(text).digest("base64").slice(0, 22);

/** Remembers tasks, and finds those that it has seen. */
class SeenTexts {
  readonly #exact = new Map<string, number>();
  readonly #near: NearIndex | null;

  constructor(texts: Iterable<string>, mode: OverlapMode) {
    this.#near = mode === "near" ? new NearIndex() : null;
    if (this.#near === null) return;
    for (const text of texts) this.#near.count(shinglesOf(text));
  }

  /** The one with the same text, or else those with nearly the same. */
  find(text: string): readonly Omit<Overlap, "index">[] {
    const same = this.#exact.get(digest(text));
    const exact = same === undefined ? [] : [{ other: same, kind: "exact" as const }];
    const near = this.#near?.find(shinglesOf(text)) ?? [];
    return [
      ...exact,
      ...near.filter((other) => other !== same).map((other) => ({ other, kind: "near" as const })),
    ];
  }

  add(index: number, text: string): void {
    const key = digest(text);
    if (!this.#exact.has(key)) this.#exact.set(key, index);
    this.#near?.add(index, shinglesOf(text));
  }
}

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item);
}

/** Rows that say more than their instructions differ in ways that similarity does not measure. */
const modeFor = (mode: OverlapMode, kind: "instruction" | "row"): OverlapMode =>
  kind === "row" ? "exact" : mode;

/** Tasks of which an earlier task is a duplicate. */
export function findDuplicates(dataset: Dataset, mode: OverlapMode): readonly Overlap[] {
  const texts = taskText(dataset);
  const seen = new SeenTexts(
    mapped(dataset, (task) => texts.of(task)),
    modeFor(mode, texts.kind),
  );
  const found: Overlap[] = [];
  let index = 0;
  for (const task of dataset) {
    const text = texts.of(task);
    const [earlier] = seen.find(text);
    if (earlier === undefined) seen.add(index, text);
    else found.push({ index, ...earlier });
    index += 1;
  }
  return found;
}

/** The dataset without tasks of which an earlier task is a duplicate. */
export function withoutDuplicates(dataset: Dataset, duplicates: readonly Overlap[]): Dataset {
  if (duplicates.length === 0) return dataset;
  const gone = new Set(duplicates.map(({ index }) => index));
  const all = Array.from({ length: dataset.length }, (_, index) => index);
  return pick(
    dataset,
    all.filter((index) => !gone.has(index)),
  );
}

/** A validation task that is in the training data, too. */
export interface Leak {
  readonly val: Task;
  readonly train: Task;
  readonly kind: OverlapMode;
}

/**
 * Validation tasks that are also, or nearly, training tasks.
 *
 * Texts are the instructions, or the whole rows where most instructions are the same. Near duplicates
 * share at least 70 % of their triples of neighboring words, and have the same numbers.
 *
 * @example
 * for (const { val, train, kind } of findLeaks(split.train, split.val)) {
 *   console.log(`${kind}: ${val.id} is ${train.id}`);
 * }
 *
 * @param mode `exact` finds only tasks that differ in case and white space at most.
 */
export function findLeaks(
  train: Dataset,
  val: Dataset,
  mode: OverlapMode = "near",
): readonly Leak[] {
  const texts = taskText(train);
  const seen = new SeenTexts(
    mapped(val, (task) => texts.of(task)),
    modeFor(mode, texts.kind),
  );
  const sameText = new Map<number, number[]>();
  let index = 0;
  for (const task of val) {
    const text = texts.of(task);
    const [earlier] = seen.find(text);
    if (earlier?.kind === "exact") {
      sameText.set(earlier.other, [...(sameText.get(earlier.other) ?? []), index]);
    } else seen.add(index, text);
    index += 1;
  }
  const leaks = new Map<number, Leak>();
  for (const task of train) {
    for (const { other, kind: how } of seen.find(texts.of(task))) {
      for (const position of [other, ...(sameText.get(other) ?? [])]) {
        const before = leaks.get(position);
        if (before === undefined || (before.kind === "near" && how === "exact"))
          leaks.set(position, { val: val.at(position) as Task, train: task, kind: how });
      }
    }
  }
  return [...leaks.entries()].toSorted(([a], [b]) => a - b).map(([, leak]) => leak);
}
