/** The flags of `agent-trainer serve`. */
import { ConfigError } from "../../core/errors.ts";
import type { PrecisionOption } from "../../core/precision.ts";

export interface ServeFlags {
  readonly tinker?: boolean;
  readonly fireworks?: boolean;
  readonly model?: string;
  readonly name?: string;
  readonly folder?: string;
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  /** Another name of `token`. */
  readonly key?: string;
  /** Of models at /v1: serve newer checkpoints of their runs. */
  readonly follow?: boolean;
  readonly threads?: number;
  readonly precision?: PrecisionOption;
  readonly maxModels?: number;
  readonly maxBodyMib?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** @throws ConfigError when both names have a value. */
export function tokenOf({ token, key }: ServeFlags): string | undefined {
  if (token !== undefined && key !== undefined && token !== key)
    throw new ConfigError({
      message: "--key and --token are two names of one option, but have different values.",
      hint: "Leave one of them out.",
    });
  return token ?? key;
}
