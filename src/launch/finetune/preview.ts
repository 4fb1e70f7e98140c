/** Examples as text, with the parts that are trained on: what `--preview` shows. Trains nothing. */
import { folderOf, resolveConfig } from "../../config/load.ts";
import { modelSpecOf } from "../../config/model-spec.ts";
import type { Renderer } from "../../core/policy.ts";
import { createBackend } from "../create-backend.ts";
import { defined } from "../../util/defined.ts";
import { checkExamples, type LoadedExamples, loadExamples } from "./examples/load-examples.ts";
import { countTrained, type Example, type TokenRow } from "./examples/token-row.ts";
import type { FineTuneOptions } from "./fine-tune.ts";
import {
  checkFeedback,
  checkFineTuning,
  checkHeldOut,
  factsOf,
  fineTuneWarnings,
  type TargetFacts,
} from "./check-fine-tuning.ts";

/** A stretch of an example's tokens. */
export interface PreviewPart {
  /** As the tokenizer decodes it, special tokens in their own spelling where it has one. */
  readonly text: string;
  readonly tokens: number;
  /** Whether it is trained on. */
  readonly trained: boolean;
}

/** One sequence of an example. */
export interface PreviewRow {
  /** Where the example comes from, as `data.jsonl:12`. */
  readonly at: string;
  /** Of a pair: which of the two it is; of feedback: its label; null otherwise. */
  readonly side: "chosen" | "rejected" | "desirable" | "undesirable" | null;
  readonly tokens: number;
  readonly trained: number;
  readonly parts: readonly PreviewPart[];
}

/** What {@link previewFineTune} found. */
export interface FineTunePreview {
  /** Examples that are trained on, and those that are held out. */
  readonly examples: { readonly train: number; readonly val: number };
  /** Tokens of all training examples, those that are trained on, and those of the longest sequence. */
  readonly tokens: { readonly all: number; readonly trained: number; readonly longest: number };
  /** The first ones. */
  readonly rows: readonly PreviewRow[];
  readonly warnings: readonly string[];
}

function partsOf({ tokens, mask }: TokenRow, renderer: Renderer): readonly PreviewPart[] {
  const parts: PreviewPart[] = [];
  for (let start = 0; start < tokens.length;) {
    let end = start + 1;
    while (end < tokens.length && mask[end] === mask[start]) end++;
    const ids = tokens.subarray(start, end);
    const text = renderer.inspect?.(ids) ?? renderer.decode(ids);
    parts.push({ text, tokens: end - start, trained: mask[start] === 1 });
    start = end;
  }
  return parts;
}

function rowsOf({ at, rows, rejected, label }: Example, renderer: Renderer): readonly PreviewRow[] {
  const show = (row: TokenRow, side: PreviewRow["side"]): PreviewRow => ({
    at,
    side,
    tokens: row.tokens.length,
    trained: countTrained(row),
    parts: partsOf(row, renderer),
  });
  const ofLabel = label === null ? null : label ? "desirable" : "undesirable";
  return [
    ...rows.map((row) => show(row, rejected === null ? ofLabel : "chosen")),
    ...(rejected ?? []).map((row) => show(row, "rejected")),
  ];
}

function summarize(
  { train, val }: LoadedExamples,
  { renderer }: TargetFacts,
  count: number,
  warnings: readonly string[],
): FineTunePreview {
  const all = train.flatMap(({ rows, rejected }) => [...rows, ...(rejected ?? [])]);
  const sum = (of: (row: TokenRow) => number): number =>
    all.reduce((total, row) => total + of(row), 0);
  return {
    examples: { train: train.length, val: val.length },
    tokens: {
      all: sum(({ tokens }) => tokens.length),
      trained: sum(countTrained),
      longest: all.reduce((longest, { tokens }) => Math.max(longest, tokens.length), 0),
    },
    rows: train.slice(0, count).flatMap((example) => rowsOf(example, renderer)),
    warnings,
  };
}

/**
 * Shows what {@link fineTune} would train on: the first `count` examples as the model's chat template
 * writes them, and which of their tokens have a loss. Starts the backend for its tokenizer; trains nothing.
 *
 * @example
 * const { rows } = await previewFineTune({ config }, 1);
 * for (const { text, trained } of rows[0]!.parts) process.stdout.write(trained ? `[${text}]` : text);
 *
 * @throws ConfigError as `fineTune`.
 */
export async function previewFineTune(
  options: Pick<FineTuneOptions, "config" | "train" | "val" | "signal">,
  count = 3,
): Promise<FineTunePreview> {
  const { train, val } = options;
  const config = resolveConfig(options.config);
  const folder = folderOf(config);
  const signal = options.signal ?? new AbortController().signal;
  const examples = { config, folder, ...defined({ train, val }) };
  checkExamples(examples);
  await using backend = await createBackend(config, folder);
  const target = await backend.start({
    seed: config.trainer.seed,
    model: modelSpecOf(config.model),
    signal,
  });
  const facts = factsOf(target, backend.name);
  checkFineTuning(config, backend);
  const loaded = await loadExamples({ ...examples, ...facts, signal });
  checkHeldOut(config, loaded);
  checkFeedback(config, loaded);
  return summarize(loaded, facts, count, fineTuneWarnings(config, loaded));
}
