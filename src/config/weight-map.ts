/** Options that give names a weight: every form of them is stored as a list of `name=weight`. */
import { z } from "zod";

const weightPattern = /^(?<name>.+)=(?<weight>-?\d*\.?\d+(?:e[+-]?\d+)?)$/iu;

/** The stored form as a map. */
export function weightsOf(list: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    list.map((entry): [string, number] => {
      const { name = "", weight = "0" } = weightPattern.exec(entry)?.groups ?? {};
      return [name, Number(weight)];
    }),
  );
}

export interface WeightMapOptions {
  /** What the names are, for messages. */
  readonly what: string;
  readonly min?: number;
  /** Names that there are. @default any */
  readonly names?: readonly string[];
  readonly example: string;
}

/** `{correct: 1, short: 0.5}` or `["correct=1", "short=0.5"]` as the latter. Names are those of others, so their case stays. */
export function weightMap({
  what,
  min = -Infinity,
  names,
  example,
}: WeightMapOptions): z.ZodPrefault<z.ZodType<readonly string[]>> {
  const isAllowed = (entry: string): boolean => {
    const { name = "", weight } = weightPattern.exec(entry)?.groups ?? {};
    return weight !== undefined && Number(weight) >= min && (names?.includes(name) ?? true);
  };
  return z
    .union([
      z
        .record(z.string(), z.unknown())
        .transform((map) =>
          Object.entries(map).map(([name, weight]) => `${name}=${String(weight)}`),
        ),
      z.array(z.string()),
    ])
    .refine((list) => list.every(isAllowed))
    .prefault([])
    .meta({
      allowed: `a map of ${what} to numbers${min === -Infinity ? "" : ` from ${min} on`}, or a list of name=number`,
      tsType: "readonly string[]",
      exampleValues: [[example]],
    });
}
