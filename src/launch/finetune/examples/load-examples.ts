/** The examples of a run, as tokens: read, rendered, limited in length, and split. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { TrainConfig } from "../../../config/train-config.ts";
import { ConfigError } from "../../../core/errors.ts";
import type { Renderer } from "../../../core/policy.ts";
import { checkSource, type DatasetSource, openSource } from "../../load-dataset.ts";
import { createRandom, deriveSeed, shuffled } from "../../../util/random.ts";
import { type Conversation, parseConversation, parsePreference } from "./conversation.ts";
import { parseFeedback } from "./feedback.ts";
import { episodeExamples, trainingFiles } from "./episode-examples.ts";
import { renderConversation } from "./render-conversation.ts";
import type { SourceRow } from "../../../datasets/source-row.ts";
import { inRow, RowError } from "./row-error.ts";
import { type Example, rowsOfExample } from "./token-row.ts";

/** Rows that code passes: conversations, with a label for KTO, or pairs of them. */
export type ExampleSource = DatasetSource<unknown>;

export interface ExampleOptions {
  readonly config: TrainConfig;
  /** What paths are relative to. */
  readonly folder: string;
  readonly renderer: Renderer;
  /** Of the model, in tokens. */
  readonly contextLength: number;
  readonly signal: AbortSignal;
  readonly train?: ExampleSource | null;
  readonly val?: ExampleSource | null;
}

export interface LoadedExamples {
  readonly train: readonly Example[];
  readonly val: readonly Example[];
  /** Tokens of a sequence. */
  readonly maxLength: number;
  readonly warnings: readonly string[];
}

/** A row that could be read. */
type ReadRow = Extract<SourceRow, { value: unknown }>;

/** One row as an example. @throws RowError, whatever is wrong with it */
export function encodeExample(
  { value, at, isColumnar = false }: ReadRow,
  { fineTuning }: Pick<TrainConfig, "fineTuning">,
  renderer: Renderer,
): Example {
  const { loss, trainOn } = fineTuning;
  return inRow(at, () => {
    const render = (conversation: Conversation): Example["rows"] =>
      renderConversation(renderer, conversation, at);
    if (loss.type === "dpo") {
      const { chosen, rejected } = parsePreference(value, at, isColumnar);
      return { at, rows: render(chosen), rejected: render(rejected), label: null };
    }
    if (loss.type === "kto") {
      const { conversation, isDesirable } = parseFeedback(value, at, trainOn, isColumnar);
      return { at, rows: render(conversation), rejected: null, label: isDesirable };
    }
    const rows = render(parseConversation(value, at, trainOn, isColumnar));
    return { at, rows, rejected: null, label: null };
  });
}

const maxLengthOf = (example: Example): number =>
  Math.max(...rowsOfExample(example).map(({ tokens }) => tokens.length));

const describe = (source: ExampleSource | null): string =>
  typeof source === "string" ? source : "the dataset";

class Collected {
  readonly examples: Example[] = [];
  readonly #maxLength: number;
  readonly #bad: unknown[] = [];
  #long = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add(example: Example): void {
    if (maxLengthOf(example) > this.#maxLength) this.#long++;
    else this.examples.push(example);
  }

  skip(error: unknown): void {
    this.#bad.push(error);
  }

