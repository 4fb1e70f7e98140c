/** Variables of a container: their values are in no command line, which every user of the machine can read. */
import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { openContainer } from "../../src/environments/harbor/container.ts";
import type { HarborTask } from "../../src/environments/harbor/task-folder.ts";

afterEach(() => void vi.unstubAllEnvs());

it("are passed by name, but for those that this process has with another value", async () => {
  const folder = await mkdtemp(join(tmpdir(), "container-variables-"));
  const program = join(folder, "docker");
  const log = join(folder, "log");
  await writeFile(
    program,
    `#!/bin/sh\necho "$*" >> '${log}'\necho "value: $TASK_KEY,$STEP_KEY,$LANGUAGE" >> '${log}'\n`,
  );
  await chmod(program, 0o755);
  vi.stubEnv("LANGUAGE", "en");
  const task = {
    folder,
    passEnv: new Set(),
    config: {
      environment: { docker_image: "image", env: { TASK_KEY: "s3cret", LANGUAGE: "de" } },
      agent: {},
    },
  } as unknown as HarborTask;
  const { signal } = new AbortController();
  const container = await openContainer(program, task, new Map(), signal);
  await container.exec({ command: "true", env: { STEP_KEY: "s4cret" }, timeoutMs: 5000, signal });
  await container.close();
  const lines = (await readFile(log, "utf8")).split("\n");
  const commands = lines.filter((line) => !line.startsWith("value:"));
  expect(commands.join()).not.toMatch(/s[34]cret/u);
  const run = commands.find((line) => line.startsWith("run"));
  expect(run).toContain("--env TASK_KEY --env LANGUAGE=de");
  expect(lines.filter((line) => line.includes("s3cret,,en"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("value: ,s4cret,en"))).toHaveLength(1);
});
