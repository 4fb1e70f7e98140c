/** llama.cpp's own HTTP server, out of the wheel xllamacpp, with a model file. */
import { join } from "node:path";
import { freePort } from "../../free-port.ts";
import { pythonEnvironment } from "../python-environment.ts";
import { type ServerProcess, startServer } from "../server-process.ts";

const recipe = { name: "llama-server", packages: ["xllamacpp==2026.10.11549"] };

export interface LlamaServer extends ServerProcess {
  readonly url: string;
}

/** @param adapters files for `--lora`. */
export async function startLlamaServer(
  model: string,
  adapters: readonly string[] = [],
): Promise<LlamaServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer({
    command: pythonEnvironment(recipe),
    args: [join(import.meta.dirname, "serve.py"), model, String(port), ...adapters],
    healthUrl: `${url}/health`,
    limitMs: 120_000,
  });
  return { ...server, url };
}
