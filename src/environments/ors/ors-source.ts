/** Environments behind the Open Reward Standard: HTTP and server-sent events. */
import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { EnvironmentSource, OpenEpisode, TaskRange } from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, EvalOutput } from "../../core/trajectory.ts";
import { environmentError } from "../episode/environment-error.ts";
import { instructionOf } from "../episode/instruction.ts";
import { requestIfThere, requestJson } from "../http.ts";
import { openOrsEpisode, type OrsEpisode, type OrsSession } from "./ors-episode.ts";
import { callOverStream } from "./ors-stream.ts";
import {
  checkWire,
  orsCount,
  orsNames,
  orsScores,
  orsSplits,
  orsTaskList,
  orsTools,
} from "./ors-wire.ts";

/** Options of a server of the Open Reward Standard. */
export interface OrsOptions {
  /** Address of the server. */
  readonly url: string;
  /** Environment of the server. @default the only one that it has */
  readonly env?: string;
  /** Sent as `X-API-Key`. @default the variable OPENREWARD_API_KEY, if it is set */
  readonly apiKey?: string;
  /** Further headers, such as `X-Deployment`. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** Secrets of the environment, by name; they are sent when an episode is opened. @default none */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Name of a set of tools. @default the environment's own */
  readonly toolset?: string;
  /** Limit of one call in milliseconds. @default 300000 */
  readonly callTimeoutMs?: number;
  /** Time without a byte after which a connection counts as cut, in milliseconds. @default 45000 */
  readonly idleTimeoutMs?: number;
}

/** Tasks that are asked for at a time. */
const pageSize = 500;

const maxCallBytes = 16 * 2 ** 20;

/** An environment behind a server of the Open Reward Standard. */
export class OrsSource implements EnvironmentSource {
  readonly name: string;
  readonly #options: OrsOptions;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  #env: Promise<string> | null = null;
  #tools: Promise<z.infer<typeof orsTools>> | null = null;

