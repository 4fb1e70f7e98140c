/** Parses YAML. The parser recurses, and a stack overflow in it can crash the whole process. */
import { parse } from "yaml";

/** Maximum depth of brackets, and of dashes and question marks before a value on one line. */
const deepest = 128;
const widestIndent = 512;

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

/** @throws YAMLParseError, or a RangeError for values that are nested too deep. */
export function parseYaml(text: string): unknown {
  if (bracketDepth(text) > deepest || compact.test(text) || indented.test(text))
    throw new RangeError(`its values are nested more than ${deepest} levels deep`);
  return parse(text);
}
