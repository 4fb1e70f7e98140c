/**
 * The work of one rendering: a template is untrusted code that runs where prompts are rendered, and its loops,
 * recursion or growing values could block or crash the process. Steps are counted, not time, so that the same
 * messages always have the same result.
 */

/** The template exceeded its limit. */
export class TemplateLimitError extends Error {
  override readonly name = "TemplateLimitError";
}

/** Characters and elements of one value. */
const largestValue = 2 ** 20;
/** Characters that cost as much as a step. */
export const charactersPerStep = 64;
/** Deeper macros, loops or values would overflow the stack. */
const deepest = 256;

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

// None outside of a rendering.
let limits: TemplateLimits = { steps: Infinity, size: Infinity };
let left = Infinity;
let depth = 0;

/** Runs `work`, which is synchronous, under separate limits. */
export function withinLimits<T>(given: TemplateLimits, work: () => T): T {
  const before = { limits, left, depth };
  [limits, left, depth] = [given, given.steps, 0];
  try {
    return work();
  } catch (error) {
    // The engine's own limits: its stack, the length of a string, the size of an integer.
    if (error instanceof RangeError) throw new TemplateLimitError(error.message);
    throw error;
  } finally {
    ({ limits, left, depth } = before);
  }
}

export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new TemplateLimitError(`it takes more than ${limits.steps} steps`);
}

/** Before a text of `length` characters is made. */
export function spendText(length: number): void {
  checkSize(length);
  spend(length / charactersPerStep);
}

export function checkSize(size: number): void {
  if (size <= limits.size) return;
  throw new TemplateLimitError(
    `it makes a text or a list of ${size} characters or elements, and ${limits.size} is the limit`,
  );
}

export function nested<T>(work: () => T): T {
  if (depth >= deepest)
    throw new TemplateLimitError(`it is nested more than ${deepest} levels deep`);
  depth++;
  try {
    return work();
  } finally {
    depth--;
  }
}
