/** Schemas of strangers that cost more than they look. */
import type { JsonValue } from "../../src/core/message.ts";

const range = <T>(count: number, of: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => of(i));
const fields = <T>(count: number, of: (i: number) => T): Record<string, T> =>
  Object.fromEntries(range(count, (i) => [`k${i}`, of(i)]));

/** Each reference is followed twice. */
const doubling = (levels: number, keyword: string, last: JsonValue): JsonValue => ({
  $defs: Object.fromEntries(
    range(levels + 1, (i) => [
      `a${i}`,
      i === levels
        ? last
        : { [keyword]: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] },
    ]),
  ),
  $ref: "#/$defs/a0",
});

const itemsDeep = (depth: number): JsonValue => {
  let schema: JsonValue = { type: "integer" };
  for (let i = 0; i < depth; i++) schema = { type: "array", items: schema };
  return schema;
};

/** What each is, with whether it is expected to work (else to be refused). */
export const hostileSchemas: readonly (readonly [string, "works" | "refused", JsonValue])[] = [
  [
    "31 doubling references by allOf",
    "works",
    doubling(31, "allOf", { type: "string", maxLength: 3 }),
  ],
  [
    "60 of them",
    "refused",
    doubling(60, "allOf", { type: "object", properties: { a: { type: "integer" } } }),
  ],
  [
    "31 doubling references by anyOf",
    "refused",
    doubling(31, "anyOf", { type: "string", maxLength: 3 }),
  ],
  [
    "31 doubling references by properties",
    "works",
    {
      $defs: Object.fromEntries(
        range(32, (i) => [
          `a${i}`,
          i === 31
            ? { const: 1 }
            : {
                allOf: range(2, () => ({
                  type: "object",
                  properties: { p: { $ref: `#/$defs/a${i + 1}` } },
                })),
              },
        ]),
      ),
      $ref: "#/$defs/a0",
    },
  ],
  [
    "18 patternProperties",
    "refused",
    {
      type: "object",
      patternProperties: Object.fromEntries(
        range(18, (i) => [`${String.fromCharCode(97 + i)}.*x`, { type: "integer" }]),
      ),
    },
  ],
  [
    "22 patterns by allOf",
    "refused",
    {
      type: "string",
      allOf: range(22, (i) => ({ pattern: `${String.fromCharCode(97 + i)}.{5}x` })),
    },
  ],
  [
    "22 patterns that must all be found",
    "refused",
    { type: "string", allOf: range(22, (i) => ({ pattern: String.fromCharCode(97 + i) })) },
  ],
  ["a pattern whose automaton doubles", "refused", { type: "string", pattern: "a.{40}b" }],
  ["nested counts", "works", { type: "string", pattern: "^(((a{0,90}){0,90}){0,90}){0,90}$" }],
  ["oneOf of 20,000 constants", "refused", { oneOf: range(20_000, (i) => ({ const: i })) }],
  [
    "500 alternatives with 2,000 constants each",
    "refused",
    { oneOf: range(500, (i) => ({ enum: range(2000, (j) => i * 2000 + j) })) },
  ],
  [
    "two enums of 20,000",
    "works",
    {
      allOf: [
        { enum: range(20_000, (i) => `v${i}`) },
        { enum: range(20_000, (i) => `v${i + 100}`) },
      ],
    },
  ],
  [
    "an enum of 20,000 under a pattern",
    "works",
    { enum: range(20_000, (i) => `v${i}`), pattern: "^v\\d+$" },
  ],
  ["allOf of 10,000", "works", { allOf: range(10_000, (i) => ({ minLength: i % 7 })) }],
  [
    "allOf of 10,000 properties",
    "refused",
    { allOf: range(10_000, (i) => ({ properties: { [`p${i}`]: { type: "integer" } } })) },
  ],
  ["allOf of 10,000 patterns", "refused", { allOf: range(10_000, (i) => ({ pattern: `x${i}` })) }],
  [
    "products of alternatives",
    "refused",
    { allOf: range(20, () => ({ anyOf: [{ minLength: 1 }, { maxLength: 9 }] })) },
  ],
  [
    "5,000 optional properties",
    "works",
    {
      type: "object",
      properties: fields(5000, () => ({ type: "integer" })),
      additionalProperties: false,
    },
  ],
  [
    "2,000 required properties with counts",
    "refused",
    {
      type: "object",
      properties: fields(2000, () => ({ type: "integer" })),
      minProperties: 900,
      maxProperties: 1100,
    },
  ],
  [
    "20,000 names that are required",
    "refused",
    { type: "object", required: range(20_000, (i) => `n${i}`) },
  ],
  [
    "types without end",
    "works",
    { allOf: range(2, () => ({ type: range(20_000, (i) => (i % 2 === 0 ? "string" : "null")) })) },
  ],
  ["150 lists within lists", "works", itemsDeep(150)],
  ["10,000 lists within lists", "refused", itemsDeep(10_000)],
  [
    "a pattern of 5,000 groups",
    "works",
    { type: "string", pattern: "(".repeat(5000) + ")".repeat(5000) },
  ],
  [
    "a class of 100,000 letters",
    "works",
    { type: "string", pattern: `[${"abcdefghij".repeat(10_000)}]` },
  ],
  [
    "40 lengths of 10,000",
    "works",
    { allOf: range(40, (i) => ({ maxLength: 9000 + i, minLength: 1900 - i })) },
  ],
  [
    "multiples",
    "works",
    { type: "integer", multipleOf: 997, minimum: -99_999_999, maximum: 99_999_999 },
  ],
  [
    "eight lists of itself",
    "works",
    {
      anyOf: [
        ...range(8, (i) => ({ type: "array", items: { $ref: "#" }, maxItems: i + 2 })),
        { type: "integer" },
      ],
    },
  ],
  ["a reference that is no URI", "refused", { $ref: "#/%E0%A4%A" }],
  [
    "constants of another kind",
    "works",
    { enum: range(5000, (i) => ({ a: [i, { b: `x${i}` }] })) },
  ],
];
