/** The official `fireworks-ai` SDK in an environment of its own. Needs Python 3.11 or newer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pythonEnvironment } from "../python-environment.ts";

const recipe = {
  name: "fireworks",
  // Without the extra "training", which adds PyTorch: all that is used here are arrays.
  packages: [
    "fireworks-ai==1.2.30",
    "numpy==2.4.6",
    "orjson==3.13.0",
    "tokenizers==0.22.1",
    "pyqwest==0.10.0",
    "httpx[http2]<1",
    "protobuf<8",
    "requests<3",
    "urllib3<3",
    "zstandard==0.25.0",
  ],
  // It wants certificates of a week that package indexes may not have.
  overrides: ["certifi>=2025.1.31"],
};

/** The last line of stdout as JSON; the rest goes to stderr. The server may be in this very process. */
export async function runPython(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<unknown> {
  const file = join(import.meta.dirname, "python", script);
  const child = spawn(pythonEnvironment(recipe), [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const last = out.trim().split("\n").at(-1) ?? "";
  if (code !== 0) throw new Error(`${script} ended with ${code}. Its last words: ${last}`);
  return JSON.parse(last);
}
