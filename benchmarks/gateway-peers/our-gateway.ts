/** Our gateway as people run it: the compiled program with one worker. */
import { fileURLToPath } from "node:url";
import { requestJson, inParallel } from "./admin-client.ts";
import type { CapturedCall, Contender } from "./contender.ts";
import type { CallTarget } from "./load-child.ts";
import { freePort, startServer } from "./server-process.ts";

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const token = "benchmark-admin-token";

interface WireTrace {
  readonly prompt_token_ids: readonly number[];
  readonly completion_token_ids: readonly number[];
  readonly logprobs: readonly number[] | null;
}

export function toCaptured(traces: readonly WireTrace[]): CapturedCall[] {
  return traces.map(({ prompt_token_ids, completion_token_ids, logprobs }) => {
    const sampled = completion_token_ids.length;
    if (logprobs?.length !== sampled) throw new Error("A trace lacks log-probabilities.");
    return { promptTokens: prompt_token_ids.length, sampledTokens: sampled };
  });
}

function sessionOf({ path }: CallTarget): string {
  return path.slice(0, path.indexOf("/v1/"));
}

/** `store`: a file, or "memory". */
export async function startOurs(
  workerUrl: string,
  store: string,
  sync: "full" | "normal" = "full",
): Promise<Contender> {
  const port = await freePort();
  const worker = ["--worker", `${workerUrl}/v1`, "--kind", "vllm"];
  const flags = [...worker, "--store", store, "--store-sync", sync, "--quiet"];
  const server = await startServer({
    command: process.execPath,
    args: [program, "gateway", ...flags, "--port", String(port), "--admin-token", token],
    port,
    healthPath: "/health",
  });
  const { url } = server;
  return {
    ...server,
    name: store === "memory" ? "ours, memory" : `ours, SQLite ${sync}`,
    async open(count) {
      return inParallel(Array.from({ length: count }), async () => {
        const opened = await requestJson(`${url}/sessions`, { method: "POST", token, body: {} });
        const session = opened as { session_id: string; api_key: string };
        const path = `/sessions/${session.session_id}/v1/chat/completions`;
        return { path, token: session.api_key };
      });
    },
    async settle() {
      await requestJson(`${url}/admin/flush`, { method: "POST", token, body: {} });
    },
    async captured(target) {
      return toCaptured(
        (await requestJson(`${url}${sessionOf(target)}/traces`, { token })) as WireTrace[],
      );
    },
    async close(targets) {
      await inParallel(targets, (target) =>
        requestJson(url + sessionOf(target), { method: "DELETE", token }),
      );
    },
  };
}
