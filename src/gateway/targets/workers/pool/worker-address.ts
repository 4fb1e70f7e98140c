/** A worker's URL in its parts. */
import { ConfigError } from "../../../../core/errors.ts";
import { redact } from "../../../../util/redact.ts";

export interface WorkerAddress {
  /** Scheme, host, port, and the path before the API's. No slash at the end. */
  readonly root: string;
  /** Of the OpenAI routes, as "/v1". */
  readonly apiPath: string;
}

function unusable(url: string, why: string, hint: string): ConfigError {
  return new ConfigError({
    message: `The worker URL "${redact(url)}" ${why}.`,
    hint,
    fields: { option: "workers" },
  });
}

/** @throws ConfigError */
export function parseWorkerUrl(url: string): WorkerAddress {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw unusable(url, "is not a URL", "Write it as http://host:8000/v1.");
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw unusable(url, `has the scheme ${parsed.protocol}`, "Use http: or https:.");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw unusable(url, "holds credentials", "Give them as apiKey.");
  }
  const path = parsed.pathname.replace(/\/+$/, "");
  const prefix = path.endsWith("/v1") ? path.slice(0, -"/v1".length) : "";
  return { root: parsed.origin + prefix, apiPath: path === "" ? "/v1" : path.slice(prefix.length) };
}
