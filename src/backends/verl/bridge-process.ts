/**
 * The bridge as a child process: started, awaited, ended. It watches its stdin, so that it ends with
 * this process in any case.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { withTimeout } from "../../util/abort.ts";
import { startProcess } from "../../util/process/start-process.ts";
import { type BridgeAddress, bridgeProtocol } from "./bridge-client.ts";
import { VerlError } from "./verl-error.ts";

/** Contains the package `agent_trainer_bridge`. */
export const pythonFolder: string = fileURLToPath(new URL("../../../python/", import.meta.url));

export const tokenVariable = "AGENT_TRAINER_BRIDGE_TOKEN";

/** The first line that the bridge writes. */
export interface ReadyLine {
  readonly protocol: number;
  readonly host: string;
  readonly port: number;
}

export interface BridgeProcessOptions {
  readonly python: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly startMs: number;
  /** How long a running operation may take to end. */
  readonly graceMs: number;
  readonly onLog?: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface BridgeProcess extends AsyncDisposable {
  readonly address: BridgeAddress;
  readonly pid: number;
  /** Aborts with a VerlError when the process ends unexpectedly. */
  readonly lost: AbortSignal;
}

const keptLines = 40;
/** Beyond the grace of a running operation, to end the cluster: Ray takes up to 20 s of it on a busy machine. */
const endMs = 60_000;

export const newToken = (): string => randomBytes(24).toString("base64url");

/** @throws VerlError when it speaks another protocol. */
export function readReadyLine(line: string): ReadyLine {
  let ready: Partial<ReadyLine> = {};
  try {
    ready = JSON.parse(line) as ReadyLine;
  } catch {
    // Reported below.
  }
  const { protocol, host, port } = ready;
  if (protocol !== bridgeProtocol || host === undefined || port === undefined) {
    throw new VerlError({
      reason: "version",
      message: `The bridge speaks protocol ${protocol ?? "unknown"}, but this package speaks ${bridgeProtocol}.`,
      hint: "Use the bridge that ships with this version of agent-trainer.",
      fields: { line },
    });
  }
  return { protocol, host, port };
}

function onLines(child: ChildProcess, onLine: (line: string) => void): void {
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}

/** Resolves with the first line on stdout; rejects when there is none in time. */
function firstLine(child: ChildProcess, startMs: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const limit = withTimeout(signal, startMs);
    limit.addEventListener("abort", () => reject(limit.reason), { once: true });
    child.once("error", reject);
    child.once("close", (code, name) => reject(new Error(`It ended with ${code ?? name}.`)));
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const end = text.indexOf("\n");
      if (end >= 0) resolve(text.slice(0, end));
    });
  });
}

/** @throws VerlError with its last output when it does not start within `startMs`. */
export async function startBridge(options: BridgeProcessOptions): Promise<BridgeProcess> {
  const { python, env = {}, startMs, graceMs, onLog, signal } = options;
  const token = newToken();
  const words: string[] = [];
  const search = [pythonFolder, env["PYTHONPATH"] ?? process.env["PYTHONPATH"] ?? ""].filter(
    (path) => path !== "",
  );
  const args = ["-u", "-m", "agent_trainer_bridge", "--watch-stdin"];
  const started = startProcess({
    argv: [python, ...args, "--grace", String(graceMs / 1000)],
    stdio: ["pipe", "pipe", "pipe"],
    graceMs: graceMs + endMs,
    env: {
      ...process.env,
      PYTHONUNBUFFERED: "1",
      ...env,
      PYTHONPATH: search.join(process.platform === "win32" ? ";" : ":"),
      [tokenVariable]: token,
    },
  });
  const { child } = started;
  // It is only ever closed; the child may already be gone by then.
  child.stdin?.on("error", () => undefined);
  onLines(child, (line) => {
    words.push(line);
    if (words.length > keptLines) words.shift();
    onLog?.(line);
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    if (child.pid === undefined || hasEnded()) return;
    child.stdin?.end();
    const kill = setTimeout(started.kill, graceMs + endMs);
    await ended;
    clearTimeout(kill);
  };
  try {
    const { host, port } = readReadyLine(await firstLine(child, startMs, signal));
    return running(child, { url: `http://${host}:${port}`, token }, words, stop);
  } catch (error) {
    started.kill();
    signal.throwIfAborted();
    if (error instanceof VerlError) throw error;
    throw new VerlError({
      reason: "start",
      message: `The bridge did not come up with ${python}: ${String(error)}`,
      hint: "Set verl.python to a Python of at least 3.10, or make one: agent-trainer verl setup",
      cause: error,
      fields: { python, words },
    });
  }
}

function running(
  child: ChildProcess,
  address: BridgeAddress,
  words: readonly string[],
  stop: () => Promise<void>,
): BridgeProcess {
  const lost = new AbortController();
  let isWanted = true;
  child.once("close", (code, name) => {
    if (!isWanted) return;
    const error = new VerlError({
      reason: "lost",
      message: `The bridge ended with ${code ?? name} while it was needed.`,
      hint: "Its last words are in the error's fields. Resume from the last checkpoint.",
      fields: { code, signal: name, words: [...words] },
    });
    lost.abort(error);
  });
  return {
    address,
    pid: child.pid as number,
    lost: lost.signal,
    [Symbol.asyncDispose]: () => {
      isWanted = false;
      return stop();
    },
  };
}
