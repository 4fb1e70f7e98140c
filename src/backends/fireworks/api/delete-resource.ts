/** Deletes what costs money as long as it is there; again and again, while that can help. */
import type { FireworksHttp } from "./http.ts";

const attempts = 5;
const waitMs = 1_000;
const timeoutMs = 10_000;

/** What a person types to delete it. */
export function deleteCommand(baseUrl: string, name: string): string {
  return `curl -X DELETE -H "X-Api-Key: $FIREWORKS_API_KEY" "${baseUrl}/v1/${name}"`;
}

/**
 * @param name resource name, with the query that its deletion takes.
 * @param what it is, for the warning.
 * @returns false when it may still be there, after a warning that says how to delete it.
 */
export async function deleteResource(
  http: FireworksHttp,
  name: string,
  what: string,
): Promise<boolean> {
  const { baseUrl, onWarning, sleep } = http.settings;
  let reason = "";
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attempt > 1) await sleep(waitMs * 2 ** (attempt - 2));
    const outcome = await http
      .attempt({ method: "DELETE", path: `/v1/${name}`, timeoutMs, outlivesClose: true })
      .catch((thrown: unknown) => ({
        kind: "fault" as const,
        fault: { status: null, error: thrown as Error },
      }));
    if (outcome.kind === "ok" || outcome.fault.status === 404) return true;
    reason = outcome.fault.error.message;
  }
  onWarning(
    `The ${what} ${name.replace(/\?.*$/u, "")} could not be deleted, and may cost money until the service ends it: ${reason} Delete it: ${deleteCommand(baseUrl, name)}`,
  );
  return false;
}
