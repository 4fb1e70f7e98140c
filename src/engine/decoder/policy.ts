/** A policy on native kernels: a decoder, and its trained parameters as 32-bit floats. */
import type { LoraSpec, Quantization } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { createRandom, deriveSeed } from "../../util/random.ts";
import { openModelSource } from "../checkpoint/open-model-source.ts";
import { fitSource } from "../model/fit-source.ts";
import type { ModelConfig } from "../model/model-config.ts";
import { baseParameters, loraParameters, type ParameterSpec } from "../model/parameters.ts";
import type { Device } from "../tensor/device.ts";
import type { Precision } from "../tensor/matrix.ts";
import { Program } from "../tensor/program.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import {
  rowsOfSource,
  rowsOfValues,
  tableWriter,
  type NamedValues,
  type WeightRows,
} from "./weight-rows.ts";
import { createDecoder, type DecoderWeights, type FrozenParts } from "./weights.ts";

export interface Policy {
  readonly device: Device;
  readonly config: ModelConfig;
  readonly lora: LoraSpec | null;
  readonly precision: Precision;
  /** Of the frozen linear layers. */
  readonly quantization: Quantization;
  readonly base: readonly ParameterSpec[];
  readonly loraParameters: readonly ParameterSpec[];
  /** What the optimizer changes: the LoRA factors, or the whole base. */
  readonly trained: readonly ParameterSpec[];
  /** [rows, columns] of every trained parameter; vectors are rows. */
  readonly parameters: ReadonlyMap<string, Tensor>;
  /** The same memory, by name. */
  readonly data: ReadonlyMap<string, Float32Array>;
  /** What is trained is in it as of the latest `write`. */
  readonly weights: DecoderWeights & { readonly parts: FrozenParts };
}

export interface PolicyOptions {
  readonly device: Device;
  /** @default "f32" */
  readonly precision?: Precision;
  /** Null trains every weight, unless the model is frozen. */
  readonly lora: LoraSpec | null;
  /** Nothing is trained, and other adapters may share the weights. @default false */
  readonly isFrozen?: boolean;
  /** Initial LoRA factors derive from it. */
  readonly seed: number;
  /** Of the linear layers, which are not trained then. @default "none" */
  readonly quantization?: Quantization;
}

/**
 * Reads a folder in Hugging Face layout, or a `.gguf` file.
 * @throws ModelError
 * @throws ConfigError when every weight of a quantized base is to be trained
 */
export async function loadPolicy(path: string, options: PolicyOptions): Promise<Policy> {
  const source = await openModelSource(path);
  const { config, base } = fitSource(source);
  const names = base.map(({ name }) => name);
  // Weights that are bf16 on the disk lose nothing where they stay so.
  const isNarrow = names.every((name) => source.tensors.get(name)!.type === "BF16");
  const isBaseTrained = options.lora === null && options.isFrozen !== true;
  const format = isNarrow && !isBaseTrained ? "bf16" : undefined;
  const rows = rowsOfSource(options.device, source, names);
  return policyOf(config, rows, { ...options, ...(format && { format }) });
}

/**
 * @param values of every parameter of the base
 * @throws ConfigError when every weight of a quantized base is to be trained
 */
export function createPolicy(
  config: ModelConfig,
  values: NamedValues,
  options: PolicyOptions,
): Promise<Policy> {
  const shapes = new Map(baseParameters(config).map(({ name, shape }) => [name, shape]));
  return policyOf(config, rowsOfValues(options.device, values, shapes), options);
}

async function policyOf(
  config: ModelConfig,
  pieces: AsyncIterable<WeightRows>,
  options: PolicyOptions & { readonly format?: "f32" | "bf16" },
): Promise<Policy> {
  const { device, lora, isFrozen = false, seed, format } = options;
  const { precision = "f32", quantization = "none" } = options;
  const base = baseParameters(config);
  const factors = lora === null ? [] : loraParameters(config, lora);
  const trained = lora !== null ? factors : isFrozen ? [] : base;
  if (trained === base && quantization === "int8")
    throw new ConfigError({
      message: "model.quantization is int8, but every weight is trained.",
      hint: "Train a LoRA adapter (model.lora_rank), or set model.quantization to none.",
      fields: { option: "model.quantization", value: "int8" },
    });
  const kept = { quantization, ...(format && { format }) };
  const weights = createDecoder({ device, config, precision, lora, ...kept });
  const parameters = tensorsFor(device, trained);
  const program = new Program(device);
  let written = Promise.resolve();
  for await (const { name, first, rows } of pieces) {
    const own = parameters.get(name);
    if (own !== undefined) tableWriter(own)(program, rows, first);
    weights.write(program, name, rows, first);
    // While this is packed, the next rows are read; where the ones before were, there is room for them.
    await written;
    written = program.run();
  }
  await written;
  const data = dataOf(parameters);
  for (const [name, values] of initialFactors(factors, seed)) data.get(name)!.set(values);
  const shape = { device, config, lora, precision, quantization, base, loraParameters: factors };
  const policy = { ...shape, trained, parameters, data, weights };
  await writeTrained(policy, weights);
  return policy;
}

/** The same base with another adapter, all zero until it is written. */
export function withNewAdapter(policy: Policy, lora: LoraSpec): Policy {
  const { device, config } = policy;
  const factors = loraParameters(config, lora);
  const parameters = tensorsFor(device, factors);
  return {
    ...policy,
    lora,
    loraParameters: factors,
    trained: factors,
    parameters,
    data: dataOf(parameters),
    weights: sharedDecoder(policy, lora),
  };
}

/** What is trained, as it is now, into a decoder of this policy or another one that shares its base. */
export async function writeTrained(
  { device, parameters }: Policy,
  weights: DecoderWeights,
): Promise<void> {
  const program = new Program(device);
  for (const [name, tensor] of parameters) weights.write(program, name, tensor);
  await program.run();
}

/** A decoder with the same base: to be served, or, without its adapter, as the reference. */
export function sharedDecoder(policy: Policy, lora: LoraSpec | null): Policy["weights"] {
  const { device, config, precision, quantization, weights } = policy;
  return createDecoder({
    device,
    config,
    precision,
    lora,
    quantization,
    // Every weight of a model without an adapter changes.
    ...(policy.trained === policy.base ? {} : { shared: weights.parts }),
  });
}

function tensorsFor(device: Device, specs: readonly ParameterSpec[]): Map<string, Tensor> {
  return new Map(specs.map(({ name, shape }) => [name, tensorFor(device, shape)]));
}

function dataOf(parameters: ReadonlyMap<string, Tensor>): Map<string, Float32Array> {
  return new Map(Array.from(parameters, ([name, tensor]) => [name, tensor.data]));
}

function tensorFor(device: Device, shape: readonly number[]): Tensor {
  const [rows, columns] = shape.length === 1 ? [1, shape[0]!] : (shape as [number, number]);
  return newTensor(device, rows, columns);
}

/** PEFT's default: A uniform in +-1/sqrt(in) (Kaiming with a = sqrt(5)), B zero: the update starts at zero. */
export function* initialFactors(
  factors: readonly ParameterSpec[],
  seed: number,
): Iterable<readonly [string, Float32Array]> {
  for (const { name, shape } of factors) {
    const [outputs, inputs] = shape as readonly [number, number];
    const values = new Float32Array(outputs * inputs);
    if (name.endsWith("lora_A.weight")) {
      const random = createRandom(deriveSeed(seed, name));
      const bound = 1 / Math.sqrt(inputs);
      for (let i = 0; i < values.length; i++) values[i] = (2 * random() - 1) * bound;
    }
    yield [name, values];
  }
}
