/** Environments behind OpenEnv: episodes over a WebSocket, tasks where the server has them, seeds where not. */
import { z } from "zod";
import type {
  EnvironmentEpisode,
  EnvironmentSource,
  OpenEpisode,
  TaskRange,
} from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { retry } from "../../util/retry.ts";
import { environmentError } from "../episode/environment-error.ts";
import { instructionOf } from "../episode/instruction.ts";
import { requestIfThere, requestJson, wait } from "../http.ts";
import { OpenEnvEpisode } from "./openenv-episode.ts";
import { CapacityError, OpenEnvSocket } from "./openenv-socket.ts";

/** Options of an OpenEnv server. */
export interface OpenEnvOptions {
  /** Address of the server, with `http` or `ws`. */
  readonly url: string;
  /** Environment whose tasks are asked for. @default the first one that the server lists */
  readonly env?: string;
  /** Tasks of each split, where the server has none: seeds. @default 256 */
  readonly seeds?: number;
  /** Limit of one call in milliseconds. @default 300000 */
  readonly callTimeoutMs?: number;
}

const record = z.record(z.string(), z.unknown());
const schemas = z.looseObject({ action: record });
const environmentNames = z.array(z.string());
const taskList = z.looseObject({ tasks: z.array(record) });

/** Seeds of splits other than `train` begin here, so that no split has those of another. */
const firstOtherSeed = 1_000_000;

/** An environment behind an OpenEnv server. */
export class OpenEnvSource implements EnvironmentSource {
  readonly name: string;
  readonly #options: OpenEnvOptions;
  readonly #base: string;
  #action: Promise<Readonly<Record<string, unknown>>> | null = null;

  constructor(options: OpenEnvOptions) {
    this.#options = options;
    this.#base = options.url.replace(/^ws/u, "http").replace(/\/+$/u, "");
    this.name = `openenv:${this.#base}`;
  }

  async *tasks(split: string, range: TaskRange = {}, signal?: AbortSignal): AsyncGenerator<Task> {
    const { start = 0, stop = Infinity } = range;
    const listed = await this.#listed(split, signal);
    if (listed !== null) {
      for (const [index, spec] of listed.entries()) {
        if (index < start || index >= stop) continue;
        const metadata = { ...spec, openenv: { reset: spec } };
        yield { id: `${split}/${index}`, instruction: instructionOf(spec), metadata };
      }
      return;
    }
    const first = split === "train" ? 0 : firstOtherSeed;
    const end = Math.min(stop, this.#options.seeds ?? 256);
    for (let index = start; index < end; index++) {
      const seed = first + index;
      yield {
        id: `${split}/${index}`,
        instruction: `${this.name}, seed ${seed}`,
        metadata: { openenv: { reset: { seed } } },
      };
    }
  }

  async open(task: Task, { signal, seed }: OpenEpisode): Promise<EnvironmentEpisode> {
    const { reset = seed === undefined ? {} : { seed } } = (task.metadata["openenv"] ?? {}) as {
      readonly reset?: object;
    };
    const action = await this.#actionSchema(signal);
    const { callTimeoutMs = 300_000 } = this.#options;
    const url = `${this.#base.replace(/^http/u, "ws")}/ws`;
    const begin = async (): Promise<EnvironmentEpisode> => {
      const socket = new OpenEnvSocket(url);
      try {
        return await OpenEnvEpisode.begin(socket, { reset, action, callTimeoutMs, signal });
      } catch (error) {
        await socket.close();
        throw error;
      }
    };
    // A server that is full is waited for until the deadline of the setup.
    return await retry(begin, {
      signal,
      waitMs: (error, failures) => (error instanceof CapacityError ? wait(failures) : null),
    });
  }

  async #actionSchema(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const url = `${this.#base}/schema`;
    this.#action ??= requestJson({ url, signal }).then(
      (value) => checkWire(schemas, value, url).action,
    );
    this.#action.catch(() => (this.#action = null));
    return await this.#action;
  }

  /** Tasks of servers that have them; null for others. */
  async #listed(split: string, signal?: AbortSignal) {
    const list = `${this.#base}/list_environments`;
    const listed = await requestIfThere({ url: list, signal }, (status) => status >= 400);
    if (listed === null) return null;
    const names = checkWire(environmentNames, listed, list);
    const env = this.#options.env ?? names[0];
    if (env === undefined) return null;
    const url = `${this.#base}/${encodeURIComponent(env)}/tasks`;
    const isAbsent = (status: number): boolean => [400, 404, 405, 501].includes(status);
    const tasks = await requestIfThere({ url, body: { split }, signal }, isAbsent);
    if (tasks === null) return null;
    const read = checkWire(taskList, tasks, url).tasks;
    if (read.length === 0) {
      throw environmentError(`${this.name} has no tasks in the split "${split}".`, {
        isFinal: true,
      });
    }
    return read;
  }
}

/** @throws AgentTrainerError that names the field that is wrong. */
function checkWire<T>(schema: z.ZodType<T>, value: unknown, url: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue === undefined ? "" : ` at "${issue.path.join(".")}": ${issue.message}`;
  throw environmentError(`${url} broke its protocol${where}`, {
    isFinal: true,
    hint: "Look at which version of the protocol the server has.",
    fields: { url, path: issue?.path.join(".") ?? "" },
  });
}
