/** Options that the clients of all services have, and the values they resolve to. */
import { ConfigError } from "../../core/errors.ts";
import { delay } from "../../util/abort.ts";
import type { WireSettings } from "./server-profile.ts";

type Given = { readonly [K in keyof WireSettings]?: WireSettings[K] | undefined };

export interface ServiceDefaults {
  /** Of environment variables: `TINKER_BASE_URL`, `TINKER_API_KEY`. */
  readonly prefix: "TINKER" | "FIREWORKS";
  /** The option of a run, for messages. */
  readonly urlOption: string;
  readonly hostedUrl: string;
  readonly noKey: { readonly message: string; readonly hint: string };
  readonly deadlineMs: number;
  readonly patienceMs: number;
}

export function fromEnvironment(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === "" ? undefined : value;
}

/** @throws ConfigError when there is no key, or a URL or a number makes no sense. */
export function resolveWire(
  options: Given & { readonly apiKey?: string | undefined },
  { prefix, urlOption, hostedUrl, noKey, ...defaults }: ServiceDefaults,
): WireSettings & { readonly apiKey: string } {
  const baseUrl = options.baseUrl ?? fromEnvironment(`${prefix}_BASE_URL`) ?? hostedUrl;
  if (!URL.canParse(baseUrl) || !/^https?:/u.test(baseUrl))
    throw new ConfigError({
      message: `${urlOption} is "${baseUrl}", which is no http or https URL.`,
      fields: { baseUrl },
    });
  const apiKey = options.apiKey ?? fromEnvironment(`${prefix}_API_KEY`);
  if (apiKey === undefined) throw new ConfigError(noKey);
  return {
    baseUrl: baseUrl.replace(/\/+$/u, ""),
    apiKey,
    ...atLeastOne({
      deadlineMs: options.deadlineMs ?? defaults.deadlineMs,
      patienceMs: options.patienceMs ?? defaults.patienceMs,
      httpTimeoutMs: options.httpTimeoutMs ?? 60_000,
      heartbeatMs: options.heartbeatMs ?? 10_000,
    }),
    onWarning: options.onWarning ?? (() => undefined),
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sleep: options.sleep ?? delay,
  };
}

/** @throws ConfigError naming the first that is not. */
export function atLeastOne<T extends Readonly<Record<string, number>>>(values: T): T {
  for (const [option, value] of Object.entries(values))
    if (!(value >= 1))
      throw new ConfigError({
        message: `${option} is ${value}, but must be at least 1.`,
        fields: { option, value },
      });
  return values;
}
