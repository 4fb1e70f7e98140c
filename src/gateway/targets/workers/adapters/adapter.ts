/** How tokens after token ids are requested from one kind of server. */
import type { SamplingParams } from "../../../../core/policy.ts";
import type { ResponseChunk } from "./response-part.ts";

export interface TokenRequest {
  readonly tokens: Int32Array;
  readonly params: SamplingParams;
  readonly n: number;
  /** As the server names it. */
  readonly model: string;
  readonly stream: boolean;
}

export interface TokenAdapter {
  /** From the server's root; `/v1` is replaced by the path of its OpenAI routes. */
  readonly path: string;
  /** Whether one request can sample several sequences. */
  readonly supportsN: boolean;
  /** Whether its streams report every id; otherwise whole responses are requested. */
  readonly streams: boolean;
  body(request: TokenRequest): object;
  /** One response or event. */
  read(json: unknown, n: number): ResponseChunk;
}
