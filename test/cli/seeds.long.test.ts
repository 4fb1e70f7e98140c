/** `--seeds` on the command line: what it prints, its exit status, and how it resumes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
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
  expect((await start(args)).err).toContain("already holds runs of several seeds");
  const again = await start([...args, "--resume", "--json"]);
  expect(again.err).not.toContain("run 1 of 3");
  const { runs } = JSON.parse(again.out) as { runs: { value: number }[] };
  expect(runs.map(({ value }) => typeof value)).toEqual(["number", "number", "number"]);
});

it("continues after it was interrupted, and after it was killed", async () => {
  const folder = coinProject();
  const args = ["train", join(folder, "run.yaml"), "--seeds", "4,7,8"];
  const dry = await start([...args, "--dry-run"]);
  expect(dry.out.split("\n").slice(1, 4)).toEqual(["seed=4", "seed=7", "seed=8"]);
  const stopped = await start(args, (text) => text.includes("run 2 of 3"));
  expect(stopped.code).toBe(130);
  expect(stopped.err).toMatch(/To resume: .*--seeds 4,7,8 --resume .*coin-seeds/u);
  await killed([...args, "--resume"], (text) => text.includes("run 3 of 3"));
  const resume = ["--resume", join(folder, "runs", "coin-seeds")];
  const { code, out, err } = await start([...args, ...resume]);
  expect(code).toBe(0);
  expect(err).not.toContain("run 2 of 3");
  expect(out).toMatch(/completed: 3 of 3 runs done/u);
});
