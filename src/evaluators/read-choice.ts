/** Which letter a text picks. */
import { lastBoxed } from "./boxed.ts";
import { linearPattern, type LinearPattern } from "./linear-pattern.ts";
import { normalizeAnswer } from "./normalize-answer.ts";

export const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const adverbs = String.raw`(?:(?:[a-z]+ly|most|thus|therefore|indeed|still)\s+){0,2}`;
const named = String.raw`(?:(?:option|choice|answer|letter)\s*:?\s*)?[\s"'“‘(\[]*([a-z])`;
/** Words that say which is the answer. Each match ends with the letter. */
const verdict = linearPattern(
  String.raw`\b(?:answer|choice|option)\s*(?:(?:is|was|would be|should be|must be)\b|[:=→>–—-])[\s:=→>–—-]*${adverbs}${named}`,
  "i",
);
/** Words that say so where there are no others. */
const mention = linearPattern(
  String.raw`\b(?:answer|choice|option|choose|pick|select|go with|it is|it's|it must be)\s+${named}`,
  "i",
);
const alone = linearPattern(String.raw`[\s("'\[]*([A-Za-z])[\s)"'\].:]*`);
const label = linearPattern(
  String.raw`^[ \t>#-]*\(?([A-Za-z])(?:\)|[.:](?:\s|$)|[ \t]+(?:[–—-]|because)[ \t])`,
  "m",
);
// (i) counts as a number.
const inParentheses = linearPattern(String.raw`(?:^|[^A-Za-z0-9])\(([A-Za-hj-z])\)`);

/** Commands of LaTeX that set a text, around it. */
const set = /\\(?:text(?:bf|it|rm|sf)?|math(?:bf|it|rm|sf)|mbox)\{([^{}]{0,200})\}/gu;
/** Without marks of Markdown, HTML and LaTeX. */
const unmarked = (text: string): string =>
  text
    .replaceAll(set, "$1")
    .replaceAll(set, "$1")
    .replaceAll(/<\/?[a-z]{1,20}>/giu, "")
    .replaceAll(/\\[()[\],;! ]|[*_`$~]/gu, (mark) => (/[,;! ~]/u.test(mark) ? " " : ""));

/** Two letters, of which neither is picked: "A or B", "a, b and c". */
const several = /^\W*(?:, *\(?[a-z]\)?\W*)*(?:and|or|&|\/) *\(?[a-z]\)? *(?:[.,;!?\n]|$)/iu;

/** Whether a letter between these texts stands for a choice, and is neither a word nor a part of one. */
function isPick(letter: string, before: string, after: string): boolean {
  if (/^(?:[\p{L}\p{N}]|['’.-][\p{L}\p{N}])/u.test(after)) return false;
  const isWord = /^[ \t]+(?!(?:because|since|as)\b)[\p{L}\p{N}]/u.test(after);
  if (!isWord || !/[ai]/iu.test(letter)) return true;
  // "The answer is A by elimination", but "Answer: A dog", "I think", and "the answer is a bit".
  return letter === "A" && !/[:=→>–—-]\s*["'“‘]*$/u.test(before);
}

/** What is not a letter, where a text picks several. */
const unclear = "?";

function lastPick(pattern: LinearPattern, text: string): string | null {
  const picks = pattern.all(text).flatMap(({ groups, index }) => {
    const end = index + groups[0]!.length;
    const [letter, after] = [groups[1]!, text.slice(end, end + 60)];
    if (!isPick(letter, text.slice(index, end - 1), after)) return [];
    return [several.test(after) ? unclear : letter];
  });
  return picks.at(-1) ?? null;
}

/** The letter at the start of lines, where it is the same one in all of them. */
function onlyLabel(text: string): string | null {
  const letters = new Set(label.all(text).map(({ groups }) => groups[1]!.toUpperCase()));
  return letters.size === 1 ? [...letters][0]! : null;
}

function sameText(text: string, choices: readonly string[]): string | null {
  const plain = normalizeAnswer(text);
  const same = choices.flatMap((choice, i) => (normalizeAnswer(choice) === plain ? [i] : []));
  return same.length === 1 && plain !== "" ? alphabet[same[0]!]! : null;
}

/** The letter that a text picks; null when it picks none of them clearly. */
export function readChoice(text: string, choices: readonly string[]): string | null {
  const letters = alphabet.slice(0, choices.length === 0 ? 10 : choices.length);
  const boxed = lastBoxed(text);
  const inBox = boxed === null ? null : readPlain(boxed, choices, letters);
  return inBox ?? readPlain(text, choices, letters);
}

function readPlain(text: string, choices: readonly string[], letters: string): string | null {
  const plain = unmarked(text).trim();
  const rules = [
    () => lastPick(verdict, plain),
    () => alone.full(plain.slice(plain.lastIndexOf("\n") + 1))?.[1],
    () => alone.full(plain.split("\n", 1)[0]!)?.[1],
    () => onlyLabel(plain),
    () => lastPick(mention, plain),
    () => sameText(plain, choices),
    () => inParentheses.findLast(plain)?.[1],
  ];
  for (const rule of rules) {
    const letter = rule()?.toUpperCase();
    if (letter === unclear) return null;
    if (letter !== undefined && letters.includes(letter)) return letter;
  }
  return null;
}
