/** Text that should be JSON: whether all of it is there. */

/** What telemetry puts where it shortened a text. */
const marker = /(?:\.{3}|…)? ?(?:[[(<](?:truncated|\.{3})[\])>])?$/iu;
const markerChars = 16;

const unmarked = (text: string): string =>
  text.slice(0, -markerChars) + text.slice(-markerChars).replace(marker, "");

/** What makes the last token whole, where the text ends between two of them or within one. */
const ends = ["", "null", ":null", '"":null', "0"];

interface Open {
  /** What closes the brackets that are open at the end. */
  readonly closing: string;
  readonly inString: boolean;
  /** Where an escape begins that is not whole; else the end. */
  readonly end: number;
}

function openAt(text: string): Open {
  const open: string[] = [];
  let inString = false;
  let end = text.length;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") {
        if (i + (text[i + 1] === "u" ? 6 : 2) > text.length) end = i;
        i++;
      } else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{") open.push("}");
    else if (char === "[") open.push("]");
    else if (char === "}" || char === "]") open.pop();
  }
  return { closing: open.toReversed().join(""), inString, end };
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
    const { closing, inString, end } = openAt(text);
    if (closing === "" && !inString) return false;
    if (inString)
      return ['"', '":null'].some((more) => isJson(`${text.slice(0, end)}${more}${closing}`));
    // Within a word.
    const word = text.replace(/(?<=[\s[:,])(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)$/u, "");
    return ends.some((more) => isJson(`${word}${more}${closing}`));
  });
}
