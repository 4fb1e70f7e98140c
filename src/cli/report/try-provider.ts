/** Tries an execution provider in a separate process, within a deadline. */
import { fileURLToPath } from "node:url";
import { providerReason } from "../../engine/require-provider.ts";
import { defined } from "../../util/defined.ts";
import { type ProcessEnd, runLimited } from "../../util/process/limited-process.ts";

export type ProviderResult =
  | { readonly works: true; readonly ms: number }
  | { readonly works: false; readonly reason: string };

/** Loading a GPU's libraries for the first time is slow. */
const limitMs = 60_000;

/** TypeScript sources need the tsx loader; compiled files do not. */
function command(): readonly string[] {
  const isSource = import.meta.url.endsWith(".ts");
  const script = fileURLToPath(
    new URL(isSource ? "./provider-probe.ts" : "./provider-probe.js", import.meta.url),
  );
  const loader = ["--import", "tsx", "--conditions=agent-trainer-source"];
  return [...(isSource ? loader : []), script];
}

/** Never rejects: any error becomes the reason why the provider does not work. */
export async function tryProvider(provider: string, signal?: AbortSignal): Promise<ProviderResult> {
  const argv = [process.execPath, ...command(), provider];
  const end = await runLimited(
    { argv, cwd: process.cwd(), env: process.env },
    { timeoutMs: limitMs, ...defined({ signal }) },
  ).catch((error: unknown) => String(error));
  if (typeof end === "string") return { works: false, reason: end };
  try {
    return tidy(JSON.parse(end.stdout) as ProviderResult);
  } catch {
    return { works: false, reason: crashReason(end) };
  }
}

function crashReason({ ended, signal, exitCode, stderr }: ProcessEnd): string {
  if (ended === "timeout") return `no result within ${limitMs / 1000} s`;
  if (signal !== null) return `its process ended with ${signal}`;
  return `its process ended with status ${exitCode}. ${stderr.trim().split("\n").at(-1)}`.trim();
}

function tidy(result: ProviderResult): ProviderResult {
  return result.works ? result : { works: false, reason: providerReason(result.reason) };
}
