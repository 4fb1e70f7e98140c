/**
 * The messages of a W&B log that this tracker writes, with the field numbers of `wandb_internal.proto`.
 * https://github.com/wandb/wandb/blob/main/wandb/proto/wandb_internal.proto
 */
import { ProtoWriter } from "../../util/protobuf-writer.ts";

const record = { number: 1, history: 2, summary: 3, run: 17, exit: 18, header: 21 } as const;
const run = {
  id: 1,
  entity: 2,
  project: 3,
  config: 4,
  name: 8,
  startTime: 17,
  resumed: 18,
} as const;
const item = { key: 1, nestedKey: 2, json: 16 } as const;

/** The oldest client that can read what is written here. */
const minConsumer = "0.16.0";

export interface RunFacts {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly entity: string | null;
  readonly config: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly isResumed: boolean;
}

/** Numbers records, as the log requires. */
export class RecordWriter {
  #count = 0;

  #record(field: number, message: ProtoWriter): Uint8Array {
    this.#count += 1;
    return new ProtoWriter().integer(record.number, this.#count).message(field, message).finish();
  }

  header(): Uint8Array {
    const version = new ProtoWriter().string(1, "agent-trainer").string(2, minConsumer);
    return this.#record(record.header, new ProtoWriter().message(1, version));
  }

  run(facts: RunFacts): Uint8Array {
    const config = new ProtoWriter();
    for (const [key, value] of Object.entries(facts.config)) {
      config.message(1, jsonItem(item.key, key, value));
    }
    const seconds = Math.floor(facts.startedAt / 1000);
    const message = new ProtoWriter().string(run.id, facts.id);
    if (facts.entity !== null) message.string(run.entity, facts.entity);
    message
      .string(run.project, facts.project)
      .message(run.config, config)
      .string(run.name, facts.name)
      .message(run.startTime, new ProtoWriter().integer(1, seconds));
    if (facts.isResumed) message.integer(run.resumed, 1);
    return this.#record(record.run, message);
  }

  /** A row of the history, and the newest values for the table of runs. */
  numbers(step: number, values: readonly (readonly [string, number])[]): readonly Uint8Array[] {
    const history = new ProtoWriter();
    const summary = new ProtoWriter();
    for (const [key, value] of [...values, ["_step", step] as const]) {
      history.message(1, jsonItem(item.nestedKey, key, value));
      summary.message(1, jsonItem(item.nestedKey, key, value));
    }
    history.message(2, new ProtoWriter().integer(1, step));
    return [this.#record(record.history, history), this.#record(record.summary, summary)];
  }

  exit(code: number, seconds: number): Uint8Array {
    const message = new ProtoWriter().integer(1, code).integer(2, Math.round(seconds));
    return this.#record(record.exit, message);
  }
}

function jsonItem(keyField: number, key: string, value: unknown): ProtoWriter {
  return new ProtoWriter().string(keyField, key).string(item.json, JSON.stringify(value ?? null));
}
