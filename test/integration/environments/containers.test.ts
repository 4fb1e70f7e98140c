/** Real containers, where docker or podman can start one: Harbor's tasks, in an image of busybox. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { EnvironmentEpisode } from "../../../src/core/environment.ts";
import { environment } from "../../../src/environments/index.ts";
import { greeting, twoSteps, writeFiles } from "../../environments/harbor-tasks.ts";

const { signal } = new AbortController();
const busybox = "/bin/busybox";
const image = "localhost/agent-trainer-test-busybox:1";

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Makes the image, and starts a container of it. */
function canRun(program: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "busybox-"));
  for (const name of ["bin", "etc", "tmp", "root"])
    mkdirSync(join(folder, "rootfs", name), { recursive: true });
  const bin = join(folder, "rootfs", "bin");
  copyFileSync(busybox, join(bin, "busybox"));
  for (const name of run(busybox, "--list").trim().split("\n")) {
    if (name !== "busybox") symlinkSync("busybox", join(bin, name));
  }
  writeFileSync(join(folder, "rootfs", "etc", "passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  run("tar", "-C", join(folder, "rootfs"), "-cf", join(folder, "image.tar"), ".");
  try {
    run(program, "import", join(folder, "image.tar"), image);
    return run(program, "run", "--rm", "--init", image, "echo", "hello").trim() === "hello";
  } catch {
    return false;
  }
}

const program = existsSync(busybox) ? ["docker", "podman"].find(canRun) : undefined;

/** As the other tests' tasks, with this image and the only shell that it has. */
const inImage = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      text.replace(/^FROM .*$/mu, `FROM ${image}`).replace("#!/bin/bash", "#!/bin/sh"),
    ]),
  );

async function open(folder: string): Promise<EnvironmentEpisode> {
  const source = environment(`harbor:${folder}`);
  const { value } = await source.tasks("train")[Symbol.asyncIterator]().next();
  return await source.open(value, { signal });
}

const containers = (): string => run(program ?? "", "ps", "--all", "--format", "{{.Names}}");

describe.runIf(program !== undefined)(`with ${program}`, () => {
  let folder = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "harbor-"));
    await writeFiles(join(folder, "greeting"), inImage(greeting));
    await writeFiles(join(folder, "steps"), inImage(twoSteps("mean", 1)));
  });

  it("a task: image, files, variables, limits, tests", { timeout: 300_000 }, async () => {
    const episode = await open(join(folder, "greeting"));
    const bash = async (command: string) => (await episode.call("bash", { command }, signal)).text;
    expect(await bash("pwd; cat notes.txt; echo $COLOR $LANGUAGE_OF_TASK")).toMatch(
      /^\/app\nBe kind\.\nblue en/u,
    );
    expect(await bash("exit 3")).toMatch(/3/u);
    expect(await bash("cat /tests/test.sh")).toMatch(/No such file/u);
    expect(await bash(`ls ${import.meta.dirname}`)).toMatch(/No such file/u);
    // A link out of the container: the tests are copied in, but not through it.
    const victim = mkdtempSync(join(tmpdir(), "victim-"));
    await bash(`ln -s ${victim} /tests/link; echo hello > greeting.txt`);
    expect(await episode.respond?.("Done.", signal)).toMatchObject({ reward: 1, done: true });
    expect(existsSync(join(victim, "test.sh"))).toBe(false);
    await episode.close();
    expect(containers()).not.toContain("agent-trainer-");
  });

  it("steps: files, tests and instructions of each", { timeout: 300_000 }, async () => {
    const episode = await open(join(folder, "steps"));
    await episode.call("bash", { command: "touch first.txt" }, signal);
    const next = await episode.respond?.("Done.", signal);
    expect(next).toEqual({ text: "Make second.txt.\n", done: false });
    const { text } = await episode.call("bash", { command: "cat second-hint.txt" }, signal);
    expect(text).toBe("hint of second");
    expect(await episode.respond?.("Done.", signal)).toEqual({
      text: "",
      reward: 0.5,
      signals: { reward: 0.5, style: 0.5 },
      done: true,
    });
    await episode.close();
  });
});
