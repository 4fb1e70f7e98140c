/**
 * A decoder's weights in the layout that kernels compute with. What is frozen is shared between copies; what is trained
 * is written into each copy when it is to be used there.
 */
import type { LoraSpec, Quantization } from "../../core/backend.ts";
import type { ModelConfig } from "../model/model-config.ts";
import {
  baseParameters,
  biasName,
  embeddingName,
  finalNormName,
  headName,
  isAdapted,
  layerName,
  loraNames,
  projections,
} from "../model/parameters.ts";
import type { RopeTable } from "../model/rope.ts";
import type { Device } from "../tensor/device.ts";
import type { Precision } from "../tensor/matrix.ts";
import type { EmbeddingTable } from "../tensor/operations/embed.ts";
import type { Program } from "../tensor/program.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import { BaseMatrix, Linear, type LinearPart, type LinearShape } from "./linear.ts";
import { rotaryTables, type RotaryTables } from "./rotary-tables.ts";
import { tableWriter, vectorWriter, type Rows, type RowWriter } from "./weight-rows.ts";

export interface LayerWeights {
  readonly beforeAttention: Tensor | null;
  readonly queryKeyValue: Linear;
  readonly queryNorm: Tensor | null;
  readonly keyNorm: Tensor | null;
  /** Null where positions are not encoded. */
  readonly rotary: RotaryTables | null;
  readonly window: number | null;
  readonly output: Linear;
  readonly afterAttention: Tensor | null;
  readonly beforeFeedForward: Tensor | null;
  readonly gateUp: Linear;
  readonly down: Linear;
  readonly afterFeedForward: Tensor | null;
}

export interface DecoderWeights {
  readonly device: Device;
  readonly config: ModelConfig;
  readonly precision: Precision;
  readonly embedding: EmbeddingTable;
  readonly layers: readonly LayerWeights[];
  readonly finalNorm: Tensor;
  readonly head: Linear;
  /** Takes over rows of a parameter, from row `first` on. */
  write(program: Program, name: string, rows: Rows, first?: number): void;
}

/** What a copy has in common with others: the frozen base. */
export interface FrozenParts {
  readonly matrices: Map<string, BaseMatrix>;
  readonly vectors: Map<string, Tensor>;
  readonly rotary: Map<RopeTable, RotaryTables>;
}

export interface DecoderOptions {
  readonly device: Device;
  readonly config: ModelConfig;
  readonly precision: Precision;
  readonly lora: LoraSpec | null;
  /** How matrices are kept that are not quantized. @default "f32", or "bf16" where products are of bf16 */
  readonly format?: "f32" | "bf16";
  /** Of linear layers. @default "none" */
  readonly quantization?: Quantization;
  /** Parts of another copy that this one shares: the base of an adapter. @default none */
  readonly shared?: FrozenParts;
}

/** All zero, until `write`. */
export function createDecoder(
  options: DecoderOptions,
): DecoderWeights & { readonly parts: FrozenParts } {
  const { device, config, precision, lora, quantization = "none", shared } = options;
  const format = options.format ?? (precision === "bf16" ? "bf16" : "f32");
  const parts: FrozenParts = shared ?? {
    matrices: new Map(),
    vectors: new Map(),
    rotary: new Map(),
  };
  const shapes = new Map(baseParameters(config).map(({ name, shape }) => [name, shape]));
  const remember = <T>(map: Map<string, T>, name: string, make: () => T): T => {
    const found = map.get(name) ?? make();
    map.set(name, found);
    return found;
  };
  const vector = (name: string): Tensor =>
    remember(parts.vectors, name, () => newTensor(device, 1, shapes.get(name)![0]!));
  const writers = new Map<string, RowWriter>();
  const linear = (names: readonly string[]): Linear => {
    const inputs = shapes.get(names[0]!)![1]!;
    const own = names.map((name): LinearPart => {
      const bias = biasName(name);
      const factors = lora !== null && isAdapted(name, lora) ? loraNames(name) : null;
      return {
        name,
        outputs: shapes.get(name)![0]!,
        bias: shapes.has(bias) ? bias : null,
        factors,
      };
    });
    const outputs = own.reduce((sum, part) => sum + part.outputs, 0);
    const key = names.join();
    const isQuantized = quantization === "int8" && names.every((name) => isAdapted(name));
    const base = remember(
      parts.matrices,
      key,
      () => new BaseMatrix(device, inputs, outputs, isQuantized ? "i8" : format),
    );
    const biased = own.some(({ bias }) => bias !== null);
    const bias = biased
      ? remember(parts.vectors, `bias of ${key}`, () => newTensor(device, 1, outputs))
      : null;
    const adapter = lora === null ? null : { rank: lora.rank, scale: lora.alpha / lora.rank };
    const shape: LinearShape = { inputs, parts: own, adapter };
    const made = new Linear(device, shape, precision, base, bias);
    for (const [name, writer] of made.writers) writers.set(name, writer);
    return made;
  };
  const norm = (name: string | null): Tensor | null => {
    if (name === null || !shapes.has(name)) return null;
    const own = vector(name);
    writers.set(name, vectorWriter(own));
    return own;
  };
  const rotary = rotaryTables(device, config, parts.rotary);
  const layers = config.layerKinds.map((kind, layer): LayerWeights => {
    const named = (part: string): string => layerName(layer, part);
    const inLayer = (part: string | null): Tensor | null =>
      norm(part === null ? null : named(part));
    const { queryKeyValue, gateUp } = projections(config, layer);
    return {
      beforeAttention: inLayer(config.norms.beforeAttention),
      queryKeyValue: linear(queryKeyValue.map(({ name }) => name)),
      queryNorm: inLayer("self_attn.q_norm"),
      keyNorm: inLayer("self_attn.k_norm"),
      rotary: rotary(kind.rope),
      window: kind.window,
      output: linear([named("self_attn.o_proj")]),
      afterAttention: inLayer(config.norms.afterAttention),
      beforeFeedForward: inLayer(config.norms.beforeFeedForward),
      gateUp: linear(gateUp.map(({ name }) => name)),
      down: linear([named("mlp.down_proj")]),
      afterFeedForward: inLayer(config.norms.afterFeedForward),
    };
  });
  const finalNorm = norm(finalNormName)!;
  const head = linear([config.tiedEmbeddings ? embeddingName : headName]);
  const headMatrix = parts.matrices.get(head.shape.parts[0]!.name)!;
  const [vocabulary, width] = shapes.get(embeddingName) as readonly [number, number];
  const table = config.tiedEmbeddings
    ? null
    : remember(parts.vectors, embeddingName, () => newTensor(device, vocabulary, width));
  if (table !== null) writers.set(embeddingName, tableWriter(table));
  return {
    device,
    config,
    precision,
    embedding: table ?? headMatrix.forward,
    layers,
    finalNorm,
    head,
    parts,
    write(program, name, rows, first = 0) {
      const writer = writers.get(name);
      if (writer === undefined) throw new RangeError(`The decoder has no parameter "${name}".`);
      writer(program, rows, first);
    },
  };
}
