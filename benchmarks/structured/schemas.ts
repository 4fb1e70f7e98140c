/** Fifty JSON Schemas of growing nastiness: every keyword that is enforced, alone and combined. */
import type { JsonValue } from "../../src/core/message.ts";

const object = (
  properties: Record<string, JsonValue>,
  more: Record<string, JsonValue> = {},
): JsonValue => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = (more: Record<string, JsonValue> = {}): JsonValue => ({
  type: "string",
  maxLength: 8,
  ...more,
});
const int = (minimum: number, maximum: number): JsonValue => ({
  type: "integer",
  minimum,
  maximum,
});
const list = (items: JsonValue, minItems = 0, maxItems = 3): JsonValue => ({
  type: "array",
  items,
  minItems,
  maxItems,
});

const address = object({ street: text(), zip: { type: "string", pattern: "^\\d{5}(-\\d{4})?$" } });

export const schemas: readonly JsonValue[] = [
  // Scalars
  { type: "boolean" },
  { type: "null" },
  { enum: ["red", "green", "blue"] },
  { const: "yes" },
  int(0, 9),
  int(-120, 3047),
  { type: "integer", exclusiveMinimum: -1, exclusiveMaximum: 8 },
  { type: "integer", multipleOf: 7, minimum: 10, maximum: 900 },
  { type: "number", minimum: 0, maximum: 1 },
  { type: "number", exclusiveMinimum: 0.25, maximum: 0.375 },
  { type: "number", minimum: -12.5, exclusiveMaximum: -0.001 },
  text(),
  text({ minLength: 3, maxLength: 5 }),
  // Texts
  { type: "string", pattern: "^[A-Z]{2}\\d{3}$" },
  { type: "string", pattern: "^(a|bc)+$", maxLength: 6 },
  { type: "string", pattern: "x", maxLength: 4 },
  { type: "string", pattern: '^[^"\\\\\\s]{2,4}$' },
  { type: "string", pattern: "^[äöü€😀]{1,3}$" },
  { type: "string", format: "date" },
  { type: "string", format: "date-time" },
  { type: "string", format: "uuid" },
  { type: "string", format: "ipv4" },
  { type: "string", format: "email", maxLength: 24 },
  {
    enum: [
      'quote " and \\',
      "new\nline",
      "täb\t",
      "😀",
      "",
      1,
      -2.5,
      true,
      null,
      [1, "x"],
      { a: { b: [] } },
    ],
  },
  // Lists
  list({ type: "boolean" }),
  list(int(1, 12), 2, 2),
  {
    type: "array",
    prefixItems: [text(), { type: "boolean" }],
    items: int(0, 5),
    minItems: 2,
    maxItems: 4,
  },
  { type: "array", prefixItems: [{ const: 1 }, { const: 2 }], items: false },
  list(list(list({ enum: [0, 1] }, 1, 2), 1, 2), 1, 2),
  // Objects
  object({ a: int(0, 99), b: { type: "boolean" } }),
  object({ a: int(0, 9), b: text(), c: { type: "null" } }, { required: ["b"] }),
  object(
    { a: int(0, 9), b: int(0, 9), c: int(0, 9) },
    { required: [], minProperties: 1, maxProperties: 2 },
  ),
  object({ 'odd "name"\n': { const: 1 }, ü: { const: 2 }, "": { const: 3 } }),
  { type: "object", additionalProperties: int(0, 9), maxProperties: 3 },
  {
    type: "object",
    properties: { id: int(1, 9) },
    required: ["id"],
    additionalProperties: text(),
    maxProperties: 3,
  },
  {
    type: "object",
    patternProperties: { "^n_[a-c]$": int(0, 9), "^s_[a-c]$": text() },
    additionalProperties: false,
    maxProperties: 4,
  },
  {
    type: "object",
    propertyNames: { pattern: "^[a-c]{1,3}$" },
    additionalProperties: { type: "boolean" },
    maxProperties: 3,
  },
  object({ name: text(), address, tags: list({ enum: ["x", "y"] }) }),
  // Combinations
  { anyOf: [int(0, 9), { type: "boolean" }, { type: "null" }] },
  { type: ["integer", "null"], minimum: 3, maximum: 30 },
  {
    oneOf: [
      object({ kind: { const: "cat" }, lives: int(1, 9) }),
      object({ kind: { const: "dog" }, tricks: list(text()) }),
    ],
  },
  {
    allOf: [
      { type: "object", properties: { a: int(0, 50) }, required: ["a"] },
      { properties: { a: int(25, 99), b: { type: "boolean" } }, required: ["b"] },
    ],
    unevaluatedProperties: false,
  },
  {
    type: "integer",
    anyOf: [
      { maximum: 5, minimum: 0 },
      { minimum: 100, maximum: 105 },
    ],
  },
  object({
    v: {
      anyOf: [
        { type: "string", pattern: "^#[0-9a-f]{6}$" },
        object({ r: int(0, 255), g: int(0, 255), b: int(0, 255) }),
      ],
    },
  }),
  // References and recursion
  {
    $defs: { point: object({ x: int(-9, 9), y: int(-9, 9) }) },
    type: "array",
    items: { $ref: "#/$defs/point" },
    minItems: 1,
    maxItems: 3,
  },
  object({ value: int(0, 9), next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }),
  {
    $defs: {
      tree: object({ label: { enum: ["l", "r"] }, children: list({ $ref: "#/$defs/tree" }, 0, 2) }),
    },
    $ref: "#/$defs/tree",
  },
  {
    $defs: {
      expr: {
        anyOf: [
          int(0, 9),
          object({ op: { enum: ["+", "*"] }, args: list({ $ref: "#/$defs/expr" }, 2, 2) }),
        ],
      },
    },
    $ref: "#/$defs/expr",
  },
  // Any JSON
  { type: "object" },
  // All at once
  object({
    id: { type: "string", format: "uuid" },
    at: { type: "string", format: "date-time" },
    amount: { type: "number", minimum: 0.01, maximum: 9999.99 },
    state: { enum: ["open", "paid", null] },
    lines: list(
      object(
        { sku: { type: "string", pattern: "^[A-Z]{3}-\\d{2,4}$" }, n: int(1, 99), note: text() },
        { required: ["sku", "n"] },
      ),
      1,
      2,
    ),
    to: { anyOf: [address, { type: "null" }] },
  }),
];
