/**
 * A policy's parameters in memory: the base model, optional LoRA factors, and which of them are
 * trained. Knows names, shapes and files, not graphs.
 */
import type { LoraSpec, Quantization } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { createNormal, createRandom, deriveSeed } from "../../util/random.ts";
import { int8Source } from "../checkpoint/int8-source.ts";
import { decodeToScratch } from "../checkpoint/scratch-weights.ts";
import { openModelSource } from "../checkpoint/open-model-source.ts";
import type { StoredTensor } from "../checkpoint/model-weights.ts";
import { exactIntegerKernel, isFast } from "../probe-integers.ts";
import { fitSource } from "./fit-source.ts";
import type { Int8Matrix } from "./int8-matrix.ts";
import { storeIntegers, type IntegerBase } from "./integer-base.ts";
import type { ModelConfig } from "./model-config.ts";
import { baseParameters, loraParameters, type ParameterSpec } from "./parameters.ts";
import { requirePlainDecoder } from "./plain-decoder.ts";
import type { Tensor } from "../runtime.ts";

export interface PolicyModel {
  readonly config: ModelConfig;
  readonly lora: LoraSpec | null;
  readonly base: readonly ParameterSpec[];
  readonly loraParameters: readonly ParameterSpec[];
  /** Of every parameter, by name. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** What the optimizer changes: the LoRA factors, or the whole base. */
  readonly trained: readonly ParameterSpec[];
  /** Data of every parameter that graphs take as input. */
  readonly data: Map<string, Float32Array>;
  /** Frozen weights that graphs map from disk instead. */
  readonly mapped: ReadonlyMap<string, StoredTensor> | null;
  readonly mappedFolder: string | null;
  /** Of the frozen linear layers. */
  readonly quantization: Quantization;
  /** Their integers; null where products are computed in 32-bit floats. */
  readonly integers: IntegerBase | null;
  /** Files that frozen weights were decoded into; dispose of it last. @default none */
  readonly scratch?: Disposable;
}

export interface PolicyModelOptions {
  readonly lora: LoraSpec | null;
  /** Initial LoRA factors derive from it. */
  readonly seed: number;
  /** Of the frozen linear layers; needs LoRA. @default "none" */
  readonly quantization?: Quantization;
  /**
   * Where a quantized base is multiplied as integers: where that is exact and faster than floats for every number of
   * rows, or wherever it is exact.
   * @default "fast"
   */
  readonly integerProducts?: "fast" | "exact";
}

/**
 * Reads a folder in Hugging Face layout, or a `.gguf` file.
 * @throws ModelError
 * @throws ConfigError when every weight of a quantized base is to be trained
 */
export async function loadPolicyModel(
  path: string,
  options: PolicyModelOptions,
): Promise<PolicyModel> {
  if (options.quantization === "int8") return loadInt8Model(path, options);
  const source = await openModelSource(path);
  const { config, base } = fitSource(source);
  requirePlainDecoder(config, source.path);
  const names = base.map(({ name }) => name);
  // A frozen base is used in place where its bytes are already in the runtime's format.
  const mappable =
    options.lora !== null &&
    source.files !== null &&
    names.every((name) => source.tensors.get(name)?.type === "F32");
  if (mappable) return assemble(config, options, new Map(), source.files, path);
  const scratch = options.lora === null ? null : await decodeToScratch(source, base);
  if (scratch !== null) {
    const policy = assemble(config, options, new Map(), scratch.files, scratch.folder);
    return { ...policy, scratch };
  }
  const data = new Map<string, Float32Array>();
  for await (const [name, values] of source.read(names)) data.set(name, values);
  return assemble(config, options, data, null, null);
}

