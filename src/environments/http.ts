/** Requests to servers of environments: their limits, and their faults as errors of an environment. */
import { AgentTrainerError } from "../core/errors.ts";
import { connectionFault, mayPass, parseJson, type HttpFault } from "../http/http-fault.ts";
import { JsonClient, textOf, type HttpCall } from "../http/json-client.ts";
import { backOffMs } from "../util/retry.ts";
import { environmentError } from "./episode/environment-error.ts";

/** One request. */
export interface HttpRequest extends Omit<HttpCall, "path" | "accept"> {
  readonly url: string;
}

const backOff = { firstMs: 100, maxMs: 5000, jitter: 0.3 };

export const wait = (failures: number): number => backOffMs(failures, backOff);

const hints: Partial<Record<HttpFault["kind"], string>> = {
  unreachable: "Start the server of the environment, or correct its address.",
  redirect: "Start the server of the environment, or correct its address.",
  late: "The server of the environment is stuck, or makes many tasks; its log may say which.",
};

/** Whether another attempt may succeed: text that is not JSON will stay so. */
const isPassing = (fault: HttpFault): boolean =>
  fault.status === 410 || (fault.kind !== "not-json" && mayPass(fault));

/** An error of the environment; one that already is one is kept. */
export function toEnvironmentError(url: string, error: unknown): AgentTrainerError {
  if (AgentTrainerError.isInstance(error) && error.code === "ENVIRONMENT_FAILED") return error;
  const fault = connectionFault(error);
  const { kind, message, status, cause } = fault;
  return environmentError(`${url} ${message}${kind === "late" ? "." : ""}`, {
    isFinal: !isPassing(fault),
    hint: hints[kind],
    ...(kind === "status" ? { fields: { url, status } } : { fields: { url }, cause }),
  });
}

const toError = (fault: HttpFault, { path }: HttpCall): Error => toEnvironmentError(path, fault);

const client = new JsonClient({
  timeoutMs: 60_000,
  maxBytes: 64 * 2 ** 20,
  toError,
  retry: { ...backOff, tries: 5, mayPass: isPassing, maxRetryAfterMs: 5000 },
});

/**
 * The JSON of a request that may be repeated, which it is where the connection or a proxy fails.
 * @throws AgentTrainerError (`ENVIRONMENT_FAILED`)
 */
export const requestJson = ({ url, ...call }: HttpRequest): Promise<unknown> =>
  client.json({ ...call, path: url });

/** Likewise; null where the status says that the server has no such thing. */
export const requestIfThere = (
  { url, ...call }: HttpRequest,
  isAbsent: (status: number) => boolean,
): Promise<unknown> =>
  client.request(
    { ...call, path: url, accept: (status) => isAbsent(status) || (status >= 200 && status < 300) },
    (response) => (isAbsent(response.status) ? null : parseJson(textOf(response))),
  );
