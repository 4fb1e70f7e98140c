/** Ray's Jobs API in this process: a job is a child that runs in the folder of its archive. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

interface Job {
  readonly child: ChildProcess;
  logs: string;
  isStopped: boolean;
}

interface Submission {
  readonly entrypoint: string;
  readonly runtime_env: {
    readonly working_dir: string;
    readonly env_vars: Readonly<Record<string, string>>;
  };
}

export interface RayDashboard extends AsyncDisposable {
  readonly url: string;
  /** `METHOD path` of every request. */
  readonly requests: readonly string[];
  readonly submissions: readonly Submission[];
  readonly jobs: ReadonlyMap<string, Job>;
}

function statusOf({ child, isStopped }: Job): string {
  if (child.exitCode === null && child.signalCode === null) return "RUNNING";
  if (isStopped) return "STOPPED";
  return child.exitCode === 0 ? "SUCCEEDED" : "FAILED";
}

/** `token`: what requests must carry. */
export async function startDashboard(token: string): Promise<RayDashboard> {
  const folder = mkdtempSync(join(tmpdir(), "ray-dashboard-"));
  const requests: string[] = [];
  const submissions: Submission[] = [];
  const jobs = new Map<string, Job>();

  function submit(body: Submission): string {
    submissions.push(body);
    const name = body.runtime_env.working_dir.replace("gcs://", "");
    const home = mkdtempSync(join(folder, "job-"));
    // Python reads the archive, so its format is held, too.
    const unzip = spawnSync("python3", ["-m", "zipfile", "-e", join(folder, name), home]);
    if (unzip.status !== 0) throw new Error(unzip.stderr.toString());
    const [command = "", ...args] = body.entrypoint.replace(/^python /u, "python3 ").split(" ");
    const env = { ...process.env, ...body.runtime_env.env_vars };
    const child = spawn(command, args, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
    const job: Job = { child, logs: "", isStopped: false };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => (job.logs += data.toString()));
    }
    const id = `raysubmit_${jobs.size + 1}`;
    jobs.set(id, job);
    return id;
  }

  function answer(method: string, path: string, body: Buffer): unknown {
    if (path === "/api/version") return { ray_version: "2.60.0" };
    const [, name] = /^\/api\/packages\/gcs\/(.*)$/u.exec(path) ?? [];
    if (name !== undefined && method === "GET") return existsSync(join(folder, name)) ? {} : null;
    if (name !== undefined) return writeFileSync(join(folder, name), body) ?? {};
    if (path === "/api/jobs/") {
      return { submission_id: submit(JSON.parse(body.toString()) as Submission) };
    }
    const [, id = "", rest] = /^\/api\/jobs\/(\w+)(?:\/(\w+))?$/u.exec(path) ?? [];
    const job = jobs.get(id);
    if (!job) return null;
    if (rest === "logs") return { logs: job.logs };
    if (rest === "stop") {
      job.isStopped = true;
      return { stopped: job.child.kill("SIGTERM") };
    }
    return { status: statusOf(job), message: null };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = request;
    requests.push(`${method} ${url}`);
    const body = await buffer(request);
    const isAllowed = request.headers.authorization === `Bearer ${token}`;
    // As Ray does with what looks like a browser.
    if ("sec-fetch-mode" in request.headers && method !== "GET") {
      response.writeHead(405).end("method not allowed for browser traffic.");
      return;
    }
    const value = isAllowed ? answer(method, url, body) : null;
    response.statusCode = isAllowed ? (value === null ? 404 : 200) : 401;
    response.end(JSON.stringify(value));
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    submissions,
    jobs,
    async [Symbol.asyncDispose]() {
      for (const { child } of jobs.values()) child.kill("SIGKILL");
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
