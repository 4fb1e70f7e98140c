/** A family of reasoning-gym: a server of the Open Reward Standard that is started with the first request. */
import type {
  EnvironmentEpisode,
  EnvironmentSource,
  OpenEpisode,
  TaskRange,
} from "../../core/environment.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { raceAbort } from "../../util/abort.ts";
import { defined } from "../../util/defined.ts";
import { OrsSource } from "../ors/ors-source.ts";
import { environmentsPython } from "../python-environment.ts";
import { type GymServer, startGymServer } from "./gym-server.ts";

/** Options of a family of reasoning-gym. */
export interface ReasoningGymOptions {
  /** Name of the family, such as `leg_counting`. */
  readonly family: string;
  /** Options of the family, such as `{ max_animals: 3 }`. @default those of reasoning-gym */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Tasks of each split; fewer where a family has not so many different ones. @default 200 */
  readonly size?: number;
  /** Interpreter with openreward and reasoning-gym. @default that of `agent-trainer env setup`, else python3 */
  readonly python?: string;
  /** Limit of one call in milliseconds. @default 300000 */
  readonly callTimeoutMs?: number;
}

interface Started {
  readonly server: GymServer;
  readonly source: OrsSource;
}

/** The splits are `train` and `test`; a plain response is scored from 0 to 1. */
export class ReasoningGymSource implements EnvironmentSource {
  readonly name: string;
  readonly #options: ReasoningGymOptions;
  #started: Promise<Started> | null = null;
  /** Aborts a start that `close` does not wait for. */
  #closing = new AbortController();

  /** @throws ConfigError for a family that is no name, or a size below 1. */
  constructor(options: ReasoningGymOptions) {
    const { family, size = 1 } = options;
    this.name = `reasoning-gym:${family}`;
    if (!/^\w+$/u.test(family) || !Number.isInteger(size) || size < 1) {
      throw new ConfigError({
        message: `The environment ${JSON.stringify(this.name)} has no family, or the size ${size}.`,
        hint: "Write it as in reasoning-gym:leg_counting or reasoning-gym:gcd?max_value=30&size=500.",
        fields: { family, size },
      });
    }
    this.#options = options;
  }

  async *tasks(split: string, range?: TaskRange, signal?: AbortSignal): AsyncGenerator<Task> {
    const source = await this.#source(signal);
    yield* source.tasks(split, range, signal);
  }

  async open(task: Task, options: OpenEpisode): Promise<EnvironmentEpisode> {
    const source = await this.#source(options.signal);
    return await source.open(task, options);
  }

  async close(): Promise<void> {
    const started = this.#started;
    this.#started = null;
    this.#closing.abort();
    this.#closing = new AbortController();
    const { server } = (await started?.catch(() => null)) ?? {};
    await server?.stop();
  }

  async #source(signal: AbortSignal = new AbortController().signal): Promise<OrsSource> {
    const started = (this.#started ??= this.#starting());
    const { server, source } = await raceAbort(started, signal);
    if (!server.hasEnded()) return source;
    // It crashed, or was killed: episodes that were open fail, and are begun again.
    if (this.#started === started) this.#started = null;
    return await this.#source(signal);
  }

  /** All callers share a start, so none of them aborts it for the others; after a failure the next tries again. */
  #starting(): Promise<Started> {
    const started = this.#start(this.#closing.signal);
    started.catch(() => {
      if (this.#started === started) this.#started = null;
    });
    return started;
  }

  async #start(signal: AbortSignal): Promise<Started> {
    const { family, config = {}, size, python, callTimeoutMs } = this.#options;
    const server = await startGymServer(
      { name: this.name, python: python ?? environmentsPython(), family, config, size },
      signal,
    );
    const options = { url: server.url, env: family, ...defined({ callTimeoutMs }) };
    return { server, source: new OrsSource(options) };
  }
}
