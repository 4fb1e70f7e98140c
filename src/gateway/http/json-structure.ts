/**
 * How much JSON a request holds, counted in its text before anything is made of it: every message, part,
 * tool and member costs more time later than it has bytes. Linear, and ends at the first limit.
 */
import { badRequest, nestedTooDeeply } from "./api-error.ts";
import { mostLevels } from "./json-fields.ts";

/** Objects, lists, and fields of objects in one request; 10,000 messages with tool calls have 140,000. */
export const mostMembers: number = 2 ** 18;
/** Values after a comma, such as the ids of a prompt. */
const mostValues = 2 ** 21;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function tooMany(what: string, most: number): Error {
  return badRequest(
    undefined,
    `The request holds more than ${most} ${what}, which is the most. Send less at once.`,
    "too_many_entries",
  );
}

/** Of text that may not be JSON. @throws ApiError 400 above a limit. */
export function checkStructure(text: string): void {
  let [depth, members, values] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openObject || code === openList) {
      members++;
      if (++depth > mostLevels) throw nestedTooDeeply();
    } else if (code === closeObject || code === closeList) depth--;
    else if (code === colon) members++;
    else if (code === comma) values++;
    if (members > mostMembers) throw tooMany("objects, lists and fields", mostMembers);
    if (values > mostValues) throw tooMany("values", mostValues);
  }
}
