/** The verifiable instructions of IFEval (Zhou et al., 2023), by their ids, as checks of a text. */
import { linearPattern } from "../linear-pattern.ts";
import { readResponse } from "../json/read-json.ts";
import { countOf, hasWord, isAll, sentencesOf, wordsOf } from "./text-parts.ts";

/** The arguments of an instruction, named as in IFEval's files. */
export type InstructionArguments = Readonly<Record<string, unknown>>;

/** Thrown for an argument that is missing or wrong. */
export class ArgumentProblem extends Error {}

type Rule = (text: string, read: Reader) => boolean;

interface Reader {
  count(name: string): number;
  text(name: string): string;
  texts(name: string): readonly string[];
  /** Whether a number is in the relation to the count. */
  holds(relation: string, actual: number, count: number): boolean;
}

/** Typed access to arguments. */
function readerOf(args: InstructionArguments): Reader {
  const value = (name: string): unknown => (Object.hasOwn(args, name) ? args[name] : undefined);
  const problem = (name: string, what: string): ArgumentProblem =>
    new ArgumentProblem(`the argument ${name} is ${JSON.stringify(value(name))}, not ${what}`);
  const text = (name: string): string => {
    const found = value(name);
    if (typeof found !== "string") throw problem(name, "a text");
    return found;
  };
  return {
    text,
    count(name) {
      const found = value(name);
      if (typeof found !== "number" || !(found >= 0)) throw problem(name, "a number from 0 on");
      return found;
    },
    texts(name) {
      const found = value(name);
      const isList = Array.isArray(found) && found.every((one) => typeof one === "string");
      if (!isList) throw problem(name, "a list of texts");
      return found;
    },
    holds(name, actual, count) {
      const relation = text(name);
      if (relation === "less than") return actual < count;
      if (relation === "at least") return actual >= count;
      throw problem(name, '"less than" or "at least"');
    },
  };
}

const placeholder = linearPattern(String.raw`\[.*?\]`);
const starBullet = linearPattern(String.raw`^\s*\*[^*].*$`, "m");
const dashBullet = linearPattern(String.raw`^\s*-.*$`, "m");
const highlight = linearPattern(String.raw`\*[^\n*]*\*`);
const doubleHighlight = linearPattern(String.raw`\*\*[^\n*]*\*\*`);
const title = linearPattern(String.raw`<<[^\n]+>>`);
const ps = linearPattern(String.raw`p\.\s?s\.`);
const pps = linearPattern(String.raw`p\.\s?p\.\s?s`);

const isEmpty = (text: string): boolean => text.trim() === "";

const trimChars = (text: string, chars: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && chars.includes(text[start]!)) start++;
  while (end > start && chars.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
};

/** Paragraphs between `***`: an empty one counts as none at either end, and fails in the middle. */
function dividedParagraphs(text: string): number | null {
  const parts = text.split("***");
  const inner = parts.slice(1, -1);
  if (inner.some(isEmpty)) return null;
  const ends = parts.length === 1 ? parts : [parts[0]!, parts.at(-1)!];
  return inner.length + ends.filter((part) => !isEmpty(part)).length;
}

