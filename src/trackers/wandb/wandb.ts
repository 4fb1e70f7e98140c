/**
 * Weights & Biases: writes the log that its own client writes offline, `wandb/` of the run folder, which
 * `wandb sync` uploads. With `mode: "online"`, the installed `wandb` command uploads it while the run
 * goes. Its npm package (0.5) is years behind the service, so the log is what both sides agree on.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, open, readdir, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TrainerEvent } from "../../core/events.ts";
import type { TrackedRun, Tracker } from "../../core/tracker.ts";
import { numberEvents, numbersOf } from "../numbers.ts";
import { type StartedProcess, startProcess } from "../../util/process/start-process.ts";
import { RecordWriter } from "./records.ts";
import { TransactionLog } from "./transaction-log.ts";

export interface WandbOptions {
  /** `offline` writes the log only; `online` also starts `wandb` to upload it. */
  readonly mode: "offline" | "online";
  /** Team or user that the run belongs to; null is the default of the account. */
  readonly entity: string | null;
}

/** `20261122_171100`, as W&B names folders. */
function stamp(time: number): string {
  const [date, clock] = new Date(time).toISOString().slice(0, 19).split("T") as [string, string];
  return `${date.replaceAll("-", "")}_${clock.replaceAll(":", "")}`;
}

/** The id of the run that earlier parts of it were written under, or a new one. */
async function runId(
  folder: string,
): Promise<{ readonly id: string; readonly isResumed: boolean }> {
  const names = await readdir(folder).catch(() => []);
  const earlier = names.map((name) => /^offline-run-\d+_\d+-(\w+)$/u.exec(name)?.[1]);
  const id = earlier.find((found) => found !== undefined);
  return { id: id ?? randomBytes(4).toString("hex"), isResumed: id !== undefined };
}

class WandbLog {
  readonly #file: FileHandle;
  readonly #log = new TransactionLog();
  readonly #records = new RecordWriter();
  readonly #startedAt: number;

  private constructor(file: FileHandle, startedAt: number) {
    this.#file = file;
    this.#startedAt = startedAt;
  }

  static async create(
    event: TrainerEvent & { readonly type: "run-start" },
    { project, config }: TrackedRun,
    entity: string | null,
  ): Promise<{ readonly log: WandbLog; readonly folder: string }> {
    const parent = join(event.runDir, "wandb");
    const { id, isResumed } = await runId(parent);
    const folder = join(parent, `offline-run-${stamp(event.time)}-${id}`);
    await mkdir(folder, { recursive: true });
    const log = new WandbLog(await open(join(folder, `run-${id}.wandb`), "w"), event.time);
    await log.#file.appendFile(log.#log.header);
    const name = basename(event.runDir);
    const startedAt = event.time;
    await log.#write([
      log.#records.header(),
      log.#records.run({ id, name, project, entity, config, startedAt, isResumed }),
    ]);
    return { log, folder };
  }

  async #write(records: readonly Uint8Array[]): Promise<void> {
    await this.#file.appendFile(Buffer.concat(records.map((record) => this.#log.encode(record))));
  }

  async numbers({ step, time }: TrainerEvent, values: readonly (readonly [string, number])[]) {
    const since = (time - this.#startedAt) / 1000;
    const own = [["_timestamp", time / 1000] as const, ["_runtime", since] as const];
    await this.#write(this.#records.numbers(step, [...values, ...own]));
  }

  async exit({ time }: TrainerEvent, code: number): Promise<void> {
    await this.#write([this.#records.exit(code, (time - this.#startedAt) / 1000)]);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Uploads a log while it grows; resolves when the command has started. */
async function startUpload(folder: string): Promise<StartedProcess> {
  const started = startProcess({
    argv: ["wandb", "beta", "sync", "--live", "--yes", folder],
    env: process.env,
    stdio: ["ignore", "ignore", "inherit"],
    mayStay: true,
  });
  try {
    await once(started.child, "spawn");
  } catch (cause) {
    throw new Error(
      "tracking.wandb.mode=online needs the command wandb: pip install wandb, and wandb login; or set tracking.wandb.mode=offline and run wandb sync later",
      { cause },
    );
  }
  return started;
}

/** Metrics per step, and the configuration, for W&B. */
export function createWandbTracker(run: TrackedRun, { mode, entity }: WandbOptions): Tracker {
  let log: WandbLog | null = null;
  let upload: StartedProcess | null = null;
  return {
    name: "wandb",
    events: ["run-start", ...numberEvents, "run-end"],
    async track(event) {
      if (event.type === "run-start") {
        const created = await WandbLog.create(event, run, entity);
        log = created.log;
        if (mode === "online") upload = await startUpload(created.folder);
      }
      const numbers = numbersOf(event);
      if (numbers !== undefined) await log?.numbers(event, numbers);
      if (event.type === "run-end") {
        await log?.exit(event, event.status === "failed" ? 1 : 0);
      }
    },
    async close(signal) {
      await log?.close();
      if (upload === null || upload.child.exitCode !== null) return;
      try {
        await once(upload.child, "exit", { signal });
      } catch {
        // The upload goes on by itself after the run.
        upload.release();
      }
    },
  };
}