  /** @throws ConfigError when nothing is left. */
  warnings(name: string, source: string): readonly string[] {
    const warnings: string[] = [];
    const [bad, long] = [this.#bad.length, this.#long];
    if (bad > 0) {
      const [first] = this.#bad;
      warnings.push(
        `${bad} ${bad === 1 ? "row" : "rows"} of the ${name} cannot be used and ${bad === 1 ? "was" : "were"} skipped; the first: ${(first as Error).message}`,
      );
    }
    if (long > 0) {
      warnings.push(
        `${long} of the ${name} ${long === 1 ? "is" : "are"} longer than ${this.#maxLength} tokens and dropped (fine_tuning.max_length, at most the context of the model).`,
      );
    }
    if (this.examples.length > 0) return warnings;
    throw new ConfigError({
      message: `There are no ${name} that can be used${bad + long === 0 ? `: ${source} is empty` : ""}.${warnings.length === 0 ? "" : ` ${warnings.join(" ")}`}`,
      hint:
        long > 0
          ? "Shorten the conversations, or take a model with a longer context."
          : 'Each row of a .jsonl file is one conversation: {"messages": [{"role": "user", ...}, {"role": "assistant", ...}]}.',
      fields: { name, source },
    });
  }
}

/** A row of which not even the JSON can be read. */
function unreadable({ at, problem }: Extract<SourceRow, { problem: unknown }>): RowError {
  const what = problem.message.replace(`${at}: `, "");
  return new RowError(at, what, undefined, problem);
}

async function readSource(
  source: ExampleSource,
  option: string,
  collected: Collected,
  options: ExampleOptions,
): Promise<void> {
  const { config, folder, renderer, signal } = options;
  const name = option.endsWith("val") ? "validation examples" : "examples";
  const opened = await openSource(source, { folder, option, signal, name });
  for await (const row of opened.rows) {
    signal.throwIfAborted();
    try {
      if ("problem" in row) throw unreadable(row);
      collected.add(encodeExample(row, config, renderer));
    } catch (error) {
      if (!(error instanceof RowError) || !config.fineTuning.skipBadRows) throw error;
      collected.skip(error);
    }
  }
}

/** null: those of `fine_tuning.from_run`. @throws ConfigError where there is none, or two. */
function trainSource(
  { fineTuning: { train, fromRun } }: TrainConfig,
  given: ExampleSource | null | undefined,
): ExampleSource | null {
  const source = given ?? train;
  if (source !== null && fromRun !== null) {
    throw new ConfigError({
      message: "fine_tuning.train and fine_tuning.from_run both name examples.",
      hint: "Set one of them to null.",
    });
  }
  if (source !== null || fromRun !== null) return source;
  throw new ConfigError({
    message: "There are no examples to fine-tune on.",
    hint: "Name a file in fine_tuning.train, or a run in fine_tuning.from_run.",
    fields: { option: "fine_tuning.train" },
  });
}

/**
 * Looks for the examples without reading them, so that a wrong name is found before a model is loaded.
 * @throws ConfigError for a file that does not exist, or a folder without recorded episodes.
 */
export function checkExamples({
  config,
  folder,
  train,
  val,
}: Pick<ExampleOptions, "config" | "folder" | "train" | "val">): void {
  const { fromRun, val: valFile } = config.fineTuning;
  const sources = {
    "fine_tuning.train": trainSource(config, train),
    "fine_tuning.val": val ?? valFile,
  };
  for (const [option, source] of Object.entries(sources))
    if (typeof source === "string") checkSource(source, { folder, option });
  if (fromRun !== null) trainingFiles(resolve(folder, fromRun));
}

/** Training and validation examples. @throws ConfigError naming the file and line of a bad row. */
export async function loadExamples(options: ExampleOptions): Promise<LoadedExamples> {
  const { config, folder, renderer, contextLength } = options;
  const { fromRun, minReward, loss, maxLength, val: valFile, valFraction } = config.fineTuning;
  const longest = Math.min(maxLength ?? contextLength, contextLength);
  const source = trainSource(config, options.train);
  const train = new Collected(longest);
  const notes: string[] = [];
  if (fromRun !== null) {
    const choice = { folder: resolve(folder, fromRun), minReward, loss: loss.type };
    const warn = (text: string): void => void notes.push(text);
    for (const example of episodeExamples(choice, renderer, warn)) train.add(example);
  } else if (source !== null) await readSource(source, "fine_tuning.train", train, options);
  const warnings = [...notes, ...train.warnings("training examples", describe(source ?? fromRun))];
  const valSource = options.val ?? valFile;
  if (valSource !== null) {
    const val = new Collected(longest);
    await readSource(valSource, "fine_tuning.val", val, options);
    warnings.push(...val.warnings("validation examples", describe(valSource)));
    return { train: train.examples, val: val.examples, maxLength: longest, warnings };
  }
  const { seed } = config.data;
  return { ...split(train.examples, valFraction, seed), maxLength: longest, warnings };
}

/** A random fraction, the same for the same seed, each part in the order of the data. */
function split(
  examples: readonly Example[],
  fraction: number,
  seed: number,
): Pick<LoadedExamples, "train" | "val"> {
  const count = Math.round(examples.length * fraction);
  if (count === 0) return { train: examples, val: [] };
  if (count >= examples.length) {
    throw new ConfigError({
      message: `fine_tuning.val_fraction=${fraction} leaves none of ${examples.length} examples to train on.`,
      hint: "Lower it, or add examples.",
      fields: { fraction, examples: examples.length },
    });
  }
  const random = createRandom(deriveSeed(seed, "fine-tuning-split"));
  const heldOut = new Set(shuffled([...examples.keys()], random).slice(0, count));
  return {
    train: examples.filter((_, i) => !heldOut.has(i)),
    val: examples.filter((_, i) => heldOut.has(i)),
  };
}

function kindOf({ rejected, label }: Example): string {
  if (label !== null) return label ? "desirable" : "undesirable";
  return rejected === null ? "example" : "pair";
}

/** Hash of the tokens, masks and labels of examples, in order: whether a resumed run has the same data. */
export function hashExamples(examples: readonly Example[]): string {
  const hash = createHash("sha256");
  for (const example of examples) {
    hash.update(kindOf(example));
    for (const { tokens, mask } of rowsOfExample(example)) {
      hash.update(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength));
      hash.update(mask);
    }
  }
  return hash.digest("hex");
}
