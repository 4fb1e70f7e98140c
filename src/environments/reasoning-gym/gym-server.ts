/** The server of reasoning-gym's families that comes with this package, in a Python process. */
import { fileURLToPath } from "node:url";
import { delay, raceAbort, withTimeout } from "../../util/abort.ts";
import { freePort } from "../../util/process/free-port.ts";
import { runLimited } from "../../util/process/limited-process.ts";
import { environmentError } from "../episode/environment-error.ts";

const script = fileURLToPath(
  new URL("../../../examples/environments/reasoning_gym_server.py", import.meta.url),
);

/** Imports of Python packages take half a minute on a cold disk. */
const startMs = 300_000;
const pollMs = 100;
const keptChars = 4000;

/** A server that takes requests. */
export interface GymServer {
  readonly url: string;
  hasEnded(): boolean;
  /** Ends the process. */
  stop(): Promise<void>;
}

/** What to serve. */
export interface GymServerOptions {
  /** Of the environment, for messages. */
  readonly name: string;
  readonly python: string;
  readonly family: string;
  /** Options of the family. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Tasks of each split. */
  readonly size: number | undefined;
}

async function isReady(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal })).ok;
  } catch {
    return false;
  }
}

/** @throws AgentTrainerError (`ENVIRONMENT_FAILED`) when it ends before it is ready, or takes too long. */
export async function startGymServer(
  { name, python, family, config, size }: GymServerOptions,
  signal: AbortSignal,
): Promise<GymServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const options = ["--family", family, "--config", JSON.stringify({ [family]: config })];
  const stopping = new AbortController();
  let words = "";
  let end: string | undefined;
  const ending = runLimited(
    {
      argv: [
        ...[python, "-u", script, "--port", String(port), ...options],
        ...(size === undefined ? [] : ["--size", String(size)]),
        // Elsewhere, a process keeps the id of a parent that has ended.
        ...(process.platform === "win32" ? [] : ["--parent", String(process.pid)]),
      ],
      cwd: process.cwd(),
      env: process.env,
      endsAll: true,
    },
    {
      graceMs: 2000,
      signal: stopping.signal,
      onOutput: (text) => {
        words = (words + text).slice(-keptChars);
      },
    },
  ).then(
    ({ exitCode, signal: killedBy }) => {
      end = `its server ended with ${exitCode ?? killedBy}. ${words.trim().slice(-1500)}`;
    },
    (error: unknown) => {
      end = `its server does not start: ${error instanceof Error ? error.message : String(error)}`;
    },
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ending;
  };
  const limit = withTimeout(signal, startMs);
  try {
    while (!(await isReady(url, limit))) {
      limit.throwIfAborted();
      if (end !== undefined) throw failure(name, end);
      await raceAbort(delay(pollMs, limit), limit);
    }
  } catch (error) {
    await stop();
    signal.throwIfAborted();
    throw limit.aborted
      ? failure(name, `its server was not ready within ${startMs / 1000} s. ${words.trim()}`)
      : error;
  }
  return { url, hasEnded: () => end !== undefined, stop };
}

function failure(name: string, what: string): Error {
  const isMissing = /No module named|ENOENT/u.test(what);
  return environmentError(`${name} failed: ${what}`, {
    isFinal: true,
    hint: isMissing ? "Run: agent-trainer env setup openreward reasoning-gym" : undefined,
  });
}
