/**
 * The events of one stream differ in a few strings and numbers. A template is the text of an event with holes
 * at those: an event that has the same text around them is read without parsing the whole of it.
 */
import { leavesOf, type Leaf } from "./json-leaves.ts";
import type { JsonScanner } from "./scan-json.ts";

export class EventTemplate {
  readonly #text: string;
  readonly #root: { readonly value: unknown };
  readonly #leaves: readonly Leaf[];
  readonly #holes: readonly Leaf[];
  /** Text before each hole, and after the last one. */
  readonly #between: readonly string[];

  private constructor(
    text: string,
    root: { readonly value: unknown },
    leaves: readonly Leaf[],
    isHole: (place: number) => boolean,
  ) {
    this.#text = text;
    this.#root = root;
    this.#leaves = leaves;
    this.#holes = leaves.filter((_, place) => isHole(place));
    const starts = [0, ...this.#holes.map(({ end }) => end)];
    const ends = [...this.#holes.map(({ start }) => start), text.length];
    this.#between = starts.map((start, i) => text.slice(start, ends[i]));
  }

  /** Without holes. Null for an event that no template can be made of. */
  static of(text: string, value: unknown): EventTemplate | null {
    const root = { value };
    const leaves = leavesOf(text, root);
    return leaves && new EventTemplate(text, root, leaves, () => false);
  }

  /** This event with holes where `other` has something else, or holes; null where their texts differ elsewhere. */
  differingFrom(other: EventTemplate): EventTemplate | null {
    const own = this.#leaves;
    const theirs = other.#leaves;
    if (own.length !== theirs.length) return null;
    let at = 0;
    let otherAt = 0;
    const holes = new Set<number>();
    for (const [place, leaf] of own.entries()) {
      const counterpart = theirs[place] as Leaf;
      const before = this.#text.slice(at, leaf.start);
      if (leaf.kind !== counterpart.kind) return null;
      if (before !== other.#text.slice(otherAt, counterpart.start)) return null;
      const text = this.#text.slice(leaf.start, leaf.end);
      const isSame = text === other.#text.slice(counterpart.start, counterpart.end);
      if (!isSame || other.#holes.includes(counterpart)) holes.add(place);
      at = leaf.end;
      otherAt = counterpart.end;
    }
    if (this.#text.slice(at) !== other.#text.slice(otherAt)) return null;
    return new EventTemplate(this.#text, this.#root, own, (place) => holes.has(place));
  }

  /**
   * Where the event that begins at `at` ends, or -1 for another one. `value` is that of the last one read, and
   * changes with the next; its lists of numbers do not.
   */
  read(text: string, at: number, scanner: JsonScanner): number {
    const holes = this.#holes;
    const between = this.#between;
    let end = at;
    for (let i = 0; i < holes.length; i++) {
      const before = between[i] as string;
      if (!text.startsWith(before, end)) return -1;
      const { kind, holder, key } = holes[i] as Leaf;
      const value = scanner[kind](end + before.length);
      if (value === undefined) return -1;
      holder[key] = value;
      end = scanner.end;
    }
    const last = between[holes.length] as string;
    return text.startsWith(last, end) ? end + last.length : -1;
  }

  get value(): unknown {
    return this.#root.value;
  }
}

/** Of one stream: chunks with text, the first one, the one with the reason. */
const maxTemplates = 4;
/** Longer events have lists that nobody has to compare. */
const maxLength = 4_096;
/** A stream whose events are all different is parsed. */
const maxUseless = 24;

/** The templates of one stream. Learns them from events that had to be parsed. */
export class EventTemplates {
  #known: EventTemplate[] = [];
  /** Events learned from, less those that were read. */
  #useless = 0;

  /** As `EventTemplate.read`; then `value` is this event's. */
  read(text: string, at: number, scanner: JsonScanner): number {
    for (let i = 0; i < this.#known.length; i++) {
      const template = this.#known[i] as EventTemplate;
      const end = template.read(text, at, scanner);
      if (end < 0) continue;
      if (i > 0) this.#moveToFront(i);
      this.#useless = Math.max(0, this.#useless - 1);
      return end;
    }
    return -1;
  }

  get value(): unknown {
    return this.#known[0]?.value;
  }

  /** `value` belongs to the templates from now on; whoever has it must be done with it at the next event. */
  learn(text: string, value: unknown): void {
    if (text.length > maxLength || this.#useless >= maxUseless) return;
    this.#useless++;
    const fresh = EventTemplate.of(text, value);
    if (!fresh) return;
    for (const [i, template] of this.#known.entries()) {
      const merged = fresh.differingFrom(template);
      if (!merged) continue;
      this.#known[i] = merged;
      this.#moveToFront(i);
      return;
    }
    this.#known = [fresh, ...this.#known].slice(0, maxTemplates);
  }

  #moveToFront(place: number): void {
    const [template] = this.#known.splice(place, 1) as [EventTemplate];
    this.#known.unshift(template);
  }
}
