/**
 * A LoRA adapter in PEFT's format: its settings, its factors, and the model that results from applying it
 * to a base.
 * https://huggingface.co/docs/peft/developer_guides/checkpoint
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Quantization } from "../../core/backend.ts";
import { ModelError } from "../../core/errors.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { int8Source } from "./int8-source.ts";
import { readScaling } from "./lora-settings.ts";
import type { ModelSource } from "./model-source.ts";
import { readQuantization } from "./quantization-file.ts";
import { readSafetensors, type NamedTensor } from "./safetensors.ts";

const configName = "adapter_config.json";
const weightsName = "adapter_model.safetensors";

interface Factors {
  /** [rank, in] */
  readonly a: NamedTensor;
  /** [out, rank] */
  readonly b: NamedTensor;
  readonly scale: number;
}

export interface LoraAdapter {
  readonly folder: string;
  /** `base_model_name_or_path`; null where the adapter does not say. */
  readonly baseModel: string | null;
  /** `revision`: which version of a base on a hub; null where the adapter does not say. */
  readonly baseRevision: string | null;
  /** Of the base that it was trained on. */
  readonly quantization: Quantization;
  /** By the name of the weight that they update. */
  readonly factors: ReadonlyMap<string, Factors>;
}

export function isAdapterFolder(folder: string): boolean {
  return existsSync(join(folder, configName));
}

/** Folders of the adapters of roles, which are in that of the model's own. */
export async function adaptersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && isAdapterFolder(join(folder, entry.name)))
    .map(({ name }) => name)
    .toSorted();
}

/** @throws ModelError naming what is missing or not supported. */
export async function readLoraAdapter(folder: string): Promise<LoraAdapter> {
  const file = join(folder, configName);
  const refuse = (what: string, cause?: unknown): never => {
    throw new ModelError({ message: `${file}: ${what}.`, cause, fields: { file } });
  };
  const config = await readJsonFile(file).catch((cause: Error) => refuse(cause.message, cause));
  const scaling = readScaling(config, file);
  const tensors = await readSafetensors(join(folder, weightsName)).catch((cause: unknown) => {
    if (ModelError.isInstance(cause)) throw cause;
    return refuse(`${weightsName} cannot be read`, cause);
  });
  const factors = new Map<string, Factors>();
  for (const [name, a] of tensors) {
    const module = /^base_model\.model\.(.+)\.lora_A\.weight$/u.exec(name)?.[1];
    if (module === undefined) {
      if (!name.endsWith(".lora_B.weight"))
        refuse(`${weightsName} has the tensor "${name}", which no LoRA of linear layers has`);
      continue;
    }
    const b = tensors.get(name.replace("lora_A", "lora_B"));
    const rank = a.shape[0]!;
    if (b === undefined || b.shape[1] !== rank)
      return refuse(`${weightsName} has no factor B of rank ${rank} for "${module}"`);
    factors.set(`${module}.weight`, { a, b, scale: scaling(module, rank) });
  }
  const text = (key: string): string | null => {
    const value = config[key];
    return typeof value === "string" && value !== "" ? value : null;
  };
  return {
    folder,
    baseModel: text("base_model_name_or_path"),
    baseRevision: text("revision"),
    quantization: await readQuantization(folder),
    factors,
  };
}

/** @throws ModelError when the adapter changes what `base` does not have. */
export function checkFit(base: ModelSource, adapter: LoraAdapter): void {
  for (const [name, { a, b }] of adapter.factors) {
    const shape = base.tensors.get(name)?.shape;
    if (shape !== undefined && shape[0] === b.shape[0] && shape[1] === a.shape[1]) continue;
    const what = shape === undefined ? "has no such weight" : `has it as [${shape.join()}]`;
    throw new ModelError({
      message: `The adapter ${adapter.folder} changes "${name}" of [${b.shape[0]},${a.shape[1]}], but ${base.path} ${what}.`,
      hint: "Give the base model that the adapter was trained on.",
      fields: { adapter: adapter.folder, base: base.path, name },
    });
  }
}

/** The base as the adapter was trained on it: rounded, if it was quantized. */
export function trainedBase(base: ModelSource, { quantization }: LoraAdapter): ModelSource {
  return quantization === "int8" ? int8Source(base) : base;
}

/**
 * The base that the adapter was trained on with its update added to the weights, so that the result is what was
 * trained. @throws ModelError when they do not fit.
 */
export function mergeAdapter(base: ModelSource, adapter: LoraAdapter): ModelSource {
  checkFit(base, adapter);
  const trainedOn = trainedBase(base, adapter);
  return {
    ...base,
    files: null,
    async *read(names) {
      for await (const [name, data] of trainedOn.read(names)) {
        const factors = adapter.factors.get(name);
        if (factors !== undefined) addUpdate(data, factors);
        yield [name, data] as const;
      }
    },
  };
}

/** W + scale B A, row by row; sums are kept in 64 bits. */
function addUpdate(weight: Float32Array, { a, b, scale }: Factors): void {
  const [rank, columns] = a.shape as [number, number];
  const rows = b.shape[0]!;
  const sum = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    sum.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = scale * (b.data[row * rank + k] as number);
      for (let i = 0; i < columns; i++) {
        sum[i] = (sum[i] as number) + factor * (a.data[k * columns + i] as number);
      }
    }
    for (let i = 0; i < columns; i++) {
      const at = row * columns + i;
      weight[at] = (weight[at] as number) + (sum[i] as number);
    }
  }
}
