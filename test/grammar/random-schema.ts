/** Schemas at random, by a seed: some as people write them, and some that multiply. */
import type { JsonObject, JsonValue } from "../../src/core/message.ts";
import { createRandom } from "../../src/util/random.ts";

const patterns = [
  "^[a-z]{2,5}$",
  "a.{0,9}b",
  "(x|y)*z",
  "^\\d+(\\.\\d+)?$",
  "(a+)+$",
  "[^\\s]{3}",
  "a.{12}b",
  "(?=x)",
  "\\p{L}",
  "((a{0,30}){0,30}){0,30}",
];
const formats = ["date", "date-time", "uuid", "email", "ipv4", "uri", "word"];
const names = ["a", "b", "c", "d", "__proto__", "é", 'q"'];

export function randomSchema(seed: number): JsonValue {
  const random = createRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const times = <T>(count: number, of: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => of(i));
  /** Now and then much more than anybody needs. */
  const size = (usual: number, most: number): number =>
    random() < 0.03 ? below(most) : 1 + below(usual);
  const value = (): JsonValue =>
    pick<() => JsonValue>([
      () => below(100),
      () => -below(9) / 4,
      () => pick(["x", "yy", "", "é\n", "long text"]),
      () => random() < 0.5,
      () => null,
      () => [below(3), "z"],
      () => ({ k: below(2) }),
    ])();
  const fields = (count: number, of: () => JsonValue): JsonObject =>
    Object.fromEntries(times(count, (i) => [i < names.length ? pick(names) : `n${i}`, of()]));
  const schema = (depth: number): JsonValue => {
    if (random() < 0.08) return { $ref: pick(["#", "#/$defs/d0", "#/$defs/d1", "#/$defs/d2"]) };
    if (depth <= 0) return pick<JsonValue>([{ type: "integer" }, { const: value() }, true, {}]);
    const part = (): JsonValue => schema(depth - 1 - below(2));
    const own = pick<() => JsonObject>([
      () => ({
        type: "object",
        properties: fields(size(4, 400), part),
        ...(random() < 0.5 ? { required: times(below(3), () => pick(names)) } : {}),
        ...(random() < 0.5 ? { additionalProperties: random() < 0.5 ? part() : false } : {}),
        ...(random() < 0.2 ? { minProperties: below(4), maxProperties: 1 + below(5) } : {}),
      }),
      () => ({
        type: "object",
        patternProperties: Object.fromEntries(
          times(size(2, 20), (i) => [`${pick(patterns)}${i}`, part()]),
        ),
      }),
      () => ({ type: "array", items: part(), maxItems: size(3, 3000) }),
      () => ({ type: "array", prefixItems: times(size(2, 300), part), minItems: below(3) }),
      () => ({ type: "string", pattern: pick(patterns), maxLength: size(9, 20_000) }),
      () => ({ type: "string", format: pick(formats) }),
      () => ({ type: "string", allOf: times(size(2, 25), () => ({ pattern: pick(patterns) })) }),
      () => ({ type: "integer", multipleOf: size(9, 1000), minimum: -below(1000) }),
      () => ({ type: "number", minimum: below(9) / 8, exclusiveMaximum: 10 ** below(9) }),
      () => ({ enum: times(size(5, 5000), value) }),
      () => ({ anyOf: times(size(3, 60), part) }),
      () => ({ oneOf: times(size(3, 600), (i) => (random() < 0.5 ? { const: i } : part())) }),
      () => ({ allOf: times(size(2, 500), part) }),
      () => ({ not: part(), type: "boolean" }),
    ])();
    return own;
  };
  const root = schema(5);
  const $defs = Object.fromEntries(times(3, (i) => [`d${i}`, schema(3)]));
  return typeof root === "object" && root !== null && !Array.isArray(root)
    ? { ...(root as JsonObject), $defs }
    : root;
}
