/** What is translated: values as they were written, and the options that there are. */
import type { ConfigField } from "../fields.ts";

/** A value as it was written. */
export interface Written {
  /** The dotted key, as it was written. */
  readonly path: string;
  readonly value: unknown;
  /** Index of the layer; later layers have higher numbers. */
  readonly layer: number;
  /** The file or the command line that the layer is part of. */
  readonly source: number;
}

/** Every option by its key. */
export type Fields = ReadonlyMap<string, ConfigField>;
