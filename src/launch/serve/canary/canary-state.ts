/** Which version is in use, which is tried, and which never again: a file that survives every kill. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../core/errors.ts";
import { namingFile } from "../../../core/file-error.ts";
import { holdCheckpoint } from "../../../runs/checkpoint-lease.ts";
import { lockRun } from "../../../runs/run-lock.ts";
import { namesStep } from "../../evaluate/open-checkpoint.ts";
import { writeFileAtomicSync } from "../../../util/files/atomic-write.ts";

/** A version, and where its model is. */
export interface KnownVersion {
  readonly version: string;
  /** What it is loaded from: a checkpoint, or what was given. */
  readonly model: string;
}

/** A version that is tried. */
interface Trial extends KnownVersion {
  /** Milliseconds since the epoch; feedback on calls before it does not count. */
  readonly since: number;
  /** Looks at the feedback that were taken. */
  readonly looks: number;
}

/** How a trial ended. */
export interface TrialEnd extends KnownVersion {
  readonly end: "promoted" | "rolled back";
  /** The version that it was compared with. */
  readonly against: string;
  readonly at: number;
  readonly why: string;
}

export interface CanaryState {
  /** What was given to be served; another one begins anew. */
  readonly origin: string;
  readonly current: KnownVersion;
  readonly trial: Trial | null;
  /** Oldest first. */
  readonly ended: readonly TrialEnd[];
}

const format = "agent-trainer/canary/1";

const fileIn = (folder: string): string => join(folder, "canary.json");

/** Also while a server has it. null where nothing was written yet. @throws ConfigError for another format. */
export function readCanary(folder: string): CanaryState | null {
  const path = fileIn(folder);
  if (!existsSync(path)) return null;
  try {
    const text = namingFile({ path }, () => readFileSync(path, "utf8"));
    const { format: found, ...state } = JSON.parse(text) as CanaryState & { format?: unknown };
    if (found === format && typeof state.current?.version === "string") return state;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConfigError({
    message: `${path} cannot be used: it is not of the format "${format}".`,
    hint: "Restore it. Without it, versions that were rolled back may be tried again.",
    fields: { path },
  });
}

/** Where a store keeps the state of served names. */
export const servedFolder = (store: string): string => join(store, "serve");

export const canaryFolder = (store: string, name: string): string =>
  join(servedFolder(store), encodeURIComponent(name));

/** The state of one served name in its folder, which one process at a time may have. */
export class CanaryFile implements Disposable {
  readonly path: string;
  readonly #folder: string;
  readonly #unlock: () => void;
  readonly #held = new Set<string>();

  /** @throws AgentTrainerError RUN_LOCKED where another process has it. */
  constructor(folder: string) {
    this.#folder = folder;
    this.path = fileIn(folder);
    namingFile({ path: folder }, () => mkdirSync(folder, { recursive: true }));
    this.#unlock = lockRun(folder);
  }

  /** @throws ConfigError for a file that is not of this format. */
  read(): CanaryState | null {
    return readCanary(this.#folder);
  }

  write(state: CanaryState): void {
    const text = JSON.stringify({ format, ...state }, null, 2);
    for (const { model } of [state.current, ...(state.trial === null ? [] : [state.trial])])
      this.#hold(model);
    namingFile({ path: this.path }, () => writeFileAtomicSync(this.path, `${text}\n`));
  }

  /** A restart needs what the state names. */
  #hold(model: string): void {
    if (this.#held.has(model) || !namesStep(model) || !existsSync(model)) return;
    this.#held.add(model);
    holdCheckpoint(model, this.path);
  }

  [Symbol.dispose](): void {
    this.#unlock();
  }
}
