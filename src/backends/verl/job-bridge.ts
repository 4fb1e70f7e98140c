/** The bridge as a Ray job: uploaded, submitted, watched, ended. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { delay } from "../../util/abort.ts";
import { type OpenBridge, BridgeClient } from "./bridge-client.ts";
import {
  newToken,
  pythonFolder,
  type ReadyLine,
  readReadyLine,
  tokenVariable,
} from "./bridge-process.ts";
import { type JobStatus, RayJobs } from "./ray-jobs.ts";
import { VerlError } from "./verl-error.ts";

export interface JobBridgeOptions {
  readonly dashboard: string;
  readonly env: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly graceMs: number;
  readonly onLog: (line: string) => void;
  readonly signal: AbortSignal;
  /** Interval between status requests. @default 2_000 */
  readonly pollMs?: number;
}

const ended = new Set<JobStatus>(["STOPPED", "SUCCEEDED", "FAILED"]);
const packageName = "agent_trainer_bridge";

/** The package's sources by path, sorted, so that the same sources have the same name on the cluster. */
export function bridgeFiles(): Readonly<Record<string, Uint8Array>> {
  const paths = readdirSync(join(pythonFolder, packageName), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".py"))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [
      `${packageName}/${path.replaceAll("\\", "/")}`,
      new Uint8Array(readFileSync(join(pythonFolder, packageName, path))),
    ]),
  );
}

class JobWatch {
  readonly #jobs: RayJobs;
  readonly #id: string;
  readonly #onLog: (line: string) => void;
  #seen = 0;
  ready: ReadyLine | null = null;

  constructor(jobs: RayJobs, id: string, onLog: (line: string) => void) {
    this.#jobs = jobs;
    this.#id = id;
    this.#onLog = onLog;
  }

  /** Forwards new lines. @throws VerlError when the job has ended. */
  async look(): Promise<void> {
    const { status, message } = await this.#jobs.status(this.#id);
    const logs = await this.#jobs.logs(this.#id);
    const whole = logs.lastIndexOf("\n") + 1;
    for (const line of logs.slice(this.#seen, whole).split("\n")) {
      if (line === "") continue;
      if (this.ready === null && line.startsWith('{"event": "ready"'))
        this.ready = readReadyLine(line);
      else this.#onLog(line);
    }
    this.#seen = Math.max(this.#seen, whole);
    if (!ended.has(status)) return;
    throw new VerlError({
      reason: "job",
      message: `Ray's job ${this.#id} ended as ${status}. ${message}`.trim(),
      hint: "Its last lines are in the error's fields. The cluster's Python needs verl: see docs/verl.md.",
      fields: { job: this.#id, status, words: logs.trimEnd().split("\n").slice(-40) },
    });
  }
}

async function untilReady(watch: JobWatch, options: JobBridgeOptions): Promise<ReadyLine> {
  const { startMs, pollMs = 2_000, signal, dashboard } = options;
  const deadline = performance.now() + startMs;
  while (performance.now() < deadline) {
    await watch.look();
    if (watch.ready !== null) return watch.ready;
    await delay(pollMs, signal);
  }
  throw new VerlError({
    reason: "job",
    message: `Ray's job did not start within ${startMs} ms.`,
    hint: "The cluster may have no room. Look at its dashboard, or raise verl.start_timeout_s.",
    fields: { dashboard },
  });
}

/** @throws VerlError */
export async function openJobBridge(options: JobBridgeOptions): Promise<OpenBridge> {
  const { dashboard, env, graceMs, onLog, pollMs = 2_000 } = options;
  const jobs = new RayJobs(dashboard);
  await jobs.version();
  // The earliest time of the format, by the clock of any time zone.
  const zip = zipSync(bridgeFiles(), { level: 0, mtime: new Date(1980, 0, 1) });
  const hash = createHash("sha256").update(zip).digest("hex").slice(0, 16);
  const workingDir = await jobs.upload(`_ray_pkg_${hash}.zip`, zip);
  const token = newToken();
  const id = await jobs.submit({
    entrypoint: `python -u -m ${packageName} --host 0.0.0.0 --grace ${graceMs / 1000}`,
    workingDir,
    env: { ...env, [tokenVariable]: token },
  });
  const watch = new JobWatch(jobs, id, onLog);
  try {
    const { host, port } = await untilReady(watch, options);
    return watched({ jobs, id, watch, graceMs, pollMs }, { url: `http://${host}:${port}`, token });
  } catch (error) {
    await jobs.stop(id).catch(() => undefined);
    throw error;
  }
}

interface RunningJob {
  readonly jobs: RayJobs;
  readonly id: string;
  readonly watch: JobWatch;
  readonly graceMs: number;
  readonly pollMs: number;
}

function watched(job: RunningJob, address: { url: string; token: string }): OpenBridge {
  const { jobs, id, watch, graceMs, pollMs } = job;
  const lost = new AbortController();
  const done = new AbortController();
  const watching = (async () => {
    while (!done.signal.aborted) {
      await delay(pollMs, done.signal);
      await watch.look();
    }
  })().catch((error: unknown) => {
    if (!done.signal.aborted) lost.abort(error);
  });
  const client = new BridgeClient(address, { lost: lost.signal });
  return {
    client,
    pid: null,
    async [Symbol.asyncDispose]() {
      done.abort();
      await watching;
      if (lost.signal.aborted) return;
      await client.shutDown();
      const deadline = performance.now() + graceMs;
      const hasEnded = async (): Promise<boolean> => ended.has((await jobs.status(id)).status);
      while (performance.now() < deadline) {
        if (await hasEnded().catch(() => true)) return;
        await delay(pollMs);
      }
      await jobs.stop(id).catch(() => undefined);
    },
  };
}
