/** One run or evaluation that is being viewed: its index, its summary, and the text of its tokens. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { isEvaluation } from "../../runs/evaluations/evaluation-folder.ts";
import type { RunFinding } from "../../core/health.ts";
import type { MetricLine } from "../../runs/health/history.ts";
import { readMetricLines } from "../../runs/metric-lines.ts";
import { readRunHealth } from "../../runs/run-health.ts";
import { holdsSeeds } from "../../runs/seeds/seeds-record.ts";
import { readListedRun } from "../../runs/run-summary.ts";
import { configFile, readStoredConfig, textAt } from "../../runs/stored-config.ts";
import type { EpisodePhase, EpisodeRow } from "../api/episodes.ts";
import type { RunEntry } from "../api/runs.ts";
import { hasTokenRecords, readTrainedTokens } from "../episode/token-records.ts";
import type { DecodeTokens, KeptTokens } from "../episode/token-view.ts";
import { type TaskCell, taskCells } from "../index/query.ts";
import { RunIndex } from "../index/run-index.ts";

/** Finds the text of tokens of a model; null where its tokenizer is not at hand. */
export type FindDecoder = (model: string) => Promise<DecodeTokens | null>;

/** Whether the folder is that of a run or of an evaluation. */
export const isViewable = (folder: string): boolean =>
  isEvaluation(folder) || existsSync(join(folder, configFile));

/** Runs and evaluations directly below a folder, by name, and those of several seeds; none where it cannot be read. */
export function viewableIn(folder: string): readonly string[] {
  try {
    const below = readdirSync(folder).map((name) => join(folder, name));
    const ofSeeds = below.filter(holdsSeeds).flatMap((seeds) => viewableIn(seeds));
    return [...below.filter(isViewable), ...ofSeeds].toSorted();
  } catch {
    return [];
  }
}

export class ViewedRun implements Disposable {
  readonly folder: string;
  readonly key: number;
  readonly index: RunIndex;
  readonly #findDecoder: FindDecoder;
  #decoder: Promise<DecodeTokens | null> | undefined;
  readonly #known = new Map<string, { readonly stamp: string; readonly value: Promise<unknown> }>();

  /** @throws ConfigError when the folder holds neither a run nor an evaluation. */
  constructor(folder: string, key: number, findDecoder: FindDecoder) {
    this.folder = resolve(folder);
    if (!isViewable(this.folder)) {
      const [first] = viewableIn(this.folder);
      throw new ConfigError({
        message: `There is no run and no evaluation in ${this.folder}.`,
        hint:
          first === undefined
            ? "Name the folder of a run; agent-trainer runs list shows those of a folder."
            : `It is a folder of runs: name one of them, as ${first}.`,
        fields: { path: this.folder },
      });
    }
    this.key = key;
    this.index = new RunIndex(this.folder);
    this.#findDecoder = findDecoder;
  }

  async entry(): Promise<RunEntry> {
    const index = this.index.state();
    const base = { key: this.key, name: basename(this.folder), path: this.folder, index };
    if (isEvaluation(this.folder))
      return {
        ...base,
        model: "",
        backend: "evaluation",
        status: "evaluation",
        reason: null,
        steps: 0,
        totalSteps: null,
        firstReward: null,
        lastReward: null,
        bestValidation: null,
        updatedAt: null,
        findings: [],
      };
    const [run, found] = await Promise.all([
      readListedRun(this.folder),
      // What cannot be read says so by its status.
      this.health().catch(() => []),
    ]);
    const { model, backend, status, reason, steps, totalSteps, firstReward, lastReward } = run;
    const { bestValidation, updatedAt } = run;
    const findings = found.flatMap(({ name, severity, isCurrent }) =>
      isCurrent ? [{ name, severity }] : [],
    );
    return {
      ...base,
      ...{ model, backend, status, reason, steps, totalSteps, firstReward, lastReward, findings },
      ...{ bestValidation, updatedAt },
    };
  }

  /** What `make` returned for this state of the run; a failure is not kept. */
  async once<T>(name: string, make: () => Promise<T>, stamp: string = this.stamp()): Promise<T> {
    const known = this.#known.get(name);
    if (known?.stamp === stamp) return known.value as Promise<T>;
    const made = { stamp, value: make() };
    this.#known.set(name, made);
    try {
      return await made.value;
    } catch (error) {
      if (this.#known.get(name) === made) this.#known.delete(name);
      throw error;
    }
  }

  health(): Promise<readonly RunFinding[]> {
    return this.once("health", () => readRunHealth(this.folder));
  }

  /** Rewards by task and step, for the episodes that are in the index now. */
  cells(phase: EpisodePhase): Promise<readonly TaskCell[]> {
    const { db } = this.index;
    const stamp = String(this.index.state().episodes);
    return this.once(`cells/${phase}`, async () => taskCells(db, phase), stamp);
  }

  metricLines(): Promise<readonly MetricLine[]> {
    return this.once("metrics", () => readMetricLines(this.folder));
  }

  /** The tokenizer is loaded once; without it, tokens are shown as ids. */
  async decoder(): Promise<DecodeTokens | null> {
    this.#decoder ??= this.#findOwnDecoder().catch(() => null);
    return this.#decoder;
  }

  /** Reads the model's name alone: the summary of a long run takes a tenth of a second. */
  async #findOwnDecoder(): Promise<DecodeTokens | null> {
    if (isEvaluation(this.folder)) return null;
    const model = textAt(readStoredConfig(this.folder), "model.name");
    return model === "" ? null : this.#findDecoder(model);
  }

  /** What was kept of training on the calls of an episode. */
  kept({ id, step }: EpisodeRow): KeptTokens {
    return {
      isOn: hasTokenRecords(this.folder),
      find: (trace, tokens) => readTrainedTokens(this.folder, { episode: id, trace, step, tokens }),
    };
  }

  /** Changes when the run writes something. */
  stamp(): string {
    const files = ["metrics.jsonl", "events.jsonl"].map((name) => join(this.folder, name));
    return files.map((file) => (existsSync(file) ? statSync(file).size : 0)).join("/");
  }

  [Symbol.dispose](): void {
    this.index[Symbol.dispose]();
  }
}
