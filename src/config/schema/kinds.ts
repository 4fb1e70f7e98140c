/** Kinds of values that options of several sections take, and the type of a section. */
import { z } from "zod";
import type { CustomName } from "../../algorithms/catalog.ts";
import { type LoraGroup, loraGroups, loraLayers, type LoraTarget } from "../../core/lora.ts";
import type { SnakeKeys } from "../camel-keys.ts";
import type { TrainConfig } from "../train-config.ts";

/** Maximum of numbers that only count: steps, epochs, tasks of a dataset. */
const maxCount = 1_000_000_000;

/** A whole number from `min` to `max`. Give a smaller `max` where memory or processes are set aside for each. */
export const integer = (min: number, max: number = maxCount): z.ZodInt => z.int().min(min).max(max);

/** A number of tokens of one sequence. */
export const tokenCount = (min: number): z.ZodInt => integer(min, 16_777_216);

/** A number of things that run or are held in memory at the same time: rollouts, calls, replicas. */
export const atOnce = (min: number): z.ZodInt => integer(min, 65_536);

/** Tasks that are in memory at the same time. */
export const taskCount = (min: number): z.ZodInt => integer(min, 1_000_000);

/** A size in MiB, up to 16 TiB. */
export const mebibytes = (min: number): z.ZodInt => integer(min, 16_777_216);

/** A seed: 32 bits. */
export const seedNumber = (): z.ZodInt => integer(0, 2 ** 32 - 1);

/** A number from 0 to 1. */
export const fraction = (): z.ZodNumber => z.number().min(0).max(1);

/** A non-empty string. */
export const nonEmptyString = (): z.ZodString => z.string().min(1);

/** A number of things, or -1 for all. */
export const integerOrAll = (): z.ZodInt =>
  z
    .int()
    .refine((value) => value === -1 || (value >= 1 && value <= maxCount))
    .meta({ allowed: `-1, or a whole number from 1 to ${maxCount}`, exampleValues: [8] });

/** The name of a custom function: `path#export`. */
export const customName = (): z.ZodType<CustomName> =>
  z.string().regex(/^[^#]+#[^#]+$/u) as unknown as z.ZodType<CustomName>;

/** Null by default: what the model and the backend decide (`../model-defaults.ts`) before anything reads it. */
export const ofModel = (schema: z.ZodNumber): z.ZodDefault<z.ZodNumber> =>
  schema.nullable().default(null) as unknown as z.ZodDefault<z.ZodNumber>;

/** A group of linear layers, or a list of their names. */
export const loraTargets = (): z.ZodType<LoraGroup | readonly LoraTarget[]> =>
  z.union([z.enum(loraGroups), z.array(z.enum(loraLayers)).min(1)]).meta({
    allowed: `one of ${loraGroups.join(", ")}, or a list of ${loraLayers.join(", ")}`,
    exampleValues: [...loraGroups, ["q_proj", "v_proj"]],
  });

/** Takes a tree in snake_case, or nothing, and returns it checked, with every default filled in. */
export type Section<
  K extends keyof TrainConfig,
  /** Options whose default is in another section: null until the whole tree is known. */
  Unfilled extends keyof Snake<K> = never,
> = z.ZodType<Omit<Snake<K>, Unfilled> & { readonly [P in Unfilled]: Snake<K>[P] | null }>;

type Snake<K extends keyof TrainConfig> = SnakeKeys<TrainConfig[K]>;
