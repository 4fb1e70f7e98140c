/** Tells a client, with its response, what it asked for that sampling did not enforce. */
import type { MoreHeaders } from "../http/reply.ts";

const header = "x-agent-trainer-unenforced";
const longest = 1000;

/** Header values are ASCII without control characters; schemas may have any names. */
const toAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`);

/** No header where everything is enforced. */
export function unenforcedHeaders(unenforced: readonly string[]): MoreHeaders {
  if (unenforced.length === 0) return {};
  const text = toAscii(unenforced.join("; "));
  return { [header]: text.length > longest ? `${text.slice(0, longest)} ...` : text };
}
