/** Parses YAML: the only place that does. The parser recurses, and a stack overflow in it can crash the process. */
import { CST, Lexer, parse, YAMLParseError } from "yaml";

/** Far more than any configuration has; a longer text is something else. */
const longest = 4 * 2 ** 20;
/** Maximum depth of brackets, and of dashes and question marks before a value on one line. */
const deepest = 128;
const widestIndent = 512;
/** How often the values of one anchor may be repeated, by aliases of aliases too. */
const maxAliases = 100;

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
  return parse(text, { maxAliasCount: maxAliases });
}

/** Kinds of what is in a text and not a value: comments, anchors, aliases, tags, marks of documents. */
export function yamlMarks(text: string): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (const lexeme of new Lexer().lex(text)) {
    const kind = CST.tokenType(lexeme);
    if (kind !== null && markKinds.has(kind)) kinds.add(kind);
  }
  return kinds;
}

const markKinds: ReadonlySet<string> = new Set([
  ...["comment", "anchor", "alias", "tag"],
  ...["doc-start", "doc-end", "directive-line"],
]);

/** What is wrong in a text that {@link parseYaml} refused, and where. */
export interface YamlProblem {
  /** Line of the text, from 1; absent where the problem is not in one. */
  readonly line?: number;
  /** A clause without a period. */
  readonly problem: string;
}

const place = /(?: at line \d+, column \d+)?:?$/u;
const alias = /^Unresolved alias .*: (.+)$/u;

/** Describes an error of {@link parseYaml}. */
export function describeYamlError(error: unknown, text: string): YamlProblem {
  const { message } = error as Error;
  const [first = ""] = message.split("\n");
  const name = alias.exec(first)?.[1];
  if (name !== undefined) {
    const line = text.split("\n").findIndex((one) => one.includes(`*${name}`)) + 1;
    const problem = `the alias *${name} has no anchor &${name} before it`;
    return line === 0 ? { problem } : { line, problem };
  }
  if (!(error instanceof YAMLParseError)) return { problem: first };
  const line = error.linePos?.[0].line;
  const problem =
    error.code === "MULTIPLE_DOCS" ? "it has more than one document" : first.replace(place, "");
  return { ...(line === undefined ? {} : { line }), problem };
}
