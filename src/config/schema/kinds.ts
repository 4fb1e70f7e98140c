/** Kinds of values that options of several sections take, and the type of a section. */
import { z } from "zod";
import type { CustomName } from "../../algorithms/catalog.ts";
import type { SnakeKeys } from "../camel-keys.ts";
import type { TrainConfig } from "../train-config.ts";

/** A whole number of at least `min`. */
export const integer = (min: number): z.ZodInt => z.int().min(min);

/** A number from 0 to 1. */
export const fraction = (): z.ZodNumber => z.number().min(0).max(1);

/** A non-empty string. */
export const nonEmptyString = (): z.ZodString => z.string().min(1);

/** A number of things, or -1 for all. */
export const integerOrAll = (): z.ZodInt =>
  z
    .int()
    .refine((value) => value === -1 || value >= 1)
    .meta({ allowed: "-1, or a whole number of at least 1", exampleValues: [8] });

/** The name of a custom function: `path#export`. */
export const customName = (): z.ZodType<CustomName> =>
  z.string().regex(/^[^#]+#[^#]+$/u) as unknown as z.ZodType<CustomName>;

/** Takes a tree in snake_case, or nothing, and returns it checked, with every default filled in. */
export type Section<K extends keyof TrainConfig> = z.ZodType<SnakeKeys<TrainConfig[K]>>;
