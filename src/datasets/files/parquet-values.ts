/** What values of Parquet's types are in JSON: exact, as text where a number would not be. */
import type { FileMetaData, ParquetParsers, SchemaElement, SchemaTree } from "hyparquet";
import { ConfigError } from "../../core/errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** Some writers do not mark text as such. */
function textOf(bytes: Uint8Array): string {
  try {
    const text = utf8.decode(bytes);
    return /(?![\t\n\r])\p{Cc}/u.test(text) ? base64(bytes) : text;
  } catch {
    return base64(bytes);
  }
}

/** Digits after the point of units that are so many parts of another; none where they are all 0. */
function fraction(parts: bigint, digits: number): string {
  return parts === 0n ? "" : `.${parts.toString().padStart(digits, "0")}`;
}

/** `units` are 10^-digits seconds from 1970 on. Milliseconds are always there. */
function timestamp(units: bigint | number | null | undefined, digits: number): string | null {
  if (units === null || units === undefined) return null;
  const perMs = 10n ** BigInt(digits - 3);
  const rest = ((BigInt(units) % perMs) + perMs) % perMs;
  const date = new Date(Number((BigInt(units) - rest) / perMs));
  if (Number.isNaN(date.getTime()))
    throw new Error(`the time of ${units} · 10^-${digits} s from 1970 is beyond all calendars`);
  const finer = rest === 0n ? "" : rest.toString().padStart(digits - 3, "0");
  return date.toISOString().replace("Z", `${finer}Z`);
}

/** ISO strings of times, with all of their digits. */
export const exactParsers: Pick<
  ParquetParsers,
  | "timestampFromMilliseconds"
  | "timestampFromMicroseconds"
  | "timestampFromNanoseconds"
  | "dateFromDays"
> = {
  timestampFromMilliseconds: (units) => timestamp(units, 3),
  timestampFromMicroseconds: (units) => timestamp(units, 6),
  timestampFromNanoseconds: (units) => timestamp(units, 9),
  dateFromDays: (days) => timestamp(BigInt(days) * 86_400_000n, 3)?.split("T")[0] ?? null,
};

function timeOfDay(units: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const seconds = Number(units / perSecond);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const clock = [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, "0"));
  return `${clock.join(":")}${fraction(units % perSecond, digits)}`;
}

const isDecimal = ({ converted_type: old, logical_type: type }: SchemaElement): boolean =>
  old === "DECIMAL" || type?.type === "DECIMAL";

function decimal(given: bigint | number | Uint8Array, { scale = 0 }: SchemaElement): string {
  const unscaled =
    given instanceof Uint8Array
      ? BigInt.asIntN(8 * given.length, BigInt(`0x0${Buffer.from(given).toString("hex")}`))
      : BigInt(given);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const rest = scale === 0 ? "" : `.${digits.slice(point)}`;
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}${rest}`;
}

const timeDigits = { MILLIS: 3, MICROS: 6, NANOS: 9 } as const;

function timeDigitsOf({ converted_type: old, logical_type: type }: SchemaElement): number | null {
  if (type?.type === "TIME") return timeDigits[type.unit];
  return old === "TIME_MILLIS" ? 3 : old === "TIME_MICROS" ? 6 : null;
}

/** The schema to read with: numbers that the library would round come as they are in the file. */
export function withoutRounding(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map((element): SchemaElement => {
    if (!isDecimal(element)) return element;
    const { converted_type: _old, logical_type: _type, ...raw } = element;
    return raw;
  });
  return { ...metadata, schema };
}

function leaf(value: unknown, element: SchemaElement | undefined): unknown {
  if (value === null || value === undefined) return null;
  const digits = element === undefined ? null : timeDigitsOf(element);
  if (digits !== null) return timeOfDay(BigInt(value as bigint | number), digits);
  if (element !== undefined && isDecimal(element))
    return decimal(value as bigint | number | Uint8Array, element);
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  // JSON has no such numbers.
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof Date) return value.toISOString();
  if (!isBytes(value)) return value;
  return element?.type === "FIXED_LEN_BYTE_ARRAY" ? base64(value) : textOf(value);
}

/** The schema of the elements of a list, or of the values of a map. */
function inner({ children: [repeated] }: SchemaTree, isMap: boolean): SchemaTree | undefined {
  if (repeated === undefined || repeated.children.length === 0) return repeated;
  if (isMap) return repeated.children[1];
  return repeated.children.length === 1 ? repeated.children[0] : repeated;
}

/** @throws ConfigError for the key `__proto__`, which cannot be copied. */
export function jsonValue(value: unknown, schema: SchemaTree | undefined, at: string): unknown {
  const isNested = typeof value === "object" && value !== null;
  const type = schema?.element.converted_type;
  if (isNested && (Array.isArray(value) || (ArrayBuffer.isView(value) && !isBytes(value)))) {
    const of = type === "LIST" ? inner(schema!, false) : schema;
    return Array.from(value as ArrayLike<unknown>, (item) => jsonValue(item, of, at));
  }
  if (!isNested || isBytes(value) || value instanceof Date) return leaf(value, schema?.element);
  const values = type === "MAP" ? inner(schema!, true) : null;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const of = values ?? schema?.children.find(({ element }) => element.name === key);
      if (key !== "__proto__") return [key, jsonValue(item, of, at)];
      throw new ConfigError({
        message: `${at}: a row must not have the key "__proto__".`,
        hint: "Rename it: copying such a row would lose or change it.",
        fields: { at },
      });
    }),
  );
}
