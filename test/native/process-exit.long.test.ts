import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("./exit-program.ts", import.meta.url));

describe.each(["addon", "wasm"])("a process that exits while kernels compute, as %s", (native) => {
  it.each(["main", "worker", "main-of-worker"])("ends at once and quietly: %s", async (who) => {
    const child = spawn(process.execPath, ["--import", "tsx", program, who], {
      env: { ...process.env, AGENT_TRAINER_NATIVE: native, NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise((resolve) => {
      child.once("close", (code, signal) => resolve(signal ?? code));
    });
    const written = [await text(child.stdout), await text(child.stderr)];
    expect([await ended, ...written]).toEqual([7, "", ""]);
  });
});
