/** Parses YAML: the only place that does. The parser recurses, and a stack overflow in it can crash the process. */
import { parse } from "yaml";

/** Far more than any configuration has; a longer text is something else. */
const longest = 4 * 2 ** 20;
/** Maximum depth of brackets, and of dashes and question marks before a value on one line. */
const deepest = 128;
const widestIndent = 512;
/** How often the values of one anchor may be repeated, by aliases of aliases too. */
const mostAliases = 100;

/** Upper bound of the depth of flow collections; brackets inside of quotes count, too. */
function bracketDepth(text: string): number {
  let [depth, most] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // [ { and ] }
    if (unit === 0x5b || unit === 0x7b) most = Math.max(most, ++depth);
    else if ((unit === 0x5d || unit === 0x7d) && depth > 0) depth -= 1;
  }
  return most;
}

const compact = new RegExp(`(?:[-?:][ \\t]+){${deepest}}`, "u");
const indented = new RegExp(`^[ \\t]{${widestIndent}}`, "mu");

/**
 * The value of a text. Aliases may share parts of it, and a part may hold itself: `checkTree` refuses that.
 *
 * @throws YAMLParseError, a ReferenceError for aliases that repeat too much, or a RangeError for a text that is
 *   too long or nested too deep.
 */
export function parseYaml(text: string): unknown {
  if (text.length > longest)
    throw new RangeError(`it has ${text.length} characters, but ${longest} is the limit`);
  if (bracketDepth(text) > deepest || compact.test(text) || indented.test(text))
    throw new RangeError(`its values are nested more than ${deepest} levels deep`);
  return parse(text, { maxAliasCount: mostAliases });
}
