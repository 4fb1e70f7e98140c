/**
 * One round of improvement: what production said is collected, curated, trained on, and handed over to serve where
 * the gate says that the model is better. Each stage is written down when it is done; a round that was stopped
 * goes on at the next.
 */
import { mkdirSync } from "node:fs";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import type { EventListener } from "../../trainer/events.ts";
import { checkRule } from "../../runs/evaluations/gate-rule.ts";
import { readHandedOver, writeHandedOver } from "../../runs/rounds/handed-over.ts";
import { readRounds, roundFolder, writeRound } from "../../runs/rounds/round-file.ts";
import type { Round, RoundStatus } from "../../runs/rounds/round.ts";
import { lockRun } from "../../runs/run-lock.ts";
import { collectStage } from "./collect-stage.ts";
import { curateStage, newFeedback } from "./curate-stage.ts";
import { type GateWatch, gateStage, growRegressions } from "./gate-stage.ts";
import { pinned } from "./pinned.ts";
import { gateConfig, gateRule, trainingConfig } from "./round-configs.ts";
import { trainStage } from "./train-stage.ts";

export type Stage = "collect" | "curate" | "train" | "gate" | "hand over";

/** Options of {@link improve}. */
export interface ImproveRunOptions extends Omit<GateWatch, "signal"> {
  /** What `loadImproveConfig` read. */
  readonly config: ImproveConfig;
  /** Ends a round that was stopped, and begins a new one. @default false: it goes on */
  readonly abandon?: boolean;
  /** Aborting it stops the round; the next call continues it. */
  readonly signal?: AbortSignal;
  /** Called when a stage begins. */
  readonly onStage?: (stage: Stage, round: Round) => void;
  /** Called with every event of the training. */
  readonly onEvent?: EventListener;
}

/** A round that has ended. */
export type ImproveResult = Round & {
  readonly status: Exclude<RoundStatus, "running" | "abandoned">;
};

const end = <S extends RoundStatus>(round: Round, status: S): Round & { readonly status: S } => ({
  ...round,
  status,
  endedAt: Date.now(),
});

/** What the file says does not change within a round. @throws ConfigError */
function checkOptions({ round, options }: Round, config: ImproveConfig): void {
  if (JSON.stringify(options) === JSON.stringify(config)) return;
  throw new ConfigError({
    message: `Round ${round} has not ended, and it began with other options than the file has now.`,
    hint: "Restore them, or end the round and begin another: --abandon (in code: abandon).",
    fields: { folder: config.folder },
  });
}

/**
 * Runs a round, or continues the one that was stopped.
 *
 * @throws ConfigError for options that cannot be used, before anything is done; ABORTED when it is interrupted.
 *
 * @example
 * const result = await improve({ config: loadImproveConfig("improve.yaml") });
 * console.log(result.status);
 */
export async function improve(options: ImproveRunOptions): Promise<ImproveResult> {
  const { config, abandon = false } = options;
  const { folder } = config;
  // Before the first stage, not after hours.
  const evaluated = gateConfig(config);
  checkRule(gateRule(config, evaluated));
  trainingConfig(config, { round: 1, model: evaluated.model.name, val: 0 });
  namingFile({ path: folder }, () => mkdirSync(folder, { recursive: true }));
  const unlock = lockRun(folder);
  try {
    let rounds = readRounds(folder);
    const last = rounds.at(-1);
    if (last?.status === "running") {
      if (!abandon) {
        checkOptions(last, config);
        return await new RoundRun(last, rounds, options).run();
      }
      writeRound(folder, end(last, "abandoned"));
      rounds = readRounds(folder);
    }
    const round: Round = {
      round: (last?.round ?? 0) + 1,
      status: "running",
      startedAt: Date.now(),
      endedAt: null,
      options: config,
      store: config.collect.store,
      inUse: await pinned(readHandedOver(folder)?.model ?? evaluated.model.name),
    };
    mkdirSync(roundFolder(folder, round.round), { recursive: true });
    writeRound(folder, round);
    return await new RoundRun(round, rounds, options).run();
  } finally {
    unlock();
  }
}

class RoundRun {
  readonly #options: ImproveRunOptions;
  readonly #signal: AbortSignal;
  readonly #earlier: readonly Round[];
  #round: Round;

  constructor(round: Round, rounds: readonly Round[], options: ImproveRunOptions) {
    this.#round = round;
    this.#earlier = rounds.filter((other) => other.round < round.round);
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  /** What a stage found: from the record where it was done before. */
  async #stage<K extends "collect" | "curate" | "train" | "gate">(
    name: K,
    run: () => Promise<NonNullable<Round[K]>>,
  ): Promise<NonNullable<Round[K]>> {
    const before = this.#round[name];
    if (before !== undefined) return before;
    this.#signal.throwIfAborted();
    this.#options.onStage?.(name, this.#round);
    const found = await run();
    this.#set({ ...this.#round, [name]: found });
    return found;
  }

  #set(round: Round): void {
    writeRound(this.#options.config.folder, round);
    this.#round = round;
  }

  #end<S extends "handed over" | "refused" | "too little">(status: S) {
    const ended = end(this.#round, status);
    this.#set(ended);
    return ended;
  }

  async run(): Promise<ImproveResult> {
    const { config, onEvent = () => {}, ...watch } = this.#options;
    const signal = this.#signal;
    await this.#stage("collect", () => collectStage(config.collect, signal));
    const { round } = this.#round;
    const unused = newFeedback(this.#earlier);
    const curated = await this.#stage("curate", () =>
      curateStage({ config, round, unused, signal }),
    );
    if (curated.rows.train < config.curate.minRows) return this.#end("too little");
    const pull = watch.onPull === undefined ? {} : { onPull: watch.onPull };
    const train = await this.#stage("train", () =>
      trainStage({ config, round: this.#round, signal, onEvent, ...pull }),
    );
    const gate = await this.#stage("gate", () => {
      const { onResult, onWarning } = watch;
      const given = { ...pull, ...(onResult && { onResult }), ...(onWarning && { onWarning }) };
      return gateStage(config, { ...this.#round, train }, { ...given, signal });
    });
    if (gate.verdict !== "better") return this.#end("refused");
    this.#options.onStage?.("hand over", this.#round);
    const regressions = growRegressions(config, this.#round);
    writeHandedOver(config.folder, { ...train.candidate, round });
    this.#round = { ...this.#round, handOver: { at: Date.now(), regressions } };
    return this.#end("handed over");
  }
}
