/** Tries an execution provider in a separate process, within a deadline. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { providerReason } from "../../engine/require-provider.ts";
import { defined } from "../../util/defined.ts";

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
export function tryProvider(provider: string, signal?: AbortSignal): Promise<ProviderResult> {
  return new Promise((resolve) => {
    const options = { timeout: limitMs, ...defined({ signal }) };
    execFile(process.execPath, [...command(), provider], options, (error, stdout) => {
      try {
        resolve(tidy(JSON.parse(stdout) as ProviderResult));
      } catch {
        resolve({ works: false, reason: crashReason(error) });
      }
    });
  });
}

function crashReason(
  error: (Error & { readonly killed?: boolean; readonly signal?: unknown }) | null,
): string {
  if (error?.killed === true) return `no result within ${limitMs / 1000} s`;
  if (typeof error?.signal === "string") return `its process ended with ${error.signal}`;
  return error?.message.split("\n")[0] ?? "its process printed no result";
}

function tidy(result: ProviderResult): ProviderResult {
  return result.works ? result : { works: false, reason: providerReason(result.reason) };
}
