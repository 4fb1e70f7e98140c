/** The final result in the text of a response. */
import { afterMarker, boxAt, lastBoxed } from "../boxed.ts";
import { linearPattern } from "../linear-pattern.ts";
import { unitOfWord } from "./units.ts";

const announcement = linearPattern(
  String.raw`(?i)<answer>|\b(?:answer|result)s?(?: (?:to|for|of) [^.:\n]{1,80}?)?(?:[ \t]*(?:\*\*|__))?` +
    String.raw`(?:[ \t]+(?:is|are|equals|(?:should|must|will|would) be)\b` +
    String.raw`(?:[ \t]+(?:therefore|thus|then|simply|just|exactly|approximately|about|equal to|given by))?` +
    String.raw`|[ \t]*(?::|=))[ \t]*:?`,
);
const joined = /^[\s,;$.]{0,10}(?:and|or|,|;)?[\s,;$]{0,10}(?:[A-Za-z] ?= ?)?$/u;
const fillers =
  /^(?:(?:so|thus|hence|therefore|then|finally|we (?:get|have|find))[,:]? |option |choice |an? (?=[a-z]{2})|the )/iu;
const lettered = /[A-Za-z]{2,}/u;
const formulaWords =
  /^(?:and|or|pi|sqrt|sin|cos|tan|sec|csc|cot|log|ln|exp|abs|inf|infty|infinity|arcsin|arccos|arctan|theta|alpha|lambda|percent|million|billion|thousand|hundred|dozen|[ap]m)$/u;

