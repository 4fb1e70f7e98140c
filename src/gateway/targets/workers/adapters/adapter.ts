/** How one kind of server is asked for tokens after token ids. */
import type { SamplingParams } from "../../../../core/policy.ts";
import type { ResponseChunk } from "../response-part.ts";

export interface TokenRequest {
  readonly tokens: Int32Array;
  readonly params: SamplingParams;
  readonly n: number;
  /** As the server names it. */
  readonly model: string;
  readonly stream: boolean;
}

export interface TokenAdapter {
  /** From the server's root; `/v1` stands for its OpenAI routes. */
  readonly path: string;
  /** Whether one request can sample several sequences. */
  readonly supportsN: boolean;
  /** Whether its streams tell every id; otherwise answers are asked for as a whole. */
  readonly streams: boolean;
  body(request: TokenRequest): object;
  /** One answer or event. */
  read(json: unknown, n: number): ResponseChunk;
}
