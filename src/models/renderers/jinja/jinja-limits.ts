/**
 * An untrusted template under a work limit: it is code that runs where prompts are rendered, and its
 * loops, recursion or growing lists could block or crash the whole process. Steps are counted, not time,
 * so that the same messages always have the same result.
 */
import { Environment, Interpreter, type Template } from "@huggingface/jinja";

/** The template exceeded its limit. */
export class TemplateLimitError extends Error {
  override readonly name = "TemplateLimitError";
}

interface Value {
  readonly value: unknown;
}

/** The used part of the library's class; its own types do not resolve under `nodenext`. */
interface LibraryInterpreter {
  evaluate(statement: unknown, environment: unknown): Value;
  run(program: unknown): Value;
}

const LibraryInterpreter = Interpreter as unknown as new (
  environment: unknown,
) => LibraryInterpreter;

/** Characters and elements of one value. */
const largestValue = 2 ** 20;
/** Characters that cost as much as a step. */
const charactersPerStep = 64;
/** What the library does for each iteration of a loop, in addition to its body. */
const stepsPerTurn = 8;

export interface TemplateLimits {
  readonly steps: number;
  /** Characters and elements of one value, the whole output included. */
  readonly size: number;
}

/** Enough for any reasonable template, and about a second of work for a prompt of typical size. */
export function limitsFor(inputCharacters: number, messages: number): TemplateLimits {
  return {
    // Some templates look at all messages for each of them.
    steps: 1_000_000 + 20 * inputCharacters + 40 * messages ** 2,
    size: largestValue + 16 * inputCharacters,
  };
}

const isRecord = (item: unknown): item is Readonly<Record<string, unknown>> =>
  typeof item === "object" && item !== null;

/** Parts of a node whose values are written out as text, including nested values. */
function writtenParts(node: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (node["type"] === "FilterExpression") return [node["operand"]];
  if (node["type"] === "BinaryExpression") {
    const { value } = node["operator"] as { value?: unknown };
    return value === "~" || value === "+" ? [node["left"], node["right"]] : [];
  }
  return [node["body"], node["alternate"], node["defaultBlock"]].filter(Array.isArray).flat();
}

interface Marked {
  readonly written: ReadonlySet<unknown>;
  /** What loops iterate over. */
  readonly looped: ReadonlySet<unknown>;
}

function markNodes(program: unknown): Marked {
  const written = new Set<unknown>();
  const looped = new Set<unknown>();
  const waiting: unknown[] = [program];
  while (waiting.length > 0) {
    const item = waiting.pop();
    if (!isRecord(item)) continue;
    if (!Array.isArray(item)) for (const part of writtenParts(item)) written.add(part);
    if (item["type"] === "For") looped.add(item["iterable"]);
    const inner = item instanceof Map ? [...item].flat() : Object.values(item);
    for (const one of inner) waiting.push(one);
  }
  return { written, looped };
}

class LimitedInterpreter extends LibraryInterpreter {
  readonly #limits: TemplateLimits;
  readonly #marked: Marked;
  #left: number;

  constructor(environment: unknown, limits: TemplateLimits, marked: Marked) {
    super(environment);
    this.#limits = limits;
    this.#marked = marked;
    this.#left = limits.steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new TemplateLimitError(`it takes more than ${this.#limits.steps} steps`);
  }

  #checkSize(size: number): void {
    if (size <= this.#limits.size) return;
    throw new TemplateLimitError(
      `it makes a text or a list of ${size} characters or elements, and ${this.#limits.size} is the limit`,
    );
  }

  override evaluate(statement: unknown, environment: unknown): Value {
    this.spend(1);
    const result = super.evaluate(statement, environment);
    const { value } = result;
    if (typeof value === "string") {
      this.#checkSize(value.length);
      this.spend(Math.floor(value.length / charactersPerStep));
    } else if (Array.isArray(value)) {
      this.#checkSize(value.length);
      this.spend(value.length * (this.#marked.looped.has(statement) ? stepsPerTurn : 1));
      if (this.#marked.written.has(statement)) this.#measure(result);
    } else if (value instanceof Map && this.#marked.written.has(statement)) this.#measure(result);
    return result;
  }

  /** A few lists that contain each other many times are quick to build and endless to print. */
  #measure(root: Value): void {
    let size = 0;
    const waiting: unknown[] = [root];
    while (waiting.length > 0) {
      const value = (waiting.pop() as Partial<Value> | undefined)?.value;
      this.spend(1);
      size += typeof value === "string" ? value.length : 1;
      const inner: Iterable<unknown> =
        value instanceof Map ? value.values() : Array.isArray(value) ? value : [];
      for (const one of inner) waiting.push(one);
      this.#checkSize(Math.max(size, waiting.length));
    }
  }

  /** The library's version builds its list before it can be counted. */
  range(start: number, stop?: number, step = 1): number[] {
    const [from, to] = stop === undefined ? [0, start] : [start, stop];
    if (step === 0) throw new Error("range() step must not be zero");
    const count = Math.max(0, Math.ceil((to - from) / step));
    this.#checkSize(count);
    this.spend(count);
    return Array.from({ length: count }, (_, i) => from + i * step);
  }
}

/**
 * What `Template.render` does, within limits that the caller sets for each prompt.
 * @param template as the library parsed it
 */
export function limitTemplate(
  template: Template,
): (variables: Readonly<Record<string, unknown>>, limits: TemplateLimits) => string {
  const program: unknown = template.parsed;
  const marked = markNodes(program);
  return (variables, limits) => {
    const environment = new Environment();
    const interpreter = new LimitedInterpreter(environment, limits, marked);
    const globals: Record<string, unknown> = {
      false: false,
      true: true,
      none: null,
      False: false,
      True: true,
      None: null,
      range: (start: number, stop?: number, step?: number) => interpreter.range(start, stop, step),
      raise_exception: (message: unknown) => {
        throw new Error(typeof message === "string" ? message : "raise_exception() was called");
      },
    };
    for (const [name, value] of Object.entries({ ...globals, ...variables }))
      environment.set(name, value);
    return interpreter.run(program).value as string;
  };
}
