/** Agents behind HTTP: one process, of any language, takes all rollouts. */
import type { AgentConfig, AgentFlowObject } from "../../../core/agent.ts";
import { AgentTrainerError, ConfigError } from "../../../core/errors.ts";
import { defineEpisode, type EpisodeReport } from "../../../core/report.ts";
import type { Task } from "../../../core/task.ts";
import { raceAbort } from "../../../util/abort.ts";
import { defined } from "../../../util/defined.ts";
import { agentFailed } from "../process/agent-failed.ts";
import { wireRollout } from "../process/wire-task.ts";
import { type RunningServer, startServer } from "./agent-server.ts";
import { postJson } from "./post-json.ts";
import { parseObject } from "../../../util/json-object.ts";

interface CommonOptions<Metadata> extends Pick<AgentFlowObject<Metadata>, "name" | "sideCalls"> {
  /** Headers of each request. @default {} */
  readonly headers?: Readonly<Record<string, string>>;
  /** Largest response in bytes, at least 1. @default 16 MiB */
  readonly maxOutputBytes?: number;
}

/** A server that is running already. */
interface UrlOptions<Metadata> extends CommonOptions<Metadata> {
  /** Where a rollout is posted: the whole URL. */
  readonly url: string;
  readonly command?: never;
}

/** A server that the run starts and ends. */
interface ServerOptions<Metadata> extends CommonOptions<Metadata> {
  readonly url?: never;
  /**
   * The command that serves at `127.0.0.1` and the port in `PORT`: words, or a text, as for `commandAgent`.
   * Started with the first rollout, again where it has ended, and ended with the run.
   */
  readonly command: string | readonly string[];
  /** Path that a rollout is posted to. @default "/rollout" */
  readonly path?: string;
  /** Folder that the command runs in. @default the current one */
  readonly folder?: string;
  /** Further environment variables. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables of this process that are passed on. @default [] */
  readonly passEnv?: readonly string[];
  /** Resident memory of the server and all that it starts, in MiB, at least 1; on Linux. @default none */
  readonly memoryMb?: number;
  /** How long it may take until it accepts connections, in milliseconds, at least 1. @default 60_000 */
  readonly readyTimeoutMs?: number;
}

/**
 * Options of `httpAgent`: `url` of a server, or `command` that starts one.
 *
 * @example
 * const options: HttpAgentOptions = { command: "python server.py", readyTimeoutMs: 120_000 };
 */
export type HttpAgentOptions<Metadata = Record<string, unknown>> =
  | UrlOptions<Metadata>
  | ServerOptions<Metadata>;

const defaultOutputBytes = 2 ** 24;
/** The server cannot be reached or does not take rollouts now: retried, and not the agent's fault. */
const passing = new Set([429, 502, 503, 504]);

/**
 * An agent as an HTTP server in any language that takes all rollouts, many at the same time: starting an
 * interpreter for each rollout often takes longer than the rollout. Each is a POST with
 * `{ task, config: { base_url, api_key, model, ... } }`; the response is `{ "output": ... }`, with
 * `metadata` and `metrics` if it likes. A status from 400 on is a failure of the agent, apart from 429, 502,
 * 503 and 504, which are retried.
 *
 * @throws ConfigError for an option out of bounds.
 *
 * @example
 * const agentFlow = httpAgent({ command: "python server.py" });
 */
