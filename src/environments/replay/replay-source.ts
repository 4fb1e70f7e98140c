/**
 * Tasks from production, whose tools answer what they answered there: an environment made of the files that
 * `agent-trainer curate` writes. An episode measures how far it has left the record, and ends where that is too far.
 */
import { join } from "node:path";
import { z } from "zod";
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentSource,
  TaskRange,
} from "../../core/environment.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { readLines } from "../../datasets/files/json-lines-file.ts";
import { requireFile } from "../../datasets/files/require-file.ts";
import { defined } from "../../util/defined.ts";
import { answerOf, callKey, RecordedCalls } from "./recorded-calls.ts";

/** Options of a replayed environment. */
export interface ReplayOptions {
  /** What `agent-trainer curate` made. */
  readonly folder: string;
  /** How similar the arguments of another call must be for its answer, from 0 to 1; 1 takes none. @default 0.6 */
  readonly nearest?: number;
  /** Calls without an answer in the record after which an episode ends. @default 1 */
  readonly maxMissing?: number;
}

const object = z.record(z.string(), z.unknown());

const row = z.looseObject({
  id: z.string(),
  instruction: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.string() })),
  tools: z
    .array(
      z.looseObject({
        function: z.looseObject({
          name: z.string(),
          description: z.string().optional(),
          parameters: object.optional(),
        }),
      }),
    )
    .default([]),
  calls: z.array(z.object({ name: z.string(), arguments: object, result: z.string() })).default([]),
});

const files: Readonly<Record<string, string>> = {
  train: "tasks.jsonl",
  val: "val/tasks.jsonl",
  test: "val/tasks.jsonl",
};

/** Tasks are asked and answered by tools; what is said at the end is for an evaluator. */
export class ReplaySource implements EnvironmentSource {
  readonly name: string;
  readonly givesRewards = false;
  readonly #folder: string;
  readonly #nearest: number;
  readonly #maxMissing: number;
  /** All calls of the training part; those of what is held out are known to its own task only. */
  #all: RecordedCalls | null = null;

  /** @throws ConfigError for a folder that is none of `curate`, or options out of bounds. */
  constructor({ folder, nearest = 0.6, maxMissing = 1 }: ReplayOptions) {
    this.name = `replay:${folder}`;
    const isFine = nearest >= 0 && nearest <= 1 && Number.isInteger(maxMissing) && maxMissing >= 1;
    if (folder === "" || !isFine) {
      throw new ConfigError({
        message: `The environment ${JSON.stringify(this.name)} has no folder, nearest=${nearest} or max_missing=${maxMissing}.`,
        hint: "Write it as in replay:./curated?nearest=0.6&max_missing=1.",
        fields: { folder, nearest, maxMissing },
      });
    }
    [this.#folder, this.#nearest, this.#maxMissing] = [folder, nearest, maxMissing];
  }

  // oxlint-disable-next-line require-await -- The contract is asynchronous; the file is read as it is needed.
  async *tasks(split: string, range: TaskRange = {}): AsyncGenerator<Task> {
    let index = 0;
    for (const { text } of this.#lines(split)) {
      if (text.trim() === "") continue;
      const at = index++;
      if (at < (range.start ?? 0)) continue;
      if (at >= (range.stop ?? Infinity)) return;
      const fields = JSON.parse(text) as Task & Record<string, unknown>;
      yield { id: fields.id, instruction: fields.instruction, metadata: fields };
    }
  }

  // oxlint-disable-next-line require-await -- As the contract has it.
  async open({ id, metadata }: Task): Promise<EnvironmentEpisode> {
    const read = row.safeParse(metadata);
    if (!read.success) {
      throw new ConfigError({
        message: `The task ${id} is not one of ${this.name}: ${z.prettifyError(read.error)}`,
        hint: "Take the tasks that the environment gives.",
        fields: { task: id },
      });
    }
    const { messages, tools, calls } = read.data;
    const own = new RecordedCalls();
    for (const call of calls) own.add(call);
    const session = new ReplayEpisode({
      records: [own, this.#recorded()],
      nearest: this.#nearest,
      maxMissing: this.#maxMissing,
    });
    return {
      prompt: messages,
      tools: tools.map(({ function: { name, description, parameters = {} } }) => ({
        name,
        parameters,
        ...defined({ description }),
      })),
      call: (name, args) => Promise.resolve(session.call(name, args)),
      finish: () => Promise.resolve(session.end()),
      close: () => Promise.resolve(),
    };
  }

  *#lines(split: string): Generator<{ readonly text: string }> {
    const name = files[split];
    if (name === undefined) {
      throw new ConfigError({
        message: `${this.name} has no split ${JSON.stringify(split)}; it has train and val.`,
        fields: { split },
      });
    }
    const file = join(this.#folder, name);
    requireFile(file, "env", "Make it first: agent-trainer curate production --output curated");
    yield* readLines(file);
  }

  #recorded(): RecordedCalls {
    if (this.#all !== null) return this.#all;
    this.#all = new RecordedCalls();
    for (const { text } of this.#lines("train")) {
      const read = row.safeParse(text.trim() === "" ? {} : JSON.parse(text));
      for (const call of read.data?.calls ?? []) this.#all.add(call);
    }
    return this.#all;
  }
}

interface ReplayParts {
  readonly records: readonly RecordedCalls[];
  readonly nearest: number;
  readonly maxMissing: number;
}

class ReplayEpisode {
  readonly #parts: ReplayParts;
  readonly #made = new Map<string, number>();
  readonly #counts = { exact: 0, nearest: 0, missing: 0 };

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  call(name: string, given: Readonly<Record<string, unknown>>): EnvironmentResult {
    const { records, nearest, maxMissing } = this.#parts;
    const key = callKey({ name, arguments: given });
    const times = this.#made.get(key) ?? 0;
    this.#made.set(key, times + 1);
    const answer = answerOf({ name, arguments: given }, records, { times, nearest });
    this.#counts[answer.kind]++;
    if (answer.kind !== "missing") return { text: answer.text, signals: this.#signals() };
    return {
      text: `The record of production has no answer of ${name} to these arguments.`,
      isError: true,
      // What follows an answer that no tool gave would be trained on an invented world.
      done: this.#counts.missing >= maxMissing,
      signals: this.#signals(),
    };
  }

  end(): EnvironmentResult {
    return { text: "", done: true, signals: this.#signals() };
  }

  /** How far the episode has left the record. */
  #signals(): Readonly<Record<string, number>> {
    const { exact, nearest, missing } = this.#counts;
    const calls = Math.max(1, exact + nearest + missing);
    return {
      replay_nearest_fraction: nearest / calls,
      replay_missing_fraction: missing / calls,
    };
  }
}
