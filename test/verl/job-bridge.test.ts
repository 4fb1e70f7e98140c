/** The bridge as a job, on a dashboard that speaks Ray's Jobs API. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bridgeProtocol } from "../../src/backends/verl/bridge-client.ts";
import { bridgeFiles, openJobBridge } from "../../src/backends/verl/job-bridge.ts";
import { RayJobs } from "../../src/backends/verl/ray-jobs.ts";
import { fakeEngine, fakeEnv, hasPython } from "./fake-bridge.ts";
import { type RayDashboard, startDashboard } from "./ray-dashboard.ts";

const clusterToken = "cluster-token";
let dashboard: RayDashboard;
let before: string | undefined;

beforeEach(async () => {
  before = process.env["RAY_AUTH_TOKEN"];
  process.env["RAY_AUTH_TOKEN"] = clusterToken;
  dashboard = await startDashboard(clusterToken);
});
afterEach(async () => {
  if (before === undefined) delete process.env["RAY_AUTH_TOKEN"];
  else process.env["RAY_AUTH_TOKEN"] = before;
  await dashboard[Symbol.asyncDispose]();
});

const lines: string[] = [];
const open = (engine = fakeEngine, signal = new AbortController().signal) =>
  openJobBridge({
    dashboard: dashboard.url,
    env: { ...fakeEnv, AGENT_TRAINER_BRIDGE_ENGINE: engine, SHOWN: "yes" },
    startMs: 20_000,
    graceMs: 5_000,
    pollMs: 50,
    signal,
    onLog: (line) => lines.push(line),
  });

describe.skipIf(!hasPython)("the bridge as a Ray job", () => {
  it("is uploaded once, reached with a token of its own, and ends with the backend", async () => {
    for (const run of [1, 2]) {
      const bridge = await open();
      expect(await bridge.client.get("/info")).toMatchObject({
        protocol: bridgeProtocol,
        engine: fakeEngine,
      });
      const job = dashboard.jobs.get(`raysubmit_${run}`);
      expect(job?.child.exitCode).toBeNull();
      await bridge[Symbol.asyncDispose]();
      expect(job?.child.exitCode).toBe(0);
    }
    expect(dashboard.requests.filter((request) => request.startsWith("PUT"))).toHaveLength(1);
    const [first, second] = dashboard.submissions.map(({ runtime_env: { env_vars: env } }) => env);
    expect(first?.["SHOWN"]).toBe("yes");
    const name = "AGENT_TRAINER_BRIDGE_TOKEN";
    expect(first?.[name]).not.toBe(second?.[name]);
    // The command line can be seen by everyone on the machine.
    for (const { entrypoint } of dashboard.submissions) expect(entrypoint).not.toContain("TOKEN");
  });

  it("tells the last words of a job that fails", async () => {
    await expect(open("nothing")).rejects.toMatchObject({
      code: "VERL_FAILED",
      reason: "job",
      message: expect.stringContaining("ended as FAILED"),
      fields: { words: expect.arrayContaining([expect.stringContaining("no engine 'nothing'")]) },
    });
  });

  it("notices that a running job was stopped", async () => {
    const bridge = await open();
    await new RayJobs(dashboard.url).stop("raysubmit_1");
    // It may answer for a moment, until the signal has reached it.
    const requestOn = async (): Promise<never> => {
      await bridge.client.run("start", { model: "fake", seed: 1 }, 10_000);
      for (;;) await bridge.client.run("sleep", {}, 10_000);
    };
    await expect(requestOn()).rejects.toMatchObject({ code: "VERL_FAILED" });
    await bridge[Symbol.asyncDispose]();
  });
});

describe("Ray's dashboard", () => {
  it("is asked with the cluster's token", async () => {
    expect(await new RayJobs(dashboard.url).version()).toBe("2.60.0");
    await expect(new RayJobs(dashboard.url, "wrong").version()).rejects.toMatchObject({
      reason: "job",
      hint: "Set RAY_AUTH_TOKEN to the cluster's token.",
    });
  });

  it("is named when it does not respond", async () => {
    await expect(new RayJobs("http://127.0.0.1:9").version()).rejects.toMatchObject({
      reason: "job",
      message: "Ray's dashboard at http://127.0.0.1:9 does not respond.",
    });
  });
});

it("ships every module of the bridge, and nothing else", () => {
  const paths = Object.keys(bridgeFiles());
  expect(paths).toContain("agent_trainer_bridge/__main__.py");
  expect(paths).toContain("agent_trainer_bridge/verl_engine/engine.py");
  expect(paths.every((path) => /^agent_trainer_bridge\/[\w/]+\.py$/u.test(path))).toBe(true);
  expect(paths).toEqual([...paths].sort());
});
