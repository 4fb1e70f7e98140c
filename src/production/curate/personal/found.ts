/** Where a value is in a text. */

export interface Found {
  readonly begin: number;
  readonly end: number;
  /** The same for every way to write the same value. */
  readonly key: string;
}

/** Whether a letter or digit of ASCII is at `at`: there a number is part of a longer name. */
export function isNameAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at) | 32;
  return (code >= 97 && code <= 122) || isDigitAt(text, at);
}

export function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}
