/** The official `tinker` package and its cookbook, in an environment of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pythonEnvironment } from "../python-environment.ts";

const recipe = {
  name: "tinker",
  packages: ["tinker==0.38.0", "tinker-cookbook[math-rl]==0.6.1"],
  // The newest of its renderers that is published; they are for models that are not served here.
  overrides: ["torch==2.11.0", "tml-renderers==0.2.1"],
};

/** The last line of stdout as JSON; the rest goes to stderr. The server may be in this very process. */
export async function runPython(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string = process.cwd(),
): Promise<unknown> {
  const file = join(import.meta.dirname, "python", script);
  const child = spawn(pythonEnvironment(recipe), [file, ...args], {
    cwd,
    env: { ...process.env, HF_HUB_OFFLINE: "1", TINKER_TELEMETRY: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const last = out.trim().split("\n").at(-1) ?? "";
  if (code !== 0) throw new Error(`${script} ended with ${code}. Its last words: ${last}`);
  return JSON.parse(last);
}
