/** Text of a model with characters that hide or reorder text made visible. */

// All but line feed and tab; the format class holds the marks that reorder or hide text.
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** ESC becomes `␛`, a right-to-left override `⟨U+202E⟩`. Joiners within emoji stay readable as such. */
export function visibleText(text: string): string {
  return text.replaceAll(hidden, (character, at: number) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "␡";
    if (
      code === 0x200d &&
      /\p{Extended_Pictographic}$|\uFE0F$/u.test(text.slice(Math.max(0, at - 2), at))
    )
      return character;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** The beginning of a long text, with what is missing. */
export function clipText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}\n… ${(text.length - limit).toLocaleString("en")} more characters`;
}
