/**
 * A policy with one weight: it says "yes" with probability sigmoid(weight), else "no". Learns by
 * momentum, so that a resumed run shows whether the optimizer's state came back too.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BackendCapabilities, TrainingBackend } from "../../src/core/backend.ts";
import { CheckpointError } from "../../src/core/errors.ts";
import {
  lossAggregations,
  lossNames,
  type LossSpec,
  type OptimSpec,
} from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { refuseBeyond } from "../../src/core/loss/update-limits.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { createRandom } from "../../src/util/random.ts";

export const allCapabilities: BackendCapabilities = {
  losses: lossNames,
  aggregations: lossAggregations,
  fullFineTune: true,
  lora: true,
  exactResume: true,
  forward: false,
  measures: ["grad_norm", "kl_k3", "ratio_mean"],
  servesWhileTraining: true,
  optimizer: ["learningRate", "beta1", "beta2", "eps", "weightDecay", "maxGradNorm"],
};

export interface CoinOptions {
  readonly capabilities?: Partial<BackendCapabilities>;
  /** Called before each update; may throw. */
  readonly onUpdate?: (update: CoinUpdate) => void;
  /** @default 0 */
  readonly weight?: number;
  /** Makes `forward` available, and is called before each. */
  readonly onForward?: (rows: readonly TrainingRow[], which: "current" | "reference") => void;
  /** How long saving takes at least. @default 0 */
  readonly saveMs?: number;
  readonly metrics?: () => Record<string, number>;
  /** Further metrics of each update. */
  readonly report?: () => Record<string, number>;
  /** Measures before it steps, and leaves everything as it was beyond the limits, as `local` does. */
  readonly refuses?: boolean;
}

export interface CoinUpdate {
  readonly rows: readonly TrainingRow[];
  readonly loss: LossSpec;
  readonly optim: OptimSpec;
}

export interface CoinBackend extends TrainingBackend {
  readonly weight: number;
  readonly updates: readonly CoinUpdate[];
  readonly isDisposed: boolean;
}

const yes = "y".charCodeAt(0);

/** log p of each token of a row: the first sampled one decides, and the rest is certain. */
function logprobsOf({ tokens, targetMask }: TrainingRow, weight: number): Float32Array {
  const at = targetMask.indexOf(1);
  const logit = tokens[at] === yes ? weight : -weight;
  return Float32Array.from(tokens, (_, i) => (i === at ? -Math.log1p(Math.exp(-logit)) : 0));
}

export function coinBackend(options: CoinOptions = {}): CoinBackend {
  let weight = options.weight ?? 0;
  let served = weight;
  let momentum = 0;
  let version = 0;
  let count = 0;
  let isDisposed = false;
  const updates: CoinUpdate[] = [];
  return {
    name: "coin",
    capabilities: { ...allCapabilities, ...options.capabilities },
    get weight() {
      return weight;
    },
    get isDisposed() {
      return isDisposed;
    },
    updates,
    start: async () =>
      createScriptedTarget(
        ({ params }) => (createRandom(params.seed)() < 1 / (1 + Math.exp(-served)) ? "yes" : "no"),
        { weightVersion: () => version },
      ),
    async updatePolicy(rows, loss, optim, _signal, limits) {
      const update = { rows, loss, optim };
      options.onUpdate?.(update);
      const reported = options.report?.() ?? {};
      if (options.refuses === true) refuseBeyond(limits, reported);
      updates.push(update);
      let gradient = 0;
      for (const row of rows) {
        const at = row.targetMask.indexOf(1);
        gradient += (row.advantages[at] ?? 0) * (row.tokens[at] === yes ? 1 : -1);
      }
      momentum = 0.9 * momentum + gradient / rows.length;
      weight += optim.learningRate * momentum;
      count++;
      return { loss: -gradient / rows.length, weight, ...reported };
    },
    ...(options.onForward === undefined
      ? {}
      : {
          async forward(rows: readonly TrainingRow[], which: "current" | "reference") {
            options.onForward?.(rows, which);
            return rows.map((row) => logprobsOf(row, which === "current" ? weight : 0));
          },
        }),
    async publishWeights() {
      served = weight;
      return ++version;
    },
    async saveState(folder) {
      if (options.saveMs !== undefined)
        await new Promise((resolve) => setTimeout(resolve, options.saveMs));
      await writeFile(
        join(folder, "coin.json"),
        JSON.stringify({ weight, momentum, updates: count }),
      );
    },
    async loadState(folder, weightVersion) {
      const state = JSON.parse(await readFile(join(folder, "coin.json"), "utf8")) as {
        weight?: number;
        momentum?: number;
        updates?: number;
      };
      count = state.updates ?? 0;
      if (state.weight === undefined || state.momentum === undefined) {
        throw new CheckpointError({ message: "coin.json holds no coin." });
      }
      ({ weight, momentum } = state as { weight: number; momentum: number });
      served = weight;
      version = weightVersion;
    },
    ...(options.metrics === undefined ? {} : { metrics: async () => options.metrics?.() ?? {} }),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
    },
  };
}
