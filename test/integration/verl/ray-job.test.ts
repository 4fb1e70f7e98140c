/** The bridge as a job of a real Ray, through its Jobs API with token authentication. */
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openJobBridge } from "../../../src/backends/verl/job-bridge.ts";
import { RayJobs } from "../../../src/backends/verl/ray-jobs.ts";
import { delay } from "../../../src/util/abort.ts";
import { fakeEnv } from "../../verl/fake-bridge.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { python } from "./verl-on-cpu.ts";

const port = 6399;
const dashboard = "http://127.0.0.1:8299";
const token = "0123456789abcdef0123456789abcdef";

let ray: ServerProcess;
let before: string | undefined;

beforeAll(async () => {
  before = process.env["RAY_AUTH_TOKEN"];
  process.env["RAY_AUTH_TOKEN"] = token;
  const bin = dirname(python());
  ray = await startServer({
    command: python(),
    args: [
      ...["-m", "ray.scripts.scripts", "start", "--head", "--block", "--disable-usage-stats"],
      ...[`--port=${port}`, "--dashboard-port=8299", "--num-cpus=2", "--include-dashboard=true"],
    ],
    env: { PATH: `${bin}:${process.env["PATH"]}`, RAY_AUTH_MODE: "token", RAY_AUTH_TOKEN: token },
    // Its page is for everyone; its API is not.
    healthUrl: dashboard,
    limitMs: 120_000,
  });
  // The part that runs jobs comes up later than the page.
  for (let left = 60; left > 0; left--) {
    if ((await new RayJobs(dashboard).version().catch(() => "")) !== "") break;
    await delay(1_000);
  }
});
afterAll(async () => {
  await ray?.[Symbol.asyncDispose]();
  if (before === undefined) delete process.env["RAY_AUTH_TOKEN"];
  else process.env["RAY_AUTH_TOKEN"] = before;
});

it("is uploaded, started, reached and ended", async () => {
  const lines: string[] = [];
  const bridge = await openJobBridge({
    dashboard,
    env: fakeEnv,
    startMs: 180_000,
    graceMs: 20_000,
    pollMs: 500,
    signal: new AbortController().signal,
    onLog: (line) => lines.push(line),
  });
  const started = await bridge.client.run("start", { model: "fake", seed: 1 }, 30_000);
  expect(started).toMatchObject({ data_parallel_size: 2 });
  await bridge[Symbol.asyncDispose]();
  await expect(bridge.client.get("/health")).rejects.toMatchObject({ reason: "lost" });
});

it("is refused with another token", async () => {
  await expect(
    new RayJobs(dashboard, "another-token-of-thirty-two-chars").version(),
  ).rejects.toThrow(expect.objectContaining({ code: "VERL_FAILED", reason: "job" }));
});
