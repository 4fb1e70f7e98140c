/** Harbor's own models read the tasks of our tests. */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { greeting, twoSteps, writeFiles } from "../../environments/harbor-tasks.ts";
import { harborPython } from "./python.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "harbor-"));
  await writeFiles(join(folder, "greeting"), greeting);
  await writeFiles(join(folder, "steps"), twoSteps("mean", 1));
});

it("Harbor reads the same tasks", { timeout: 900_000 }, () => {
  const script = `
import sys
from harbor.models.task.task import Task
for name in ("greeting", "steps"):
    task = Task(f"{sys.argv[1]}/{name}")
    print(task.config.verifier.timeout_sec, [step.name for step in task.config.steps or []])
`;
  const { stdout, stderr } = spawnSync(harborPython(), ["-c", script, folder], {
    encoding: "utf8",
  });
  expect(stdout, stderr).toBe("30.0 []\n600.0 ['first', 'second']\n");
});
