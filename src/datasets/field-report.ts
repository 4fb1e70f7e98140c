/** What the fields of rows are: their types, how often they are there, and how long their values are. */

/** Types of values, as JSON has them; `other` is anything else that code passes. */
export type FieldType = "string" | "number" | "boolean" | "null" | "list" | "map" | "other";

/** Characters of strings, items of lists. */
export interface Lengths {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

/** One field of the rows of a dataset. */
export interface FieldReport {
  readonly name: string;
  /** Rows by the type of the field's value. */
  readonly types: Readonly<Partial<Record<FieldType, number>>>;
  /** Rows without the field. */
  readonly missing: number;
  /** null when no value is a string or a list. */
  readonly lengths: Lengths | null;
}

function typeOf(value: unknown): FieldType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return typeof value as "string";
    case "object":
      return "map";
    default:
      return "other";
  }
}

interface Counts {
  readonly types: Map<FieldType, number>;
  present: number;
  measured: number;
  min: number;
  max: number;
  sum: number;
}

/** Collects the fields of rows. */
export class FieldCounter {
  readonly #fields = new Map<string, Counts>();
  #rows = 0;

  add(row: unknown): void {
    this.#rows += 1;
    if (typeof row !== "object" || row === null || Array.isArray(row)) return;
    for (const [name, value] of Object.entries(row)) this.#count(name, value);
  }

  #count(name: string, value: unknown): void {
    let counts = this.#fields.get(name);
    if (counts === undefined) {
      counts = { types: new Map(), present: 0, measured: 0, min: Infinity, max: 0, sum: 0 };
      this.#fields.set(name, counts);
    }
    const type = typeOf(value);
    counts.types.set(type, (counts.types.get(type) ?? 0) + 1);
    counts.present += 1;
    if (type !== "string" && type !== "list") return;
    const { length } = value as string | readonly unknown[];
    counts.measured += 1;
    counts.sum += length;
    counts.min = Math.min(counts.min, length);
    counts.max = Math.max(counts.max, length);
  }

  report(): readonly FieldReport[] {
    return Array.from(this.#fields, ([name, { types, present, measured, min, max, sum }]) => ({
      name,
      types: Object.fromEntries(types),
      missing: this.#rows - present,
      lengths: measured === 0 ? null : { min, max, mean: sum / measured },
    }));
  }
}
