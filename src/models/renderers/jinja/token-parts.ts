/** A rendered text in parts: control tokens that the template wrote, and all other text. */
import type { ControlTokens } from "../../tokenizers/control-tokens.ts";
import { markup, plain, type Part } from "../token-builder.ts";
import type { Str } from "./language/str.ts";

/** A token is a control token where the template wrote all of it that is not white space. */
export function tokenParts({ pattern }: ControlTokens, text: Str): readonly Part[] {
  if (pattern === null) return [plain(text.text)];
  const search = new RegExp(pattern, "g");
  const parts: Part[] = [];
  let end = 0;
  for (let found = search.exec(text.text); found !== null; found = search.exec(text.text)) {
    const [token] = found;
    const cut = text.cut(found.index, found.index + token.length);
    if (!cut.isOwn && [...cut.runs()].some((run) => !run.isOwn && run.text.trim() !== "")) {
      search.lastIndex = found.index + 1;
      continue;
    }
    parts.push(plain(text.text.slice(end, found.index)), markup(token));
    end = found.index + token.length;
  }
  parts.push(plain(text.text.slice(end)));
  return parts;
}
