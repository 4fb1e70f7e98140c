/** Computes the prefix-tree nodes of prompts, many prompts per run, block by block. */
import type { ModelConfig } from "../model/model-config.ts";
import { maskedScore } from "../model/attention.ts";
import { blockKey, blockTokens, cutIntoBlocks, pathTo } from "./prefix-tree.ts";
import type { PrefixNode, PrefixTree } from "./prefix-tree.ts";
import type { LayeredCache, SamplingSession, StepOutput } from "./sampling-session.ts";

/** Blocks in one run: enough rows to keep a processor busy, few enough to stay in its cache. */
const maxBlocksPerRun = 32;
/** Cache lengths are multiples of it, so that few shapes occur. */
const cacheGranularity = 64;

interface Job {
  readonly parent: PrefixNode | null;
  readonly tokens: Int32Array;
  readonly key: string;
}

/** The last node of each prompt, in order; equal prompts share one. Prompts are not empty. */
export async function prefill(
  prompts: readonly Int32Array[],
  tree: PrefixTree,
  session: SamplingSession,
  config: ModelConfig,
): Promise<readonly PrefixNode[]> {
  const cursors = prompts.map((prompt) => ({
    blocks: cutIntoBlocks(prompt),
    node: null as PrefixNode | null,
    next: 0,
  }));
  for (let depth = 0; cursors.some(({ next, blocks }) => next < blocks.length); depth++) {
    const active = cursors.filter(({ next, blocks }) => next === depth && next < blocks.length);
    const jobs = new Map<PrefixNode | null, Map<string, Job>>();
    for (const { node, blocks } of active) {
      const tokens = blocks[depth]!;
      const key = blockKey(tokens);
      if (tree.find(node, key) !== undefined) continue;
      const siblings = jobs.get(node) ?? new Map<string, Job>();
      jobs.set(node, siblings.set(key, { parent: node, tokens, key }));
    }
    const computed = new Map<PrefixNode | null, Map<string, PrefixNode>>();
    const list = [...jobs.values()].flatMap((siblings) => [...siblings.values()]);
    for (let start = 0; start < list.length; start += maxBlocksPerRun) {
      for (const node of await compute(
        list.slice(start, start + maxBlocksPerRun),
        depth,
        tree,
        session,
        config,
      )) {
        const siblings = computed.get(node.parent) ?? new Map<string, PrefixNode>();
        computed.set(node.parent, siblings.set(blockKey(node.tokens), node));
      }
    }
    for (const cursor of active) {
      const key = blockKey(cursor.blocks[depth]!);
      cursor.node = computed.get(cursor.node)?.get(key) ?? tree.find(cursor.node, key)!;
      cursor.next += 1;
    }
  }
  tree.trim();
  return cursors.map(({ node }) => node!);
}

async function compute(
  jobs: readonly Job[],
  depth: number,
  tree: PrefixTree,
  session: SamplingSession,
  config: ModelConfig,
): Promise<readonly PrefixNode[]> {
  const past = depth * blockTokens;
  const cachedTokens = Math.max(1, Math.ceil(past / cacheGranularity)) * cacheGranularity;
  // A single job runs beside an empty twin: one-row batches would compute differently.
  const sequences = Math.max(2, jobs.length);
  const ids = new BigInt64Array(sequences * blockTokens);
  const positions = new BigInt64Array(sequences * blockTokens);
  const rows = new BigInt64Array(sequences);
  for (let b = 0; b < sequences; b++) {
    const tokens = jobs[b]?.tokens;
    for (let s = 0; s < blockTokens; s++) {
      ids[b * blockTokens + s] = BigInt(tokens?.[s] ?? 0);
      // Padding behind a short last block keeps a legal position; causality hides it.
      positions[b * blockTokens + s] = BigInt(Math.min(past + s, config.contextLength - 1));
    }
    rows[b] = BigInt(b * blockTokens + (tokens?.length ?? 1) - 1);
  }
  const output = await session.step({
    sequences,
    newTokens: blockTokens,
    cachedTokens,
    ids,
    positions,
    mask: blockMask(sequences, past, cachedTokens),
    rows,
    cache: gatherCache(jobs, sequences, cachedTokens, config),
  });
  return jobs.map((job, b) =>
    tree.insert({
      parent: job.parent,
      tokens: job.tokens.slice(),
      keys: output.keys.map((layer) => ownTokens(layer, b, job.tokens.length, config)),
      values: output.values.map((layer) => ownTokens(layer, b, job.tokens.length, config)),
      probabilities: rowOf(output, b, config),
    }),
  );
}

/** A copy of row `r` of the probabilities: a view would keep the whole batch alive. */
function rowOf(output: StepOutput, r: number, config: ModelConfig): Float32Array {
  return output.probabilities.slice(r * config.vocabSize, (r + 1) * config.vocabSize);
}

/** [B, S, T + S] */
function blockMask(sequences: number, past: number, cachedTokens: number): Float32Array {
  const width = cachedTokens + blockTokens;
  const one = new Float32Array(blockTokens * width);
  for (let s = 0; s < blockTokens; s++) {
    one.fill(maskedScore, s * width + past, s * width + cachedTokens);
    one.fill(maskedScore, s * width + cachedTokens + s + 1, (s + 1) * width);
  }
  const mask = new Float32Array(sequences * one.length);
  for (let b = 0; b < sequences; b++) mask.set(one, b * one.length);
  return mask;
}

/** [B, K, S, D] -> [K, length, D] of one sequence. */
function ownTokens(
  layer: Float32Array,
  b: number,
  length: number,
  config: ModelConfig,
): Float32Array {
  const { kvHeads, headSize } = config;
  const own = new Float32Array(kvHeads * length * headSize);
  for (let k = 0; k < kvHeads; k++) {
    const start = (b * kvHeads + k) * blockTokens * headSize;
    own.set(layer.subarray(start, start + length * headSize), k * length * headSize);
  }
  return own;
}

function gatherCache(
  jobs: readonly Job[],
  sequences: number,
  cachedTokens: number,
  config: ModelConfig,
): LayeredCache {
  const size = sequences * config.kvHeads * cachedTokens * config.headSize;
  const empty = (): Float32Array[] =>
    Array.from({ length: config.layers }, () => new Float32Array(size));
  const cache = { keys: empty(), values: empty() };
  for (const [b, { parent }] of jobs.entries()) writePath(parent, cache, b, cachedTokens, config);
  return cache;
}

/** Copies the keys and values of `node` and its ancestors into slot `b` of a cache [B, K, T, D]. */
export function writePath(
  node: PrefixNode | null,
  cache: LayeredCache,
  b: number,
  cachedTokens: number,
  config: ModelConfig,
): void {
  const { kvHeads, headSize } = config;
  for (const block of pathTo(node)) {
    const width = block.tokens.length * headSize;
    for (let layer = 0; layer < config.layers; layer++) {
      for (let k = 0; k < kvHeads; k++) {
        const target = ((b * kvHeads + k) * cachedTokens + block.depth * blockTokens) * headSize;
        cache.keys[layer]!.set(block.keys[layer]!.subarray(k * width, (k + 1) * width), target);
        cache.values[layer]!.set(block.values[layer]!.subarray(k * width, (k + 1) * width), target);
      }
    }
  }
}
