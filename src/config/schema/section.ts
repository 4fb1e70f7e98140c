/** The type of one section's schema: what comes out of it is that section of `TrainConfig`. */
import type { z } from "zod";
import type { SnakeKeys } from "../camel-keys.ts";
import type { TrainConfig } from "../train-config.ts";

/** Takes a tree in snake_case, or nothing, and returns it checked, with every default filled in. */
export type Section<K extends keyof TrainConfig> = z.ZodType<SnakeKeys<TrainConfig[K]>>;
