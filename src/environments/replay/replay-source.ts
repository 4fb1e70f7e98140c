/**
 * Tasks from production, whose tools answer what they answered there: an environment made of the files that
 * `agent-trainer curate` writes. An episode measures how far it has left the record, and ends where that is too far.
 */
import { join } from "node:path";
import { z } from "zod";
import { type ChatEndpoint, isHttpUrl } from "../../http/chat-completion.ts";
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentSource,
  EnvironmentTool,
  TaskRange,
} from "../../core/environment.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { readLines } from "../../datasets/files/json-lines-file.ts";
import { requireFile } from "../../datasets/files/require-file.ts";
import { answerOf, callKey, RecordedCalls } from "./recorded-calls.ts";
import { ToolModel } from "./tool-model.ts";

/** Options of a replayed environment. */
export interface ReplayOptions {
  /** What `agent-trainer curate` made. */
  readonly folder: string;
  /** How similar the arguments of another call must be for its answer, from 0 to 1; 1 takes none. @default 0.6 */
  readonly nearest?: number;
  /** Calls without an answer in the record after which an episode ends. @default 1 */
  readonly maxMissing?: number;
  /** A model that answers where the record does not. @default none: that is an error of the tool */
  readonly model?: ChatEndpoint;
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
  readonly #model: ToolModel | null;
  /** All calls of the training part; those of what is held out are known to its own task only. */
  #all: RecordedCalls | null = null;

  /** @throws ConfigError for a folder that is none of `curate`, or options out of bounds. */
  constructor({ folder, nearest = 0.6, maxMissing = 1, model }: ReplayOptions) {
    this.name = `replay:${folder}`;
    const isFine = nearest >= 0 && nearest <= 1 && Number.isInteger(maxMissing) && maxMissing >= 1;
    if (folder === "" || !isFine) {
      throw new ConfigError({
        message: `The environment ${JSON.stringify(this.name)} has no folder, nearest=${nearest} or max_missing=${maxMissing}.`,
        hint: "Write it as in replay:./curated?nearest=0.6&max_missing=1.",
        fields: { folder, nearest, maxMissing },
      });
    }
    if (model !== undefined && (!isHttpUrl(model.baseUrl) || model.model === "")) {
      throw new ConfigError({
        message: `The model of ${this.name} is ${JSON.stringify(model.model)} at ${JSON.stringify(model.baseUrl)}, which cannot be asked.`,
        hint: "Write it as in replay:./curated?model=https://api.openai.com/v1&model_name=gpt-5-mini&key_env=OPENAI_API_KEY.",
        fields: { model: model.model, baseUrl: model.baseUrl },
      });
    }
    [this.#folder, this.#nearest, this.#maxMissing] = [folder, nearest, maxMissing];
    this.#model = model === undefined ? null : new ToolModel(model);
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
    const offered = tools.map(({ function: { parameters = {}, ...tool } }) => ({
      name: tool.name,
      parameters,
      ...(tool.description === undefined ? {} : { description: tool.description }),
    }));
    const session = new ReplayEpisode({
      records: [own, this.#recorded()],
      nearest: this.#nearest,
      maxMissing: this.#maxMissing,
      model: this.#model,
      tools: offered,
    });
    return {
      prompt: messages,
      tools: offered,
      call: (name, args, signal) => session.call(name, args, signal),
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
  readonly model: ToolModel | null;
  readonly tools: readonly EnvironmentTool[];
}

/** Recorded calls that a model is shown. */
const maxExamples = 5;

class ReplayEpisode {
  readonly #parts: ReplayParts;
  readonly #made = new Map<string, number>();
  readonly #counts = { exact: 0, nearest: 0, model: 0, fault: 0, missing: 0 };

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  async call(
    name: string,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<EnvironmentResult> {
    const { records, nearest, model, maxMissing } = this.#parts;
    const key = callKey({ name, arguments: given });
    const times = this.#made.get(key) ?? 0;
    this.#made.set(key, times + 1);
    const answer = answerOf({ name, arguments: given }, records, { times, nearest });
    if (answer.kind !== "missing") {
      this.#counts[answer.kind]++;
      return { text: answer.text, signals: this.#signals() };
    }
    const invented = model === null ? null : await this.#ask(model, key, name, given, signal);
    if (invented !== null) {
      this.#counts.model++;
      return { text: invented, signals: this.#signals() };
    }
    if (model !== null) this.#counts.fault++;
    this.#counts.missing++;
    return {
      text: `The record of production has no answer of ${name} to these arguments.`,
      isError: true,
      // What follows an answer that no tool gave would be trained on an invented world.
      done: this.#counts.missing >= maxMissing,
      signals: this.#signals(),
    };
  }

  #ask(
    model: ToolModel,
    key: string,
    name: string,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { records, tools } = this.#parts;
    const examples = records.flatMap((record) => record.like(name, given, maxExamples));
    const tool = tools.find((one) => one.name === name);
    const call = { name, arguments: given };
    return model.answer(key, tool, call, examples.slice(0, maxExamples), signal);
  }

  end(): EnvironmentResult {
    return { text: "", done: true, signals: this.#signals() };
  }

  /** How far the episode has left the record. */
  #signals(): Readonly<Record<string, number>> {
    const { exact, nearest, model, fault, missing } = this.#counts;
    const calls = Math.max(1, exact + nearest + model + missing);
    return {
      replay_nearest_fraction: nearest / calls,
      replay_missing_fraction: missing / calls,
      ...(this.#parts.model === null
        ? {}
        : { replay_model_fraction: model / calls, replay_model_fault_fraction: fault / calls }),
    };
  }
}
