/**
 * JSON that keeps what JavaScript's values lose: the digits of a number (1.0, 1e-07, integers above 2^53) and
 * the order of keys that look like numbers. A prompt is written from this, and answers are compared by it.
 */

/** The lexemes of a text that is known to be JSON: strings, signs, and numbers or words. Linear. */
const lexemesOfJson = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get isInteger(): boolean {
    return /^-?\d+$/u.test(this.text);
  }

  /** The nearest double; infinite beyond the range of doubles. */
  get value(): number {
    return Number(this.text);
  }
}

/** A JSON value; objects are maps in the order of the text. */
export type ExactJson =
  | string
  | boolean
  | null
  | JsonNumber
  | readonly ExactJson[]
  | ReadonlyMap<string, ExactJson>;

/** No schema or message is nested as deeply; code that follows values down would run out of stack. */
const deepest = 512;

interface Lexemes {
  readonly all: readonly string[];
  at: number;
}

function readValue(lexemes: Lexemes, depth: number): ExactJson {
  if (depth > deepest) throw new SyntaxError(`JSON nested more than ${deepest} levels deep`);
  const lexeme = lexemes.all[lexemes.at++]!;
  if (lexeme === "{") {
    const fields = new Map<string, ExactJson>();
    while (lexemes.all[lexemes.at] !== "}") {
      if (lexemes.all[lexemes.at] === ",") lexemes.at++;
      const key = JSON.parse(lexemes.all[lexemes.at]!) as string;
      lexemes.at += 2;
      fields.set(key, readValue(lexemes, depth + 1));
    }
    lexemes.at++;
    return fields;
  }
  if (lexeme === "[") {
    const items: ExactJson[] = [];
    while (lexemes.all[lexemes.at] !== "]") {
      if (lexemes.all[lexemes.at] === ",") lexemes.at++;
      items.push(readValue(lexemes, depth + 1));
    }
    lexemes.at++;
    return items;
  }
  if (lexeme.startsWith('"')) return JSON.parse(lexeme) as string;
  if (lexeme === "null") return null;
  if (lexeme === "true" || lexeme === "false") return lexeme === "true";
  return new JsonNumber(lexeme);
}

/** A key that stands twice has its last value, at its first place, as in Python. @throws SyntaxError for what is not JSON */
export function parseExact(text: string): ExactJson {
  // Checked by the platform's reader, so that lexemes can be taken as they come.
  JSON.parse(text);
  return readValue({ all: text.match(lexemesOfJson) ?? [], at: 0 }, 0);
}

/** As {@link parseExact}; undefined for what is not JSON. */
export function tryParseExact(text: string): ExactJson | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** A value made in code. @throws what `JSON.stringify` does */
export const exactOf = (value: unknown): ExactJson => parseExact(JSON.stringify(value) ?? "null");

/** JavaScript's values, for code that needs no digits. */
export const plainOf = (value: ExactJson): unknown => JSON.parse(writeExact(value));

export interface JsonStyle {
  readonly comma: string;
  readonly colon: string;
  /** A number's text; as it was written unless given. */
  readonly number?: (number: JsonNumber) => string;
}

const compact: JsonStyle = { comma: ",", colon: ":" };

/** Without white space unless a style says otherwise. */
export function writeExact(value: ExactJson, style: JsonStyle = compact): string {
  if (value instanceof JsonNumber) return style.number?.(value) ?? value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value instanceof Map) {
    const fields = [...(value as ReadonlyMap<string, ExactJson>)].map(
      ([key, field]) => `${JSON.stringify(key)}${style.colon}${writeExact(field, style)}`,
    );
    return `{${fields.join(style.comma)}}`;
  }
  const items = (value as readonly ExactJson[]).map((item) => writeExact(item, style));
  return `[${items.join(style.comma)}]`;
}

/** As Python's `json.dumps(json.loads(text), ensure_ascii=False)`, which chat templates call. */
export const pythonJson: JsonStyle = {
  comma: ", ",
  colon: ": ",
  number: (number) => pythonNumber(number),
};

/** Python's `repr` of the int or float that a number is. */
function pythonNumber(number: JsonNumber): string {
  if (!number.isInteger) return pythonFloat(number.value);
  return number.text === "-0" ? "0" : number.text;
}

/** Python's `repr` of a float: the shortest digits, with an exponent below 1e-4 and from 1e16. */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : value < 0 ? "-Infinity" : "NaN";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (value === 0) return `${sign}0.0`;
  const [mantissa, power] = Math.abs(value).toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  const digits = mantissa.replace(".", "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** Sign, digits and power of ten: 1.50 and 15e-1 are the same. */
function decimal(text: string): string {
  const [, sign, whole, fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(text)!;
  const all = `${whole!}${fraction}`.replace(/^0+/u, "");
  const digits = all.replace(/0+$/u, "");
  if (digits === "") return "0";
  const shift = BigInt(power) - BigInt(fraction.length) + BigInt(all.length - digits.length);
  return `${sign!}${digits}e${shift}`;
}

/** Whether two values say the same: objects in any order, numbers by their exact decimal value. */
export function isSameJson(a: ExactJson, b: ExactJson): boolean {
  if (a instanceof JsonNumber)
    return b instanceof JsonNumber && decimal(a.text) === decimal(b.text);
  if (typeof a !== "object" || a === null) return a === b;
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    return [...(a as ReadonlyMap<string, ExactJson>)].every(
      ([key, field]) => b.has(key) && isSameJson(field, b.get(key) as ExactJson),
    );
  }
  if (!Array.isArray(b)) return false;
  const [left, right] = [a as readonly ExactJson[], b as readonly ExactJson[]];
  return left.length === right.length && left.every((item, i) => isSameJson(item, right[i]!));
}