  constructor(options: OrsOptions) {
    const apiKey = options.apiKey ?? process.env["OPENREWARD_API_KEY"];
    this.#options = options;
    this.#base = options.url.replace(/\/+$/u, "");
    this.name = `ors:${this.#base}${options.env === undefined ? "" : `#${options.env}`}`;
    this.#headers = {
      ...options.headers,
      ...(apiKey === undefined || apiKey === "" ? {} : { "x-api-key": apiKey }),
    };
  }

  async *tasks(split: string, range: TaskRange = {}, signal?: AbortSignal): AsyncGenerator<Task> {
    const { start = 0, stop = Infinity } = range;
    const env = await this.#envName(signal);
    await this.#checkSplit(env, split, signal);
    const toTask = (spec: Record<string, unknown>, index: number): Task => ({
      id: `${split}/${index}`,
      instruction: instructionOf(spec),
      metadata: { ...spec, ors: { split, index, spec } },
    });
    const listed = await this.#listed(env, split, signal);
    if (listed !== null) {
      yield* listed.slice(start, stop).map((spec, i) => toTask(spec, start + i));
      return;
    }
    const post = async <T>(path: string, body: object, schema: z.ZodType<T>): Promise<T> => {
      const url = `${this.#base}/${env}/${path}`;
      const value = await requestJson({ url, body, headers: this.#headers, signal });
      return checkWire(schema, value, url);
    };
    const count = await post("num_tasks", { split }, orsCount);
    const end = Math.min(stop, count.num_tasks);
    for (let from = start; from < end; from += pageSize) {
      const to = Math.min(from + pageSize, end);
      // Pages follow each other, so that a server gets one request at a time.
      // oxlint-disable-next-line no-await-in-loop
      const { tasks } = await post("task_range", { split, start: from, stop: to }, orsTaskList);
      if (tasks.length !== to - from) {
        throw environmentError(
          `${this.name} sent ${tasks.length} tasks for the range ${from} to ${to} of "${split}".`,
          { isFinal: true, fields: { split, from, to } },
        );
      }
      yield* tasks.map((spec, i) => toTask(spec, from + i));
    }
  }

  async open(task: Task, { signal }: OpenEpisode): Promise<OrsEpisode> {
    const { split, index, spec } = (task.metadata["ors"] ?? {}) as {
      readonly split?: string;
      readonly index?: number;
      readonly spec?: object;
    };
    if (spec === undefined && (split === undefined || index === undefined)) {
      throw environmentError(
        `Task "${task.id}" is not one of ${this.name}: it has no metadata.ors.`,
        {
          isFinal: true,
          hint: "Take the tasks from the environment, or give them metadata.ors = { split, index }.",
        },
      );
    }
    const env = await this.#envName(signal);
    const { toolset, secrets = {}, callTimeoutMs, idleTimeoutMs } = this.#options;
    const sid = randomUUID();
    const session: OrsSession = {
      base: this.#base,
      env,
      headers: { ...this.#headers, "x-session-id": sid },
      callTimeoutMs: callTimeoutMs ?? 300_000,
      idleMs: idleTimeoutMs ?? 45_000,
      maxBytes: maxCallBytes,
    };
    const named = Object.entries(secrets).map(([name, value]) => [name, { value }]);
    const secretHeader: Record<string, string> =
      named.length === 0
        ? {}
        : {
            "x-secrets": Buffer.from(JSON.stringify(Object.fromEntries(named))).toString("base64"),
          };
    const body = {
      env_name: env,
      ...(spec === undefined ? { split, index } : { task_spec: spec }),
      ...(toolset === undefined ? {} : { toolset_name: toolset }),
    };
    return await openOrsEpisode(session, body, secretHeader, signal);
  }

  /** The environment's own group judge; null where it has none. */
  async scoreGroup(
    task: Task,
    attempts: readonly Episode[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly EvalOutput[]> {
    const episode = await this.open(task, { signal });
    try {
      const candidates = attempts.map((attempt) => ({ messages: transcriptOf(attempt) }));
      const { url, headers } = episode.endpoint("score_group");
      const value = await callOverStream({
        url,
        headers,
        body: { candidates },
        signal,
        timeoutMs: this.#options.callTimeoutMs ?? 300_000,
        idleMs: this.#options.idleTimeoutMs ?? 45_000,
        maxBytes: maxCallBytes,
      });
      const { scores } = checkWire(orsScores, value, url);
      if (scores.length !== attempts.length) {
        throw environmentError(
          `${url} gave ${scores.length} scores for ${attempts.length} attempts.`,
          {
            isFinal: true,
          },
        );
      }
      return scores.map(({ reward, metadata }) => ({
        reward,
        isCorrect: null,
        ...(metadata === undefined || metadata === null ? {} : { metadata }),
      }));
    } finally {
      await episode.close();
    }
  }

  /** Whether the environment can score groups. */
  async supportsGroups(signal?: AbortSignal): Promise<boolean> {
    const env = await this.#envName(signal);
    this.#tools ??= this.#get(`${env}/tools`, orsTools, signal);
    return (await this.#tools).supports_score_group === true;
  }

  async #get<T>(path: string, schema: z.ZodType<T>, signal?: AbortSignal): Promise<T> {
    const url = `${this.#base}/${path}`;
    return checkWire(schema, await requestJson({ url, headers: this.#headers, signal }), url);
  }

  async #envName(signal?: AbortSignal): Promise<string> {
    const { env } = this.#options;
    this.#env ??=
      env === undefined ? this.#onlyEnv(signal) : Promise.resolve(encodePath(env.toLowerCase()));
    // A failure is not kept: the next call asks again.
    this.#env.catch(() => (this.#env = null));
    return await this.#env;
  }

  async #onlyEnv(signal?: AbortSignal): Promise<string> {
    const names = await this.#get("list_environments", orsNames, signal);
    const [only, ...others] = names;
    if (only !== undefined && others.length === 0) return encodePath(only);
    throw environmentError(`${this.name} has ${names.length} environments: ${names.join(", ")}.`, {
      isFinal: true,
      hint: `Name one of them, as in ors:${this.#base}#${only ?? "NAME"}.`,
      fields: { names },
    });
  }

  async #checkSplit(env: string, split: string, signal?: AbortSignal): Promise<void> {
    const splits = await this.#get(`${env}/splits`, orsSplits, signal);
    if (splits.some(({ name }) => name === split)) return;
    const names = splits.map(({ name }) => name);
    throw environmentError(
      `${this.name} has no split "${split}"; it has ${names.join(", ") || "none"}.`,
      {
        isFinal: true,
        hint: "Set environment.split or environment.val_split to one of them.",
        fields: { split, names },
      },
    );
  }

  /** All tasks at once; null where the environment gives them by ranges only. */
  async #listed(env: string, split: string, signal?: AbortSignal) {
    const url = `${this.#base}/${env}/tasks`;
    const request = { url, body: { split }, headers: this.#headers, signal };
    const value = await requestIfThere(request, (status) => [400, 404, 405].includes(status));
    return value === null ? null : checkWire(orsTaskList, value, url).tasks;
  }
}

const encodePath = (name: string): string => name.split("/").map(encodeURIComponent).join("/");

/** What a judge reads of an attempt: the last prompt and the last response, in blocks. */
function transcriptOf(episode: Episode): readonly object[] {
  const trace = episode.trajectories.at(-1)?.steps.at(-1)?.trace;
  if (trace === undefined) return [];
  return [...trace.messages, trace.response].map((message) => {
    const { role, content } = message as { readonly role: string; readonly content?: unknown };
    const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
    return { role, blocks: [{ type: "text", text }] };
  });
}
