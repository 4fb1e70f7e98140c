/** An episode as an agent gets it: results within limits, rewards recorded, no call after the end. */
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentTool,
  EpisodeOutcome,
  ModelAddress,
  PromptMessage,
} from "../../core/environment.ts";
import { startDeadline } from "../../core/deadline.ts";
import type { EvalOutput, Signal } from "../../core/trajectory.ts";
import { raceAbort } from "../../util/abort.ts";
import { environmentError } from "./environment-error.ts";
import { plainText } from "./plain-text.ts";

/** Limits of the episodes of a source, whatever its protocol. */
export interface EpisodeLimits {
  /** Maximum length of a result that the model sees; the middle of a longer one is omitted. @default 20000 */
  readonly maxResultChars?: number;
  /** Limit of one call in milliseconds. @default 300000 */
  readonly callTimeoutMs?: number;
  /** How the rewards of the calls make that of the rollout. @default "sum" */
  readonly reward?: "sum" | "last";
}

/** A tool that has a name for the reward signal of a response without tool calls. */
const responseName = "response";

/** Records what happens in an episode. */
export class TrackedEpisode implements EnvironmentEpisode {
  readonly prompt: readonly PromptMessage[];
  readonly tools: readonly EnvironmentTool[];
  readonly #inner: EnvironmentEpisode;
  readonly #limits: Required<EpisodeLimits>;
  readonly #rewards: { readonly name: string; readonly reward: number }[] = [];
  readonly #parts: Record<string, number> = {};
  #played: EpisodeOutcome | null = null;
  #calls = 0;
  #refused = 0;
  #isDone = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(inner: EnvironmentEpisode, limits: EpisodeLimits = {}) {
    this.#inner = inner;
    this.prompt = inner.prompt;
    this.tools = inner.tools;
    this.#limits = { maxResultChars: 20_000, callTimeoutMs: 300_000, reward: "sum", ...limits };
  }

  /** Whether the environment has ended. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Calls that reached the environment. */
  get calls(): number {
    return this.#calls;
  }

  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<EnvironmentResult> {
    if (!this.tools.some(({ name }) => name === tool)) {
      this.#refused++;
      const names = this.tools.map(({ name }) => name).join(", ");
      return refusal(`There is no tool "${plainText(tool, 100)}". Tools: ${names || "none"}.`);
    }
    return await this.#run(tool, signal, (own) => this.#inner.call(tool, args, own));
  }

  async respond(text: string, signal: AbortSignal): Promise<EnvironmentResult> {
    const inner = this.#inner;
    if (inner.respond === undefined) {
      this.#isDone = true;
      return { text: "", done: true };
    }
    return await this.#run(
      responseName,
      signal,
      async (own) => await (inner.respond?.(text, own) ?? { text: "", done: true }),
    );
  }

  /** Scores what is left when the agent has ended; nothing where the environment has. */
  async finish(signal: AbortSignal): Promise<EnvironmentResult> {
    const inner = this.#inner;
    if (this.#isDone || inner.finish === undefined) return { text: "", done: this.#isDone };
    return await this.#run(
      responseName,
      signal,
      async (own) => await (inner.finish?.(own) ?? { text: "" }),
    );
  }

  /** Plays the episode with the environment's own agent. */
  async play(model: ModelAddress, signal: AbortSignal): Promise<EpisodeOutcome> {
    const played = await this.#inner.play?.(model, signal);
    if (played === undefined || !Number.isFinite(played.reward)) {
      const gave = played === undefined ? "has no agent" : `gave the reward ${played.reward}`;
      throw environmentError(`The environment ${gave}.`, { isFinal: true });
    }
    this.#isDone = true;
    this.#played = played;
    return played;
  }

  /** The score of the rollout, with every reward as a signal. */
  score(): EvalOutput {
    if (this.#played !== null) {
      const { reward, signals = {} } = this.#played;
      const named = Object.entries(signals).filter(([, value]) => Number.isFinite(value));
      return {
        reward,
        isCorrect: null,
        signals: named.map(([name, value]) => ({ name: `env_${name}`, value })),
      };
    }
    const rewards = this.#rewards.map(({ reward }) => reward);
    const reward =
      this.#limits.reward === "last"
        ? (rewards.at(-1) ?? 0)
        : rewards.reduce((sum, one) => sum + one, 0);
    return { reward, isCorrect: null, signals: this.#signals() };
  }

  /** Facts of the episode as metrics. */
  metrics(): Readonly<Record<string, number>> {
    return { env_calls: this.#calls, env_refused_calls: this.#refused };
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Sums by tool: the names of signals are the same in all rollouts. */
  #signals(): Signal[] {
    const sums = new Map<string, number>();
    for (const { name, reward } of this.#rewards) sums.set(name, (sums.get(name) ?? 0) + reward);
    const all = [...sums, ...Object.entries(this.#parts)];
    return all.map(([name, value]) => ({ name: `env_${name}`, value }));
  }

  /** One call at a time, in the order in which they were made. */
  async #run(
    name: string,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<EnvironmentResult>,
  ): Promise<EnvironmentResult> {
    const mine = this.#last.then(
      () => this.#runNow(name, signal, call),
      () => this.#runNow(name, signal, call),
    );
    this.#last = mine;
    return await mine;
  }

  async #runNow(
    name: string,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<EnvironmentResult>,
  ): Promise<EnvironmentResult> {
    signal.throwIfAborted();
    if (this.#isDone) {
      this.#refused++;
      return { ...refusal("The episode has ended."), done: true };
    }
    const { callTimeoutMs, maxResultChars } = this.#limits;
    const deadline = startDeadline(`The call of "${name}"`, callTimeoutMs, signal);
    this.#calls++;
    try {
      const result = await raceAbort(call(deadline.signal), deadline.signal);
      return this.#keep(name, result, maxResultChars);
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.hasPassed()) throw error;
      throw environmentError(`The call of "${name}" did not end within ${callTimeoutMs} ms.`, {
        cause: error,
        hint: "Raise environment.call_timeout_s if the tool needs more time.",
        fields: { tool: name, callTimeoutMs },
      });
    } finally {
      deadline.dispose();
    }
  }

  #keep(name: string, result: EnvironmentResult, maxChars: number): EnvironmentResult {
    const { reward, signals = {}, done = false, isError = false } = result;
    if (reward !== undefined && !Number.isFinite(reward)) {
      throw environmentError(`The call of "${name}" gave the reward ${reward}.`, { isFinal: true });
    }
    if (reward !== undefined) this.#rewards.push({ name, reward });
    Object.assign(this.#parts, signals);
    if (isError) this.#refused++;
    this.#isDone ||= done;
    return { ...result, text: plainText(result.text, maxChars), done, isError };
  }
}

const refusal = (text: string): EnvironmentResult => ({ text, isError: true, done: false });
