/** The official `tinker` package and its cookbook, in an environment of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { pythonEnvironment } from "../python-environment.ts";

const recipe = {
  name: "tinker",
  packages: ["tinker==0.38.0", "tinker-cookbook[math-rl]==0.6.1"],
  // The newest of its renderers that is published; they are for models that are not served here.
  overrides: ["torch==2.11.0", "tml-renderers==0.2.1"],
};

type Environment = Readonly<Record<string, string>>;

/** The last line of stdout as JSON; the rest goes to stderr. The server may be in this very process. */
export async function runPython(
  script: string,
  args: readonly string[],
  env: Environment,
  cwd: string = process.cwd(),
): Promise<unknown> {
  const file = join(import.meta.dirname, "python", script);
  return JSON.parse(await run(pythonEnvironment(recipe), [file, ...args], env, cwd));
}

/** The SDK's own command line. */
export async function runTinker(args: readonly string[], env: Environment): Promise<void> {
  await run(join(dirname(pythonEnvironment(recipe)), "tinker"), args, env, process.cwd());
}

async function run(
  command: string,
  args: readonly string[],
  env: Environment,
  cwd: string,
): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, HF_HUB_OFFLINE: "1", TINKER_TELEMETRY: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const last = out.trim().split("\n").at(-1) ?? "";
  if (code !== 0) throw new Error(`${command} ended with ${code}. Its last words: ${last}`);
  return last;
}
