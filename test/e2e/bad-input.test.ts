import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, shop, temporaryFolder, writeConfig } from "./cli-process.ts";

/** Runs a config whose agent or evaluator is this JavaScript. */
async function withModule(lines: Record<string, string>, code: string): ReturnType<typeof cli> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "mine.mjs");
  await writeFile(file, code);
  const config = await writeConfig(
    folder.path,
    Object.fromEntries(
      Object.entries(lines).map(([key, value]) => [key, value.replace("MINE", file)]),
    ),
  );
  return await cli(["train", config], { cwd: folder.path });
}

const quick = "{ retry_limit: 1, timeout_s: 1, evaluator_timeout_s: 1 }";

describe("what bad input gets", () => {
  it("a missing agent file: its path, exit 2", async () => {
    const { code, stderr } = await withModule({ agent: "nowhere.mjs#agent" }, "");
    expect(code).toBe(2);
    expect(stderr).toContain("nowhere.mjs");
  });

  it("an export that does not exist: what there is, exit 2", async () => {
    const { code, stderr } = await withModule({ agent: `${shop}/agent.js#agnet` }, "");
    expect(code).toBe(2);
    expect(stderr).toMatch(/agnet/);
    expect(stderr).toMatch(/\bagent\b/);
  });

  it("an unknown key and an impossible value, both named at once, exit 2", async () => {
    const { code, stderr } = await withModule(
      { data: "{ train_batchsize: 4 }", rollout: "{ n: -1 }" },
      "",
    );
    expect(code).toBe(2);
    expect(stderr).toContain("train_batchsize");
    expect(stderr).toContain("train_batch_size");
    expect(stderr).toContain("rollout.n");
    expect(stderr).toContain("-1");
  });

  it("a model that does not exist: its name and what there is", async () => {
    const { code, stderr } = await withModule({ model: "{ name: 'builtin:none' }" }, "");
    expect(code).not.toBe(0);
    expect(stderr).toContain("builtin:shop-tiny");
  });

  it("a backend that does not exist: its name, exit 2", async () => {
    const { code, stderr } = await withModule({ backend: "lokal" }, "");
    expect(code).toBe(2);
    expect(stderr).toContain("lokal");
  });

  it("an agent that throws on every call: its error, exit 1", async () => {
    const { code, stderr } = await withModule(
      { agent: "MINE#agent", workflow: quick },
      "export function agent() { throw new Error('my agent is broken'); }",
    );
    expect(code).toBe(1);
    expect(stderr).toContain("my agent is broken");
  });

  it("an agent that never returns: a time-out, not a hang", async () => {
    const { code, stderr } = await withModule(
      { agent: "MINE#agent", workflow: quick },
      "export function agent() { return new Promise(() => {}); }",
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/1000 ms|time/);
  });

  it("an evaluator that returns NaN: the value and the task, exit 1", async () => {
    const { code, stderr } = await withModule(
      { evaluator: "MINE#evaluator", workflow: quick },
      "export function evaluator() { return NaN; }",
    );
    expect(code).toBe(1);
    expect(stderr).toContain("NaN");
    expect(stderr).toMatch(/train-\d+/);
  });

  it("rewards that are all equal: the run says that nothing was learned, and why", async () => {
    const { code, stdout, stderr } = await withModule(
      // No short limits: a rollout that is late has another reward.
      { evaluator: "MINE#evaluator" },
      "export function evaluator() { return true; }",
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^untrained after /mu);
    expect(stderr).toContain("(rewards equal)");
    expect(stderr).toContain("Nothing was learned: in");
  });

  it("an agent that fails now and then: the run goes on", async () => {
    const { code, stderr } = await withModule(
      { agent: "MINE#agent", workflow: quick },
      `import { agent as shop } from "${shop}/agent.js";
       let calls = 0;
       export function agent(task, config) {
         calls += 1;
         if (calls % 5 === 0) throw new Error("flaky");
         return shop(task, config);
       }`,
    );
    expect(code, stderr).toBe(0);
  });
});

it("--dry-run shows every option and where it came from, and runs nothing", async () => {
  await using folder = await temporaryFolder();
  const config = await writeConfig(folder.path);
  const { code, stdout } = await cli(["train", config, "rollout.n=3", "--dry-run"], {
    cwd: folder.path,
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/n: 3 +# override/);
  expect(stdout).toMatch(/train_batch_size: 4 +# file/);
  expect(stdout).toMatch(/estimator:\n +type: grpo +# default/);
});
