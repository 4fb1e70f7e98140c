import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const child = fileURLToPath(new URL("child.ts", import.meta.url));
const source = ["--import", "tsx", "--conditions=agent-trainer-source"];

it.each([30, 120, 350])("ends quietly when the process exits %i ms into a step", async (ms) => {
  const run = promisify(execFile)(process.execPath, [...source, child, String(ms)]);
  await expect(run).rejects.toMatchObject({ code: 3, stdout: "", stderr: "" });
});
