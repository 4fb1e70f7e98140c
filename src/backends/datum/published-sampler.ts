/** The policy as a `Sampler`: requests use the weights that are published when they are dispatched. */
import { backendsThat } from "../../core/capabilities.ts";
import { ContextOverflowError, UnsupportedOptionError } from "../../core/errors.ts";
import type { Sample, SampleRequest, Sampler } from "../../core/policy.ts";

/** Weights that can be sampled from. */
export interface Published<Client> {
  readonly client: Client;
  readonly version: number;
}

export type SampledSequence = Omit<Sample, "weightVersion">;

/** Tokens since the start, as billed. */
export interface Usage {
  sampled: number;
  prompt: number;
}

export interface SampleSource<Client> {
  /** Name of the backend, for messages. */
  readonly backend: string;
  readonly contextLength: number;
  /** What a request that is dispatched now samples from. */
  published(request: SampleRequest): Published<Client> | Promise<Published<Client>>;
  /** `n` sequences, each as soon as it is there, counted in `usage`. */
  sample(
    client: Client,
    request: SampleRequest,
    usage: Usage,
  ): Promise<readonly Promise<SampledSequence>[]>;
}

export class PublishedSampler<Client> implements Sampler {
  readonly #source: SampleSource<Client>;
  readonly usage: Usage = { sampled: 0, prompt: 0 };
  /** Requests in flight. */
  inFlight = 0;

  constructor(source: SampleSource<Client>) {
    this.#source = source;
  }

  get contextLength(): number {
    return this.#source.contextLength;
  }

  async sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { backend, contextLength } = this.#source;
    const { tokens: prompt, params } = request;
    if (prompt.length >= contextLength)
      throw new ContextOverflowError(prompt.length, contextLength);
    if (params.minP !== 0)
      throw new UnsupportedOptionError(
        "min_p",
        params.minP,
        backend,
        backendsThat(({ minP = true }) => minP),
      );
    const maxTokens = Math.min(params.maxTokens, contextLength - prompt.length);
    this.inFlight += 1;
    try {
      return await this.#sample({ ...request, params: { ...params, maxTokens } });
    } finally {
      this.inFlight -= 1;
    }
  }

  async #sample(request: SampleRequest): Promise<readonly Sample[]> {
    const { n = 1, onChunk, signal } = request;
    const { client, version } = await this.#source.published(request);
    const work = this.#source.sample(client, request, this.usage);
    const sequences = await unlessAborted(work, signal);
    if (sequences === null) return Array.from({ length: n }, () => aborted(version));
    return Promise.all(
      sequences.map(async (pending, index) => {
        const sample = await unlessAborted(pending, signal);
        if (sample === null) return aborted(version);
        const { tokens, logprobs } = sample;
        onChunk?.({ index, tokens, logprobs });
        return { ...sample, weightVersion: version };
      }),
    );
  }
}

/** null where the work failed after an abort. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (signal?.aborted === true) return null;
    throw error;
  });
}

function aborted(weightVersion: number): Sample {
  return {
    tokens: new Int32Array(0),
    logprobs: new Float32Array(0),
    stopReason: "aborted",
    weightVersion,
  };
}
