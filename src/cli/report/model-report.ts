/** Describes a model before training, from its headers and its tokenizer; reads no weights. */
import { loadModelRenderer, loadTokenizerFiles } from "../../backends/local/load-model.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { ModelSource } from "../../engine/checkpoint/model-source.ts";
import { fitSource } from "../../engine/model/fit-source.ts";
import { cacheBytesPerToken, type ModelConfig } from "../../engine/model/model-config.ts";
import { loraParameters } from "../../engine/model/parameters.ts";
import { defaultTrainingMemoryMiB } from "../../engine/policy-engine.ts";
import type { OpenedModel } from "../load/open-model.ts";

export interface ModelReport {
  readonly path: string;
  readonly adapter: string | null;
  readonly format: ModelSource["format"];
  readonly architecture: string;
  readonly parameters: number;
  readonly bytesOnDisk: number;
  /** Number of tensors of each type. */
  readonly types: Readonly<Record<string, number>>;
  /** Null when the architecture is not supported. */
  readonly shape: Omit<ModelConfig, "layerKinds"> | null;
  readonly tokenizer: { readonly kind: string; readonly tokens: number } | null;
  /** The renderer for the chat template; null when there is none. */
  readonly renderer: string | null;
  readonly memory: MemoryEstimate | null;
  /** Why the local backend cannot use it; empty when it can. */
  readonly problems: readonly string[];
}

/** MiB, with `local.precision` f32; bf16 takes less. */
interface MemoryEstimate {
  readonly sampling: number;
  /** LoRA of rank 8. */
  readonly lora: number;
  readonly full: number;
  /** Keys and values of a thousand tokens. */
  readonly cachePerThousandTokens: number;
}

const bytesPerFloat = 4;
const mib = (floats: number): number => Math.ceil((floats * bytesPerFloat) / 2 ** 20);

/** @param isNarrow weights are all bf16 on disk, and stay so where they are frozen */
function estimateMemory(
  config: ModelConfig,
  parameters: number,
  isNarrow: boolean,
): MemoryEstimate {
  const frozen = isNarrow ? parameters / 2 : parameters;
  const adapter = loraParameters(config, { rank: 8, alpha: 8 });
  const factors = adapter.reduce((sum, { shape: [out, input] }) => sum + out! * input!, 0);
  return {
    sampling: mib(frozen),
    // The base and its transpose; factors with gradient and two moments, and packed in both layouts, twice.
    lora: mib(2 * frozen + 8 * factors) + defaultTrainingMemoryMiB,
    // Weights with gradient and two moments; packed, transposed, and the served copy.
    full: mib(7 * parameters) + defaultTrainingMemoryMiB,
    cachePerThousandTokens: Math.ceil((1000 * cacheBytesPerToken(config)) / 2 ** 20),
  };
}

/** The result of `work`, or null after adding its error to `problems`. */
async function attempt<T>(problems: string[], work: () => T | Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!AgentTrainerError.isInstance(error)) throw error;
    problems.push(error.message);
    return null;
  }
}

export async function reportModel({
  source,
  basePath,
  adapter,
}: OpenedModel): Promise<ModelReport> {
  const problems: string[] = [];
  const tensors = [...source.tensors.values()];
  const sizes = tensors.map(({ shape }) => shape.reduce((product, dim) => product * dim, 1));
  const parameters = sizes.reduce((sum, size) => sum + size, 0);
  const types: Record<string, number> = {};
  for (const { type } of tensors) types[type] = (types[type] ?? 0) + 1;
  const fitted = await attempt(problems, () => fitSource(source));
  const files = await attempt(problems, () => loadTokenizerFiles(basePath));
  const renderer =
    files === null ? null : await attempt(problems, () => loadModelRenderer(basePath));
  const named: unknown = source.config["architectures"];
  const architecture = Array.isArray(named) ? String(named[0] ?? "unknown") : "unknown";
  const { layerKinds: _, ...shape } = fitted?.config ?? { layerKinds: [] };
  return {
    path: basePath,
    adapter,
    format: source.format,
    architecture,
    parameters,
    bytesOnDisk: tensors.reduce((sum, { length }) => sum + length, 0),
    types,
    shape: fitted === null ? null : (shape as NonNullable<ModelReport["shape"]>),
    tokenizer: files === null ? null : describeTokenizer(files.tokenizer),
    renderer: renderer?.family ?? null,
    memory:
      fitted === null
        ? null
        : estimateMemory(
            fitted.config,
            parameters,
            tensors.every(({ type }) => type === "BF16"),
          ),
    problems,
  };
}

function describeTokenizer(file: Readonly<Record<string, unknown>>): ModelReport["tokenizer"] {
  const { model, added_tokens: added = [] } = file as {
    model?: { type?: string; vocab?: Readonly<Record<string, number>> | readonly unknown[] };
    added_tokens?: readonly { content: string }[];
  };
  const vocab = model?.vocab ?? {};
  const words = Array.isArray(vocab) ? vocab.length : Object.keys(vocab).length;
  const extra =
    Array.isArray(vocab) || !Array.isArray(added)
      ? 0
      : added.filter(({ content }) => !(content in vocab)).length;
  return { kind: model?.type ?? "unknown", tokens: words + extra };
}
