/**
 * A served name with two versions: the one in use, and one that a share of conversations tries until its feedback
 * says whether it is promoted or rolled back. What it decides is on the disk before it takes effect.
 */
import { CheckpointError } from "../../../core/errors.ts";
import { namesStep } from "../../evaluate/open-checkpoint.ts";
import { OneAfterAnother } from "../../../util/one-after-another.ts";
import { LeavingHosts } from "../leaving-hosts.ts";
import { joinMetrics } from "../join-metrics.ts";
import {
  type HostOptions,
  ModelHost,
  nameModel,
  type NamedModel,
  type ServedModel,
} from "../model-host.ts";
import type { ModelRequest } from "../model-request.ts";
import type { ServedCalls } from "../served-calls.ts";
import type { CanaryChange } from "../serve-options.ts";
import { type CanaryLook, type CanaryRule, look } from "./canary-rule.ts";
import type { CanaryFile, CanaryState, KnownVersion, TrialEnd } from "./canary-state.ts";
import { conversationKey, isChosen } from "./conversation-key.ts";

export interface CanaryParts {
  readonly file: CanaryFile;
  readonly calls: ServedCalls;
  readonly rule: CanaryRule;
  /** Of conversations that try a candidate. */
  readonly share: number;
  readonly host: HostOptions;
  readonly onChange: (change: CanaryChange) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${value.toFixed(3)}`;

export class CanaryModel implements ServedModel {
  readonly name: string;
  readonly #parts: CanaryParts;
  readonly #turn = new OneAfterAnother();
  readonly #leaving: LeavingHosts;
  #current: ModelHost;
  #candidate: ModelHost | null = null;
  #state: CanaryState;

  private constructor(current: ModelHost, state: CanaryState, parts: CanaryParts) {
    this.name = current.name;
    this.#current = current;
    this.#state = state;
    this.#parts = parts;
    this.#leaving = new LeavingHosts(parts.host.onError);
  }

  /**
   * Opens the version in use, by the state of an earlier process where the same was given then.
   * @throws CheckpointError where that version is gone, and what `ModelHost.open` throws.
   */
  static async open(given: NamedModel, origin: string, parts: CanaryParts): Promise<CanaryModel> {
    const before = parts.file.read();
    const isSame = before?.origin === origin;
    const named = isSame ? await inUse(given, before.current) : given;
    const current = await ModelHost.open(named, parts.host);
    const state: CanaryState = {
      origin,
      current: { version: current.version, model: modelOf(named, origin) },
      trial: isSame ? before.trial : null,
      ended: before?.ended ?? [],
    };
    const model = new CanaryModel(current, state, parts);
    try {
      if (state.trial !== null) await model.#resume(state.trial);
      parts.file.write(model.#state);
      await model.decide();
      return model;
    } catch (error) {
      await model[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What is in use, and what is tried. */
  get state(): CanaryState {
    return this.#state;
  }

  respond(request: ModelRequest): Promise<Response> {
    return this.#hostOf(request).respond(request);
  }

  /** Tries a model, unless one is tried now, or it is in use, or a trial of it has ended. */
  consider(found: NamedModel, version: string): Promise<void> {
    return this.#turn.run(async () => {
      if (!this.isNew(version)) return;
      const candidate = await ModelHost.open(found, this.#parts.host);
      // A run may have replaced the checkpoint that was found.
      if (!this.isNew(candidate.version)) {
        await candidate[Symbol.asyncDispose]();
        return;
      }
      const known = { version: candidate.version, model: modelOf(found, found.name) };
      this.#set({ ...this.#state, trial: { ...known, since: this.#parts.now(), looks: 0 } });
      this.#candidate = candidate;
      const percent = `${this.#parts.share * 100} %`;
      this.#say("trial", known, `${percent} of conversations try it`);
    });
  }

  /** Whether a version may be tried now: not one that was rolled back, or that another took the place of. */
  isNew(version: string): boolean {
    const { current, trial, ended } = this.#state;
    return (
      trial === null &&
      current.version !== version &&
      !ended.some((end) => (end.end === "promoted" ? end.against : end.version) === version)
    );
  }

  /** Looks at the feedback, where there is enough for another look. Never rejects. */
  decide(): Promise<void> {
    return this.#turn.run(async () => {
      try {
        while (this.#look());
      } catch (error) {
        // Nothing took effect: the next feedback looks again.
        const why = error instanceof Error ? error.message : String(error);
        this.#parts.host.onWarning?.(`The canary of ${this.name} cannot decide: ${why}`);
      }
    });
  }

  /** Takes one look, if one is due. @returns whether another may be */
  #look(): boolean {
    const { calls, rule } = this.#parts;
    const { current, trial } = this.#state;
    if (trial === null) return false;
    const of = (version: string) => calls.tally(version, trial.since);
    const [before, tried] = [of(current.version), of(trial.version)];
    const found = look(before, tried, trial.looks, rule);
    if (found === null) return false;
    if (found.verdict === null) {
      this.#set({ ...this.#state, trial: { ...trial, looks: trial.looks + 1 } });
      return true;
    }
    this.#end(found, `${tried.n} against ${before.n} pieces of feedback`);
    return false;
  }

  async metrics(): Promise<string> {
    const hosts = [this.#current, ...(this.#candidate === null ? [] : [this.#candidate])];
    const texts = await Promise.all(
      hosts.map(async (host) => [host.version, await host.metrics()] as const),
    );
    return joinMetrics(new Map(texts), "version");
  }

  async drain(limitMs: number): Promise<number> {
    const hosts = [this.#current, ...(this.#candidate === null ? [] : [this.#candidate])];
    const left = await Promise.all(hosts.map((host) => host.drain(limitMs)));
    return left.reduce((sum, count) => sum + count, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn.run(async () => {});
    await Promise.all([
      this.#current[Symbol.asyncDispose](),
      this.#candidate?.[Symbol.asyncDispose](),
      this.#leaving.gone(),
    ]);
    this.#parts.file[Symbol.dispose]();
  }

  #hostOf(request: ModelRequest): ModelHost {
    const candidate = this.#candidate;
    if (candidate === null || this.#current.continues(request)) return this.#current;
    if (candidate.continues(request)) return candidate;
    const { key } = conversationKey(request);
    return isChosen(key, candidate.version, this.#parts.share) ? candidate : this.#current;
  }

  /** The trial of an earlier process goes on; a version that is gone cannot. */
  async #resume(trial: NonNullable<CanaryState["trial"]>): Promise<void> {
    try {
      const found = await nameModel({ name: this.name, model: trial.model });
      const candidate = await ModelHost.open(found, this.#parts.host);
      if (candidate.version === trial.version) {
        this.#candidate = candidate;
        return;
      }
      await candidate[Symbol.asyncDispose]();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#parts.host.onWarning?.(`${trial.version} cannot be tried further: ${why}`);
    }
    this.#state = { ...this.#state, trial: null };
  }

  #end({ verdict, difference, low, high }: CanaryLook, counts: string): void {
    const { current, trial, ended, ...rest } = this.#state;
    if (trial === null) return;
    const { version, model } = trial;
    const tried: KnownVersion = { version, model };
    const why = `difference ${signed(difference)} (${signed(low)} to ${signed(high)}), ${counts}`;
    const isPromoted = verdict === "promote";
    const end: TrialEnd = {
      ...tried,
      end: isPromoted ? "promoted" : "rolled back",
      against: current.version,
      at: this.#parts.now(),
      why,
    };
    this.#set({
      ...rest,
      current: isPromoted ? tried : current,
      trial: null,
      ended: [...ended, end],
    });
    const candidate = this.#candidate;
    this.#candidate = null;
    if (isPromoted && candidate !== null) {
      this.#leaving.add(this.#current);
      this.#current = candidate;
    } else if (candidate !== null) this.#leaving.add(candidate);
    this.#say(end.end, tried, why);
  }

  #set(state: CanaryState): void {
    this.#parts.file.write(state);
    this.#state = state;
  }

  #say(what: CanaryChange["what"], { version }: KnownVersion, why: string): void {
    this.#parts.onChange({ model: this.name, what, version, why });
  }
}

/** @throws CheckpointError where the run has deleted it. */
async function inUse(given: NamedModel, { version, model }: KnownVersion): Promise<NamedModel> {
  const found = await nameModel({ name: given.name, model });
  if (found.located.kind === "checkpoint" || !namesStep(model)) return found;
  throw new CheckpointError({
    message: `${version} is in use, but its checkpoint ${model} is gone.`,
    hint: "Keep checkpoints that are served (trainer.keep_checkpoints), or serve another model by its name: RUN/best.",
    fields: { path: model },
  });
}

/** What a version is loaded from again. */
function modelOf({ located, given }: NamedModel, otherwise: string): string {
  if (located.kind === "checkpoint") return located.checkpoint.path;
  return typeof given === "string" ? given : otherwise;
}
