/** Kinds of values that options of several sections take. */
import { z } from "zod";
import type { CustomName } from "../../algorithms/catalog.ts";

/** A whole number of at least `least`. */
export const count = (least: number): z.ZodInt => z.int().min(least);

/** A number from 0 to 1. */
export const share = (): z.ZodNumber => z.number().min(0).max(1);

/** A non-empty string. */
export const words = (): z.ZodString => z.string().min(1);

/** A number of things, or -1 for all of them. */
export const countOrAll = (): z.ZodInt =>
  z
    .int()
    .refine((value) => value === -1 || value >= 1)
    .meta({ allowed: "-1, or a whole number of at least 1" });

/** The name of a custom function: `path#export`. */
export const customName = (): z.ZodType<CustomName> =>
  z.string().regex(/^[^#]+#[^#]+$/u) as unknown as z.ZodType<CustomName>;
