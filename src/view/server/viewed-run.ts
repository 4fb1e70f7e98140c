/** One run or evaluation that is being viewed: its index, its summary, and the text of its tokens. */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parse } from "yaml";
import { ConfigError } from "../../core/errors.ts";
import { isEvaluation } from "../../evaluate/evaluation-folder.ts";
import { readRunHealth } from "../../trainer/run-folder/run-health.ts";
import { readRun } from "../../trainer/run-folder/run-summary.ts";
import type { EpisodeRow, RunEntry } from "../api.ts";
import { hasTokenRecords, readTrainedTokens } from "../episode/token-records.ts";
import type { DecodeTokens, KeptTokens } from "../episode/token-view.ts";
import { RunIndex } from "../index/run-index.ts";

/** Finds the text of tokens of a model; null where its tokenizer is not at hand. */
export type FindDecoder = (model: string) => Promise<DecodeTokens | null>;

export class ViewedRun implements Disposable {
  readonly folder: string;
  readonly key: number;
  readonly index: RunIndex;
  readonly #findDecoder: FindDecoder;
  #decoder: Promise<DecodeTokens | null> | undefined;
  /** Of the state of the files that `stamp` names. */
  #findings: { readonly stamp: string; readonly found: Promise<RunEntry["findings"]> } | undefined;

  /** @throws ConfigError when the folder holds neither a run nor an evaluation. */
  constructor(folder: string, key: number, findDecoder: FindDecoder) {
    this.folder = resolve(folder);
    if (!isEvaluation(this.folder) && !existsSync(join(this.folder, "config.resolved.yaml")))
      throw new ConfigError({
        message: `There is no run and no evaluation in ${this.folder}.`,
        hint: "Name the folder of a run; agent-trainer runs list shows those of a folder.",
        fields: { path: this.folder },
      });
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
        steps: 0,
        totalSteps: null,
        firstReward: null,
        lastReward: null,
        findings: [],
      };
    const [run, findings] = await Promise.all([readRun(this.folder), this.#readFindings()]);
    const { model, backend, status, steps, totalSteps, firstReward, lastReward } = run;
    return {
      ...base,
      ...{ model, backend, status, steps, totalSteps, firstReward, lastReward, findings },
    };
  }

  async #readFindings(): Promise<RunEntry["findings"]> {
    const stamp = this.stamp();
    if (this.#findings?.stamp !== stamp) {
      const read = async () =>
        (await readRunHealth(this.folder)).flatMap(({ name, severity, isCurrent }) =>
          isCurrent ? [{ name, severity }] : [],
        );
      this.#findings = { stamp, found: read() };
    }
    const known = this.#findings;
    try {
      return await known.found;
    } catch (error) {
      if (this.#findings === known) this.#findings = undefined;
      throw error;
    }
  }

  /** The tokenizer is loaded once; without it, tokens are shown as ids. */
  async decoder(): Promise<DecodeTokens | null> {
    this.#decoder ??= this.#findOwnDecoder().catch(() => null);
    return this.#decoder;
  }

  /** Reads the model's name alone: the summary of a long run takes a tenth of a second. */
  async #findOwnDecoder(): Promise<DecodeTokens | null> {
    if (isEvaluation(this.folder)) return null;
    const text = await readFile(join(this.folder, "config.resolved.yaml"), "utf8");
    const config = parse(text) as { readonly model?: { readonly name?: string } } | null;
    const model = config?.model?.name ?? "";
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
