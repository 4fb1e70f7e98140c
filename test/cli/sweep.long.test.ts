/** Sweeps on the command line: what they print, their exit status, and how they resume. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { argumentsOf, coinProject, root, start } from "./coin-project.ts";

const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** Kills the command line once its stderr shows what `isTime` waits for. */
async function killed(args: readonly string[], isTime: (text: string) => boolean): Promise<void> {
  const child = spawn(process.execPath, await argumentsOf(args), {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (data: Buffer) => {
    text += data.toString();
    if (isTime(text)) child.kill("SIGKILL");
  });
  const [, signal] = (await once(child, "close")) as [unknown, unknown];
  expect(signal).toBe("SIGKILL");
}

it("trains with several seeds, and reports over them", async () => {
  const folder = coinProject();
  const file = join(folder, "run.yaml");
  const args = ["train", file, "--seeds", "3"];
  const { code, out, err } = await start(args);
  expect(err).toContain("run 3 of 3: seed=2");
  expect({ code, out }).toMatchObject({ code: 0 });
  expect(out).toMatch(/completed: 3 of 3 runs done/u);
  expect(out).toMatch(/3\/3\s+\d\.\d{3}\s+-?\d\.\d{3} to \d\.\d{3}/u);
  expect(foldersIn(join(folder, "runs", "coin-seeds"))).toEqual(["seed=0", "seed=1", "seed=2"]);
  expect((await start(args)).err).toContain("already holds a sweep");
  const again = await start([...args, "--resume", "--json"]);
  expect(again.err).not.toContain("run 1 of 3");
  const { points } = JSON.parse(again.out) as { points: { runs: { value: number }[] }[] };
  expect(points[0]!.runs.map(({ value }) => typeof value)).toEqual(["number", "number", "number"]);
});

it("sweeps, and continues after it was interrupted, and after it was killed", async () => {
  const folder = coinProject();
  writeFileSync(
    join(folder, "sweep.yaml"),
    "config: run.yaml\nparameters: {training.learning_rate: [0.1, 0.9]}\nseeds: 2\n",
  );
  const args = ["sweep", join(folder, "sweep.yaml")];
  const dry = await start([...args, "--dry-run"]);
  expect(dry.out.split("\n").slice(1, 3)).toEqual([
    "learning_rate=0.1,seed=0",
    "learning_rate=0.9,seed=0",
  ]);
  const stopped = await start(args, (text) => text.includes("run 2 of 4"));
  expect(stopped.code).toBe(130);
  expect(stopped.err).toContain("To resume: ");
  await killed([...args, "--resume"], (text) => text.includes("run 3 of 4"));
  const { code, out, err } = await start([...args, "--resume"]);
  expect(code).toBe(0);
  expect(err).not.toContain("run 2 of 4");
  expect(out).toMatch(/completed: 4 of 4 runs done/u);
  expect(out).toMatch(/\n0\.[19]\s+2\/2\s.*\sbest/u);
});
