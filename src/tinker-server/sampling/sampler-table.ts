/**
 * Samplers by id. Only those used last keep their weights in memory, since each costs an adapter and a
 * training loop makes one per step.
 */
import type { AdapterWeights } from "../model/adapter.ts";

interface KnownRequest {
  readonly fingerprint: string;
  readonly future: string;
}

export interface SamplerSession {
  readonly id: string;
  readonly modelPath: string | null;
  /** null: those of the base model, or dropped and to be read from the checkpoint again. */
  weights: Promise<AdapterWeights> | null;
  /** Futures by sequence number: the same number is the same request. */
  readonly known: Map<string, KnownRequest>;
  /** Clients that use it, the first included; each has its own numbers. */
  clients: number;
  /** What is being sampled; ended together with it. */
  readonly running: Set<AbortController>;
}

/** A retry comes within minutes; what is older is not requested again. */
const knownRequests = 4096;

export function remember({ known }: SamplerSession, key: string, request: KnownRequest): void {
  known.set(key, request);
  const [oldest] = known.keys();
  if (known.size > knownRequests && oldest !== undefined) known.delete(oldest);
}

export class SamplerTable {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #samplers = new Map<string, SamplerSession>();

  /** @param limit samplers that keep weights. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(sampler: SamplerSession): void {
    this.#samplers.set(sampler.id, sampler);
    this.#drop();
  }

  get(id: string): SamplerSession | undefined {
    const sampler = this.#samplers.get(id);
    if (sampler !== undefined) {
      this.#samplers.delete(id);
      this.#samplers.set(id, sampler);
    }
    return sampler;
  }

  delete(id: string): void {
    for (const one of this.#samplers.get(id)?.running ?? []) one.abort();
    this.#samplers.delete(id);
  }

  /** Weights of a checkpoint are read again; weights without one are gone with their sampler. */
  #drop(): void {
    const holders = [...this.#samplers.values()].filter(({ weights }) => weights !== null);
    for (const sampler of holders.slice(0, Math.max(0, holders.length - this.#limit))) {
      if (sampler.modelPath === null) this.#samplers.delete(sampler.id);
      else sampler.weights = null;
    }
  }
}
