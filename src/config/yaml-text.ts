/** YAML to values. The parser recurses, and on a full stack it can take the whole process with it. */
import { parse } from "yaml";

/** Of brackets, and of dashes and question marks before a value on one line. */
const deepest = 128;
const widestIndent = 512;

/** How deep flow collections may be at most; brackets inside of quotes count, too. */
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

/** @throws YAMLParseError, or a RangeError for what is nested too deep to be read. */
export function parseYaml(text: string): unknown {
  if (bracketDepth(text) > deepest || compact.test(text) || indented.test(text))
    throw new RangeError(`its values are nested more than ${deepest} levels deep`);
  return parse(text);
}