/** A base whose linear layers are 8-bit integers, for LoRA (as QLoRA, arXiv:2305.14314, with another format). */
async function loadInt8Model(path: string, options: PolicyModelOptions): Promise<PolicyModel> {
  if (options.lora === null) {
    throw new ConfigError({
      message: "model.quantization is int8, but every weight is trained.",
      hint: "Train a LoRA adapter (model.lora_rank), or set model.quantization to none.",
      fields: { option: "model.quantization", value: "int8" },
    });
  }
  const matrices = new Map<string, Int8Matrix>();
  const source = int8Source(await openModelSource(path), (name, matrix) =>
    matrices.set(name, matrix),
  );
  const { config, base } = fitSource(source);
  requirePlainDecoder(config, source.path);
  const scratch = await decodeToScratch(source, base);
  try {
    const data = new Map<string, Float32Array>();
    if (scratch === null)
      for await (const [name, values] of source.read(base.map((spec) => spec.name)))
        data.set(name, values);
    const kernel = await exactIntegerKernel();
    const folder = scratch?.folder ?? null;
    const policy = assemble(config, options, data, scratch?.files ?? null, folder);
    const isUsed = kernel !== null && (options.integerProducts === "exact" || isFast(kernel));
    const integers = isUsed ? await storeIntegers(config, matrices, kernel, folder) : null;
    return { ...policy, integers, ...(scratch === null ? {} : { scratch }) };
  } catch (error) {
    scratch?.[Symbol.dispose]();
    throw error;
  }
}

/** The same base, in the same memory and files, with separate LoRA factors. */
export function withNewAdapter(policy: PolicyModel, options: PolicyModelOptions): PolicyModel {
  const { config, mapped, mappedFolder } = policy;
  const data = new Map<string, Float32Array>();
  for (const { name } of policy.base) {
    const shared = policy.data.get(name);
    if (shared !== undefined) data.set(name, shared);
  }
  const { quantization, integers } = policy;
  return { ...assemble(config, options, data, mapped, mappedFolder), quantization, integers };
}

/** A model with random weights: normal with deviation 0.02, residual outputs scaled down by depth (GPT-2). */
export function randomPolicyModel(config: ModelConfig, options: PolicyModelOptions): PolicyModel {
  const data = new Map<string, Float32Array>();
  for (const { name, shape, decay } of baseParameters(config)) {
    const residual = /(?:o_proj|down_proj)\.weight$/.test(name);
    const deviation = residual ? 0.02 / Math.sqrt(2 * config.layers) : 0.02;
    const normal = createNormal(createRandom(deriveSeed(options.seed, name)));
    const size = shape.reduce((n, dim) => n * dim, 1);
    data.set(
      name,
      decay
        ? Float32Array.from({ length: size }, () => normal() * deviation)
        : new Float32Array(size).fill(name.endsWith(".bias") ? 0 : 1 - config.normOffset),
    );
  }
  return assemble(config, options, data, null, null);
}

function assemble(
  config: ModelConfig,
  options: PolicyModelOptions,
  data: Map<string, Float32Array>,
  mapped: PolicyModel["mapped"],
  folder: string | null,
): PolicyModel {
  const base = baseParameters(config);
  const factors = options.lora === null ? [] : loraParameters(config, options.lora);
  for (const { name, shape } of factors) {
    const [out, input] = shape as [number, number];
    const values = new Float32Array(out * input);
    // PEFT's default: A uniform in +-1/sqrt(in) (Kaiming with a = sqrt(5)), B zero: the update starts at zero.
    if (name.endsWith("lora_A.weight")) {
      const random = createRandom(deriveSeed(options.seed, name));
      const bound = 1 / Math.sqrt(input);
      for (let i = 0; i < values.length; i++) values[i] = (2 * random() - 1) * bound;
    }
    data.set(name, values);
  }
  return {
    config,
    lora: options.lora,
    base,
    loraParameters: factors,
    shapes: new Map([...base, ...factors].map(({ name, shape }) => [name, shape])),
    trained: options.lora === null ? base : factors,
    data,
    mapped,
    mappedFolder: folder,
    quantization: options.quantization ?? "none",
    integers: null,
  };
}

/** The parameters `names` as graph inputs; the tensors share the model's memory. */
export function feedParameters(
  policy: PolicyModel,
  names: readonly string[],
): Record<string, Tensor> {
  const inputs: Record<string, Tensor> = {};
  for (const name of names) {
    inputs[name] = { data: policy.data.get(name)!, shape: policy.shapes.get(name)! };
  }
  return inputs;
}
