/** A text as texts are compared: case, width and white space make no difference; everything else does. */
export const normalizeText = (text: string): string =>
  text.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, " ").trim();
