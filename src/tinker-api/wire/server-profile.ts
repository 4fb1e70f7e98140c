/** What differs between the services that speak Tinker's protocol: paths, headers, faults and errors. */
import type { FaultRules, TinkerRequestName } from "./fault-policy.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** What a user of a client chooses, with defaults filled in. */
export interface WireSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Longest wait for the result of one call. */
  readonly deadlineMs: number;
  /** How long a server may be unreachable or overloaded before a call fails. */
  readonly patienceMs: number;
  /** Longest wait for one HTTP response. */
  readonly httpTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly onWarning: (message: string) => void;
  readonly fetch: (input: string, init: RequestInit) => Promise<Response>;
  /** Waits between attempts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** How a service's errors are named. */
export interface WireErrors {
  /** There was no response, for a reason of the network. */
  connection(request: string, cause: unknown): Error;
  /** @param tries this one included */
  status(request: string, status: number, detail: string, tries: number): Error;
  /** What came is not what the API sends. */
  wire(message: string, fields?: Readonly<Record<string, unknown>>): Error;
  /** The server took the request, and failed at it. */
  failed(where: TinkerRequestName, failure: ServerFailure): Error;
  /** An earlier request of the model was lost. */
  modelLost(modelId: string, cause: unknown): Error;
}

interface ServerFailure {
  readonly detail: string;
  /** Whose fault it is, as far as the server knows. */
  readonly category: string;
  readonly errorClass: unknown;
}

export interface ServerProfile {
  /** For messages. */
  readonly service: string;
  /** Path in front of the protocol's routes. */
  readonly prefix: string;
  readonly maxResponseBytes: number;
  /** Whether a result's size is asked for before the result. */
  readonly asksForSize: boolean;
  /** Whether a lost result is renewed by sending its request again, which is kept until then. */
  readonly renewsResults: boolean;
  /** Whether results of passes may come as protobuf. */
  readonly acceptsProto: boolean;
  /** Whether every result of a pass has an output for each datum. */
  readonly hasAllOutputs: boolean;
  readonly errors: WireErrors;
  readonly faults: FaultRules;
  /** The key, and what tells attempts of one request from other requests. */
  headers(method: Method, idempotencyKey: string, tries: number): Promise<Record<string, string>>;
}
