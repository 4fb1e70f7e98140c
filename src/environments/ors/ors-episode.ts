/** One session of an ORS server: its prompt, its tools, its calls, kept alive by pings. */
import type {
  EnvironmentEpisode,
  EnvironmentResult,
  EnvironmentTool,
  PromptMessage,
} from "../../core/environment.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { retry } from "../../util/retry.ts";
import { request, requestIfThere, requestJson, wait } from "../http.ts";
import { callOverStream } from "./ors-stream.ts";
import {
  checkWire,
  contentOf,
  offeredTools,
  orsBlocks,
  orsMessages,
  orsOutput,
  orsTools,
  textOf,
  type OrsTools,
} from "./ors-wire.ts";

/** Where a session is, and its limits. */
export interface OrsSession {
  readonly base: string;
  readonly env: string;
  /** With the id of the session. */
  readonly headers: Readonly<Record<string, string>>;
  readonly callTimeoutMs: number;
  readonly idleMs: number;
  readonly maxBytes: number;
}

const pingMs = 10_000;
const closeTimeoutMs = 10_000;

/** Times that creating a session is tried: the client chose its id, so that a repetition is harmless. */
const maxCreates = 4;

/** @throws AgentTrainerError (`ENVIRONMENT_FAILED`); what was created by then is deleted. */
export async function openOrsEpisode(
  session: OrsSession,
  body: object,
  secrets: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<OrsEpisode> {
  const episode = new OrsEpisode(session);
  try {
    await create(session, body, secrets, signal);
    await episode.begin(signal);
    return episode;
  } catch (error) {
    await episode.close();
    throw error;
  }
}

async function create(
  { base, headers }: OrsSession,
  body: object,
  secrets: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const url = `${base}/create`;
  let tries = 0;
  const attempt = async (): Promise<void> => {
    tries += 1;
    try {
      await request({ url, body, headers: { ...headers, ...secrets }, signal });
    } catch (error) {
      // Created by an earlier try whose response was lost.
      if (tries === 1 || !isThere(error)) throw error;
    }
  };
  await retry(attempt, {
    signal,
    waitMs: (error, failures) =>
      failures >= maxCreates || fieldsOf(error)["isFinal"] === true ? null : wait(failures),
  });
}

const fieldsOf = (error: unknown): Readonly<Record<string, unknown>> =>
  AgentTrainerError.isInstance(error) ? error.fields : {};

const isThere = (error: unknown): boolean =>
  fieldsOf(error)["status"] === 400 && /already exists/iu.test((error as Error).message);

/** An open session. */
export class OrsEpisode implements EnvironmentEpisode {
  prompt: readonly PromptMessage[] = [];
  tools: readonly EnvironmentTool[] = [];
  readonly #session: OrsSession;
  #terminal: OrsTools["terminal_tool"] = null;
  #pings: NodeJS.Timeout | undefined;
  #closing: Promise<void> | null = null;

  constructor(session: OrsSession) {
    this.#session = session;
  }

  /** Reads what the episode begins with. */
  async begin(signal: AbortSignal): Promise<void> {
    this.#pings = setInterval(() => this.#ping(), pingMs);
    this.#pings.unref();
    const { url, headers } = this.endpoint("task_tools");
    const tools = checkWire(orsTools, await requestJson({ url, headers, signal }), url);
    this.tools = offeredTools(tools);
    this.#terminal = tools.terminal_tool;
    this.prompt = (await this.#messages(signal)) ?? (await this.#blocks(signal));
  }

  /** Address and headers of a request of this session. */
  endpoint(path: string): Pick<OrsSession, "headers"> & { readonly url: string } {
    const { base, env, headers } = this.#session;
    return { url: `${base}/${env}/${path}`, headers };
  }

  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<EnvironmentResult> {
    const { callTimeoutMs: timeoutMs, idleMs, maxBytes } = this.#session;
    const { url, headers } = this.endpoint("call");
    const call = { url, headers, body: { name, input }, signal, timeoutMs, idleMs, maxBytes };
    const result = checkWire(orsOutput, await callOverStream(call), url);
    if (!result.ok) {
      return { text: result.error, isError: true, done: result.reason === "episode_finished" };
    }
    const { blocks, reward, finished } = result.output;
    return {
      text: textOf(blocks),
      done: finished === true,
      ...(reward === undefined || reward === null ? {} : { reward }),
    };
  }

  /** A plain response ends the episode: through the terminal tool, where there is one. */
  async respond(text: string, signal: AbortSignal): Promise<EnvironmentResult> {
    const terminal = this.#terminal;
    if (terminal === null || terminal === undefined) return { text: "", done: true };
    const { name, arg } = terminal;
    const result = await this.call(
      name,
      arg === null || arg === undefined ? {} : { [arg]: text },
      signal,
    );
    return { ...result, done: true };
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    clearInterval(this.#pings);
    const { base, headers } = this.#session;
    try {
      await request({
        url: `${base}/delete`,
        method: "POST",
        headers,
        timeoutMs: closeTimeoutMs,
      });
    } catch {
      // The server deletes sessions without pings.
    }
  }

  #ping(): void {
    const { base, headers } = this.#session;
    // A lost ping is no failure: the next call tells whether the session is still there.
    request({ url: `${base}/ping`, method: "POST", headers, timeoutMs: pingMs }).catch(() => {});
  }

  /** null where the server is older than messages. */
  async #messages(signal: AbortSignal): Promise<PromptMessage[] | null> {
    const { url, headers } = this.endpoint("messages");
    const isAbsent = (status: number): boolean => status === 404 || status === 405;
    const value = await requestIfThere({ url, headers, signal }, isAbsent);
    if (value === null) return null;
    const messages = checkWire(orsMessages, value, url);
    return messages.map(({ role, blocks }) => ({ role, content: contentOf(blocks) }));
  }

  async #blocks(signal: AbortSignal): Promise<PromptMessage[]> {
    const { url, headers } = this.endpoint("prompt");
    const blocks = checkWire(orsBlocks, await requestJson({ url, headers, signal }), url);
    return [{ role: "user", content: contentOf(blocks) }];
  }
}
