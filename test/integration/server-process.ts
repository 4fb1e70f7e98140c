/** A server as a child process: started, waited for, stopped. Knows no server. */
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface ServerProcess extends AsyncDisposable {
  /** The last lines that it wrote. */
  readonly log: () => string;
}

export interface ServerProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers 200 once the server is ready. */
  readonly healthUrl: string;
  readonly limitMs: number;
}

const kept = 8_000;

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

/** Resolves when the server answers. Rejects with its last words when it ends or takes too long. */
export async function startServer(options: ServerProcessOptions): Promise<ServerProcess> {
  const { command, args, env = {}, healthUrl, limitMs } = options;
  let words = "";
  // A group of its own, so that the workers it starts end with it.
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => (words = (words + data.toString()).slice(-kept)));
  }
  const closed = once(child, "close");
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stop = async (): Promise<void> => {
    if (hasEnded() || child.pid === undefined) return;
    process.kill(-child.pid, "SIGTERM");
    const kill = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), 10_000);
    await closed;
    clearTimeout(kill);
  };
  const deadline = performance.now() + limitMs;
  while (!(await isReady(healthUrl))) {
    if (hasEnded() || performance.now() > deadline) {
      await stop();
      throw new Error(`${command} did not become ready. Its last words:\n${words}`);
    }
    await new Promise((done) => setTimeout(done, 500));
  }
  return { log: () => words, [Symbol.asyncDispose]: stop };
}