export function httpAgent<Metadata = Record<string, unknown>>(
  options: HttpAgentOptions<Metadata>,
): AgentFlowObject<Metadata> {
  checkOptions(options);
  let starting: Promise<RunningServer> | null = null;
  const server = async (own: ServerOptions<Metadata>): Promise<RunningServer> => {
    const before = starting;
    const running = (await before?.catch(() => null)) ?? null;
    if (running !== null && !running.hasEnded()) return running;
    // Of the rollouts that find no server, the first starts one.
    if (starting === before) {
      starting = startServer({
        command: own.command,
        folder: own.folder ?? process.cwd(),
        env: own.env ?? {},
        passEnv: own.passEnv ?? [],
        memoryMb: own.memoryMb,
        readyMs: own.readyTimeoutMs ?? 60_000,
      });
    }
    return await starting!;
  };
  return {
    ...defined({ name: options.name, sideCalls: options.sideCalls }),
    run: async (task, config) => {
      if (options.command === undefined) {
        const there = { url: new URL(options.url), running: null };
        return await runRollout(options, there, task, config);
      }
      const running = await raceAbort(server(options), config.signal);
      const url = new URL(options.path ?? "/rollout", `http://127.0.0.1:${running.port}`);
      return await runRollout(options, { url, running }, task, config);
    },
    [Symbol.asyncDispose]: async () => {
      const running = await starting?.catch(() => null);
      starting = null;
      await running?.stop();
    },
  };
}

function checkOptions(options: HttpAgentOptions<never>): void {
  const { url, command, maxOutputBytes } = options;
  if ((url === undefined) === (command === undefined)) {
    throw new ConfigError({
      message: "httpAgent needs either url or command.",
      hint: "Pass url of a server that is running, or command that starts one.",
    });
  }
  if (url !== undefined && !/^https?:$/u.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new ConfigError({
      message: `The url of httpAgent is ${url}, which is not an http or https URL.`,
      hint: "Pass the whole URL that rollouts are posted to, such as http://127.0.0.1:8000/rollout.",
      fields: { option: "url", value: url },
    });
  }
  const counts =
    command === undefined
      ? { maxOutputBytes }
      : { maxOutputBytes, memoryMb: options.memoryMb, readyTimeoutMs: options.readyTimeoutMs };
  for (const [option, value] of Object.entries(counts)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new ConfigError({
      message: `${option} of httpAgent must be a whole number of at least 1, but it is ${value}.`,
      fields: { option, value },
    });
  }
}

async function runRollout<Metadata>(
  { headers = {}, maxOutputBytes = defaultOutputBytes }: CommonOptions<Metadata>,
  { url, running }: { readonly url: URL; readonly running: RunningServer | null },
  task: Task<Metadata>,
  config: AgentConfig,
): Promise<EpisodeReport> {
  const { signal } = config;
  const key = running === null ? {} : { authorization: `Bearer ${running.key}` };
  const { status, text } = await postJson({
    url,
    body: wireRollout(task, config),
    headers: { ...key, ...headers },
    maxBytes: maxOutputBytes,
    signal,
  }).catch(async (error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof RangeError) throw agentFailed(error.message, "", { maxOutputBytes });
    // The next attempt then starts another.
    await running?.whenEnding(signal);
    throw unreachable(url, running, error);
  });
  const body = parseObject(text);
  if (passing.has(status)) throw unreachable(url, running, null, status);
  if (status >= 400 || body === null) {
    const why = typeof body?.["error"] === "string" ? body["error"] : text;
    const what = status >= 400 ? `with status ${status}` : "with no JSON object";
    throw agentFailed(`The agent's server responded ${what}.`, why, { httpStatus: status });
  }
  if (!("output" in body)) {
    const keys = Object.keys(body).join(", ") || "no fields";
    throw agentFailed(`The agent's server responded without output, but with ${keys}.`, "", {});
  }
  const { output, metadata, metrics } = body;
  return defineEpisode({
    trajectories: [],
    output,
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, unknown> }),
    ...(metrics === undefined ? {} : { metrics: metrics as Record<string, number> }),
  });
}

function unreachable(
  { href }: URL,
  running: RunningServer | null,
  cause: unknown,
  status = 503,
): AgentTrainerError {
  const why = cause instanceof Error ? cause.message : `status ${status}`;
  const failed = agentFailed(
    `The agent's server at ${href} cannot be reached (${why}).`,
    running?.tail() ?? "",
    { status },
  );
  return new AgentTrainerError({
    code: "AGENT_FAILED",
    message: failed.message,
    hint: "Check that the server runs and takes as many rollouts at a time as workflow.n_parallel_tasks.",
    ...(cause === null ? {} : { cause }),
    fields: failed.fields,
  });
}
