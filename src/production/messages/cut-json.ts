/** Text that should be JSON: whether all of it is there. */

/** What telemetry puts where it shortened a text. */
const marker = /(?:\.{3}|…)? ?(?:[[(<](?:truncated|\.{3})[\])>])?$/iu;
const markerChars = 16;

const unmarked = (text: string): string =>
  text.slice(0, -markerChars) + text.slice(-markerChars).replace(marker, "");

/** What makes the last token whole, where the text ends between two of them or within one. */
const ends = ["", "null", ":null", '"":null', "0"];

/** The brackets that are open at the end, and whether a string is. */
function openAt(text: string): { readonly closing: string; readonly inString: boolean } {
  const open: string[] = [];
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{") open.push("}");
    else if (char === "[") open.push("]");
    else if (char === "}" || char === "]") open.pop();
  }
  return { closing: open.toReversed().join(""), inString };
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whether a text is the beginning of a list or an object in JSON, and no more: an attribute's limit cut it. */
export function isCutJson(given: string): boolean {
  if (!/^\s*[[{]/u.test(given) || isJson(given)) return false;
  return [given, unmarked(given)].some((text) => {
    const { closing, inString } = openAt(text);
    if (closing === "" && !inString) return false;
    // Within an escape, or within a word.
    if (inString) {
      const whole = text.replace(/\\(?:u[\da-f]{0,3})?$/iu, "");
      return ['"', '":null'].some((end) => isJson(`${whole}${end}${closing}`));
    }
    const word = text.replace(/(?<=[\s[:,])(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)$/u, "");
    return ends.some((end) => isJson(`${word}${end}${closing}`));
  });
}
