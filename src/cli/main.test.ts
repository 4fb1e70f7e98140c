/** The executable as a process of its own: exit statuses, streams, Ctrl-C. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { argumentsOf, coinProject, root, start } from "../../test/cli/coin-project.ts";

describe("agent-trainer", () => {
  it("trains, with the result alone on stdout", async () => {
    const folder = coinProject();
    const { code, out, err } = await start(["train", join(folder, "run.yaml"), "--json"]);
    expect(err).toContain("step 3/3");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ...{ status: "completed", steps: 3, totalSteps: 3, seed: 0 },
      runDir: join(folder, "runs/coin"),
    });
  });

  it("stops at Ctrl-C with 130, a checkpoint and the command that resumes the run", async () => {
    const folder = coinProject();
    const file = join(folder, "run.yaml");
    const args = ["train", file, "trainer.total_batches=100000"];
    const { code, err } = await start(args, (text) => text.includes("step 2/"));
    expect(code).toBe(130);
    const runDir = join(folder, "runs/coin");
    expect(readdirSync(join(runDir, "checkpoints"))).toHaveLength(1);
    expect(err).toContain("To resume: node ");
    expect(err).toContain(` train ${file} trainer.total_batches=100000 --resume ${runDir}\n`);
    const step = Number(readdirSync(join(runDir, "checkpoints"))[0]);
    const next = await start([
      ...["train", file, `trainer.total_batches=${step + 1}`, "--resume", runDir, "--json"],
    ]);
    expect(next.code).toBe(0);
    expect(JSON.parse(next.out)).toMatchObject({ status: "completed", steps: step + 1 });
  });

  it("says at Ctrl-C before the first step that nothing was saved, and how to start again", async () => {
    const folder = coinProject();
    const file = join(folder, "run.yaml");
    const args = ["train", file, "trainer.total_batches=100000"];
    const { code, err } = await start(args, (text) => text.includes("seed 0"));
    expect(code).toBe(130);
    expect(readdirSync(join(folder, "runs/coin/checkpoints"))).toEqual([]);
    expect(err).not.toContain("To resume");
    expect(err).toMatch(/Nothing was saved, .* To start again: .* --resume\n/u);
    const next = await start(["train", file, "--resume", "--json"]);
    expect(next.code, next.err).toBe(0);
    expect(next.err).toContain("warning: There is no run to resume in ");
    expect(JSON.parse(next.out)).toMatchObject({ status: "completed", steps: 3 });
  });

  it("fails with 1 and one sentence when the agent always fails", async () => {
    const folder = coinProject();
    const { code, out, err } = await start([
      ...["train", join(folder, "run.yaml"), "agent=parts.mjs#broken"],
    ]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("8 of 8 rollouts of step 1 failed");
    expect(err).toContain("the tool is down");
    expect(err).not.toContain("    at ");
  });

  it("ends quietly when its reader has enough", async () => {
    const child = spawn(
      "sh",
      [
        "-c",
        `"$0" "$@" | head -n 1`,
        process.execPath,
        ...(await argumentsOf(["train", "--help"])),
      ],
      {
        cwd: root,
      },
    );
    let [out, err] = ["", ""];
    child.stdout.on("data", (data: Buffer) => (out += data.toString()));
    child.stderr.on("data", (data: Buffer) => (err += data.toString()));
    await once(child, "close");
    expect(out).toMatch(/^Usage: agent-trainer train/);
    expect(err).toBe("");
  });

  it("fails with 2 for an unknown command", async () => {
    const { code, out, err } = await start(["trian"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("Did you mean train?");
  });
});