/** Boxed, else marked, announced, the last formula, in bold, or a short text or last line as a whole. */
export function finalResult(text: string): string {
  const marked = lastBoxes(text) ?? afterMarker(text) ?? announced(text);
  if (marked !== null) return marked;
  const plain = text.trim();
  const formulas = formulasOf(text);
  const hasProse = formulas.length > 0 && lettered.test(text.slice(0, formulas[0]!.start));
  if (isShort(plain) && !hasProse) return bare(plain);
  if (formulas.length > 0) return lastJoined(text, formulas);
  const bold = boldParts(text).findLast(
    (part) => isShort(part) && /^[-−$\\(\d]|^\S$|=/u.test(part),
  );
  if (bold !== undefined) return bare(bold);
  const line = plain.slice(plain.lastIndexOf("\n") + 1).trim();
  return isShort(line) ? bare(line) : plain;
}

const isShort = (text: string): boolean => !text.includes("\n") && text.split(" ", 6).length <= 4;

interface Span {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

/** The last box, with those before it that "and", "or" or a comma joins to it. */
export function lastBoxes(text: string): string | null {
  const last = lastBoxed(text);
  if (last === null) return null;
  const parts = [last];
  let start = Math.max(text.lastIndexOf("\\boxed"), text.lastIndexOf("\\fbox"));
  while (start > 0 && parts.length < 10) {
    const before = Math.max(
      text.lastIndexOf("\\boxed", start - 1),
      text.lastIndexOf("\\fbox", start - 1),
    );
    // Not a box whose content would have to be searched for in all of the text.
    if (before === -1 || start - before > 500) break;
    const box = boxAt(text.slice(before, start), 0);
    const between = box === null ? "" : text.slice(before + box.end, start);
    if (box === null || !joined.test(between) || /^[\s$]*$/u.test(between)) break;
    parts.unshift(box.content);
    start = before;
  }
  return parts.join(", ");
}

/** What follows the last "answer is" or "answer:" that a value follows; else the last of all. */
function announced(text: string): string | null {
  const places = announcement
    .all(text)
    .map(({ groups, index }) => index + groups[0]!.length)
    .slice(-20);
  const rests = places.map((place) => text.slice(place).replace(/^[\s*_]{1,200}/u, ""));
  const found =
    rests.findLast((rest) =>
      /^(?:[-+−$€£¥\\([{.\d√π±]|[A-Za-z] ?[=^),.]|[A-Za-z]\s*$)/u.test(rest),
    ) ?? rests.findLast((rest) => rest !== "");
  return found === undefined ? null : leading(found.split("</answer>", 1)[0]!);
}

/** The result at the start of a text that may go on. */
function leading(text: string): string {
  if (/^(?:\$|\\[([])/u.test(text)) {
    const all = formulasOf(text.slice(0, 5_000));
    const isNext = (span: Span, i: number): boolean =>
      i === 0 ? span.start === 0 : isJoined(text.slice(all[i - 1]!.end, span.start));
    const end = all.findIndex((span, i) => !isNext(span, i));
    const run = end === -1 ? all : all.slice(0, end);
    if (run.length > 0) return joinedContent(run) + unitAfter(text.slice(run.at(-1)!.end));
  }
  const line = text.split("\n", 1)[0]!;
  const sentence = line.split(/[.?](?:\s|\*|_|$)/u, 1)[0]!;
  // In a sentence, "5 m" has a unit and "5m" a variable.
  return withoutProse(bare(sentence)).replace(/(\d) ([msghL])$/u, "$1\\text{ $2}");
}

/** "%" and "cm" after a formula belong to it; other words do not. */
function unitAfter(text: string): string {
  const [found = ""] = /^ ?(?:\\?%|[A-Za-z]{2,20})/u.exec(text) ?? [];
  return found.endsWith("%") || unitOfWord(found.trim().toLowerCase()) !== null ? found : "";
}

const joinedContent = (spans: readonly Span[]): string =>
  spans.map(({ content }) => content).join(", ");

/** Up to the first word that is neither of a formula nor a unit; of words, up to the first comma. */
function withoutProse(text: string): string {
  const words = text.split(" ");
  const isProse = (word: string): boolean => {
    if (/\\/u.test(word)) return false;
    const plain = word.toLowerCase().replaceAll(/[^a-z]/gu, "");
    if (!/^[("]?[A-Za-z]+[),.:;"]*$/u.test(word) || plain.length < 2) return false;
    return !formulaWords.test(plain) && unitOfWord(plain) === null;
  };
  // Words in braces, as in `\text{two words}`, belong to the formula.
  let depth = 0;
  const end = words.findIndex((word) => {
    if (depth === 0 && isProse(word)) return true;
    depth += word.split("{").length - word.split("}").length;
    return false;
  });
  if (end === -1) return text;
  if (end === 0) return text.split(/,| because | since |;| \(/u, 1)[0]!;
  return bare(words.slice(0, end).join(" ")).replace(/,? (?:and|or)$/u, "");
}

/** Without signs of Markdown and punctuation around it. */
function bare(text: string): string {
  const plain = text.replaceAll("**", "").replaceAll("__", "").trim().replace(fillers, "");
  let end = plain.length;
  while (end > 0 && ".,;: `*(–—-".includes(plain[end - 1]!)) end--;
  return plain.slice(0, end).replace(/^[`*]+/u, "");
}

const isJoined = (between: string): boolean => /^\s*(?:,|;|,? ?(?:and|or))\s*$/u.test(between);

/** The last formula, with those before it that "and", "or" or a comma joins to it. */
function lastJoined(text: string, formulas: readonly Span[]): string {
  let first = formulas.length - 1;
  while (first > 0 && isJoined(text.slice(formulas[first - 1]!.end, formulas[first]!.start)))
    first--;
  return joinedContent(formulas.slice(first));
}

/** The sign that opens a formula here; "" where none does. */
function openingAt(text: string, at: number): string {
  if (text[at] === "$") return text[at + 1] === "$" ? "$$" : "$";
  if (text[at] !== "\\") return "";
  if (text[at + 1] === "(" || text[at + 1] === "[") return text.slice(at, at + 2);
  const environment = /^\\begin\{(?:align|aligned|gather|equation|split|eqnarray)\*?\}/u;
  return environment.exec(text.slice(at, at + 30))?.[0] ?? "";
}

/** What stands between `$`, `$$`, `\(` and `\)`, `\[` and `\]`, in order. */
function formulasOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  // Once a sign has no end, it has none further on.
  const without = new Set<string>();
  for (let i = 0; i < text.length; i++) {
    const open = openingAt(text, i);
    const close =
      { $: "$", $$: "$$", "\\(": "\\)", "\\[": "\\]" }[open] ?? open.replace("begin", "end");
    if (open === "") {
      if (text[i] === "\\") i++;
      continue;
    }
    const end = without.has(close) ? -1 : text.indexOf(close, i + open.length);
    if (end === -1) {
      without.add(close);
      i += open.length - 1;
      continue;
    }
    const content = text.slice(i + open.length, end);
    // "$5 and $6" are two prices.
    const isPrice = open === "$" && /\d/u.test(text[end + 1] ?? "") && lettered.test(content);
    if (isPrice) continue;
    const all = open.length > 2 ? `${open}${content}${close}` : content;
    spans.push({ start: i, end: end + close.length, content: all.trim() });
    i = end + close.length - 1;
  }
  return spans.filter(({ content }) => content !== "");
}

const boldParts = (text: string): readonly string[] =>
  text.split("**").filter((_part, i, all) => i % 2 === 1 && i < all.length - 1);