function nthParagraph(text: string, read: Reader): boolean {
  const paragraphs = text.split("\n\n");
  const count = paragraphs.filter((one) => !isEmpty(one)).length;
  const nth = read.count("nth_paragraph");
  const paragraph = nth <= count ? (paragraphs[nth - 1] ?? "").trim() : "";
  if (paragraph === "") return false;
  const word = trimStartChars(paragraph.split(/\s/u, 1)[0]!);
  const first = word.split(/[.,?!'"]/u, 1)[0]!.toLowerCase();
  return count === read.count("num_paragraphs") && first === read.text("first_word").toLowerCase();
}

const trimStartChars = (word: string): string => {
  let start = 0;
  while (word[start] === "'") start++;
  while (word[start] === '"') start++;
  return word.slice(start);
};

function twoResponses(text: string): boolean {
  const parts = text.split("******");
  if (parts.slice(1, -1).some(isEmpty)) return false;
  const responses = parts.filter((part) => !isEmpty(part)).map((part) => part.trim());
  return responses.length === 2 && responses[0] !== responses[1];
}

/** `Section 1`, `Section 2` ...: a marker is followed by a number, with at most one space between. */
function sections(text: string, marker: string): number {
  return text.split(marker).filter((part, i) => i > 0 && /^\s?\d/u.test(part)).length;
}

function postscript(text: string, marker: string): boolean {
  const lower = text.toLowerCase();
  if (marker === "P.P.S") return pps.find(lower) !== null;
  if (marker === "P.S.") return ps.find(lower) !== null;
  return lower.includes(marker.toLowerCase());
}

const rules: Readonly<Record<string, Rule>> = {
  "keywords:existence": (text, read) =>
    read.texts("keywords").every((one) => countOf(text, one) > 0),
  "keywords:frequency": (text, read) =>
    read.holds("relation", countOf(text, read.text("keyword").trim()), read.count("frequency")),
  "keywords:forbidden_words": (text, read) =>
    !read.texts("forbidden_words").some((one) => hasWord(text, one)),
  "keywords:letter_frequency": (text, read) =>
    read.holds("let_relation", countOf(text, read.text("letter")), read.count("let_frequency")),
  "length_constraints:number_sentences": (text, read) =>
    read.holds("relation", sentencesOf(text).length, read.count("num_sentences")),
  "length_constraints:number_paragraphs": (text, read) =>
    dividedParagraphs(text) === read.count("num_paragraphs"),
  "length_constraints:number_words": (text, read) =>
    read.holds("relation", wordsOf(text).length, read.count("num_words")),
  "length_constraints:nth_paragraph_first_word": nthParagraph,
  "detectable_content:number_placeholders": (text, read) =>
    placeholder.all(text).length >= read.count("num_placeholders"),
  "detectable_content:postscript": (text, read) =>
    postscript(text, read.text("postscript_marker").trim()),
  "detectable_format:number_bullet_lists": (text, read) =>
    starBullet.all(text).length + dashBullet.all(text).length === read.count("num_bullets"),
  "detectable_format:constrained_response": (text) =>
    ["yes", "no", "maybe"].some((one) => text.includes(`My answer is ${one}.`)),
  "detectable_format:number_highlighted_sections": (text, read) =>
    [highlight, doubleHighlight]
      .flatMap((pattern) => pattern.all(text))
      .filter(({ groups }) => !isEmpty(trimChars(groups[0] ?? "", "*"))).length >=
    read.count("num_highlights"),
  "detectable_format:multiple_sections": (text, read) =>
    sections(text, read.text("section_spliter").trim()) >= read.count("num_sections"),
  "detectable_format:json_format": (text) => "value" in readResponse(text),
  "detectable_format:title": (text) =>
    title.all(text).some(({ groups }) => !isEmpty(trimChars(groups[0] ?? "", "<>"))),
  "combination:two_responses": twoResponses,
  "combination:repeat_prompt": (text, read) =>
    text.trim().toLowerCase().startsWith(read.text("prompt_to_repeat").trim().toLowerCase()),
  "startend:end_checker": (text, read) =>
    trimChars(text.trim(), '"')
      .toLowerCase()
      .endsWith(read.text("end_phrase").trim().toLowerCase()),
  "startend:quotation": (text) => {
    const trimmed = text.trim();
    return trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"');
  },
  "change_case:capital_word_frequency": (text, read) =>
    read.holds(
      "capital_relation",
      text.split(/[\s.,;:!?()"]/u).filter((word) => isAll(word, "upper")).length,
      read.count("capital_frequency"),
    ),
  "change_case:english_capital": (text) => isAll(text, "upper"),
  "change_case:english_lowercase": (text) => isAll(text, "lower"),
  "punctuation:no_comma": (text) => !text.includes(","),
};

/** The ids of all instructions that can be checked. */
export const instructionIds: readonly string[] = Object.keys(rules);

/**
 * Whether a text follows an instruction; null for an id that is not known.
 * @throws ArgumentProblem
 */
export function follows(text: string, id: string, args: InstructionArguments): boolean | null {
  return Object.hasOwn(rules, id) ? rules[id]!(text, readerOf(args)) : null;
}
