/** Verifiable instructions; the texts follow the cases of IFEval's own tests. */
import { describe, expect, it } from "vitest";
import { instructionFollowing } from "../../src/evaluators/index.ts";
import { instructionIds } from "../../src/evaluators/instructions/instruction-rules.ts";
import { episodeOf, taskOf } from "./episode-of.ts";
import { processorClock } from "../processor-time.ts";

type Case = readonly [id: string, args: Record<string, unknown>, text: string, follows: boolean];
const lessThan = (name: string, value: number) => ({ relation: "less than", [name]: value });
const atLeast = (name: string, value: number) => ({ relation: "at least", [name]: value });

const cases: readonly Case[] = [
  ["keywords:existence", { keywords: ["Seine", "mona lisa"] }, "The Mona Lisa, by the Seine", true],
  ["keywords:existence", { keywords: ["Seine", "Louvre"] }, "By the Seine", false],
  [
    "keywords:frequency",
    { keyword: " keyword ", ...lessThan("frequency", 4) },
    "keyword, Keyword, KEYWORD",
    true,
  ],
  [
    "keywords:frequency",
    { keyword: "keyword", ...atLeast("frequency", 3) },
    "*keyword *Keyword *KEYWORD",
    true,
  ],
  [
    "keywords:frequency",
    { keyword: "KEYWORD", ...atLeast("frequency", 4) },
    "keyword keyword keyword",
    false,
  ],
  [
    "keywords:forbidden_words",
    { forbidden_words: ["HOUSE", "POWER"] },
    "came to power in 1933",
    false,
  ],
  [
    "keywords:forbidden_words",
    { forbidden_words: ["GENE", "TRANSFORM"] },
    "Generative Transformer",
    true,
  ],
  [
    "keywords:letter_frequency",
    { letter: "T", let_relation: "at least", let_frequency: 3 },
    "tTt",
    true,
  ],
  [
    "keywords:letter_frequency",
    { letter: "t", let_relation: "less than", let_frequency: 3 },
    "tTt",
    false,
  ],
  [
    "length_constraints:number_sentences",
    lessThan("num_sentences", 4),
    "xx,x. xx,x! xx/x. x{x}x?",
    false,
  ],
  [
    "length_constraints:number_sentences",
    lessThan("num_sentences", 5),
    "xxxx. xx,x! xxxx. x(x)x?",
    true,
  ],
  [
    "length_constraints:number_sentences",
    atLeast("num_sentences", 4),
    "xxxx. xx,x! xx|x. x&x x?",
    true,
  ],
  [
    "length_constraints:number_sentences",
    atLeast("num_sentences", 5),
    "xx-x. xx,x! xx}x. x,xx?",
    false,
  ],
  [
    "length_constraints:number_sentences",
    atLeast("num_sentences", 3),
    "Dr. Who paid 3.5 to J. Doe... Then left.",
    false,
  ],
  ["length_constraints:number_paragraphs", { num_paragraphs: 3 }, "a\n***\nb\n***\nc", true],
  ["length_constraints:number_paragraphs", { num_paragraphs: 3 }, "***\na\n***\nb\n***\nc", true],
  ["length_constraints:number_paragraphs", { num_paragraphs: 3 }, "a\n***\nb\n***\nc\n***", true],
  ["length_constraints:number_paragraphs", { num_paragraphs: 2 }, "a\n***\nb\n***\n***", false],
  ["length_constraints:number_paragraphs", { num_paragraphs: 1 }, "a", true],
  [
    "length_constraints:number_words",
    lessThan("num_words", 8),
    "d3sCRi7 lArge lAnguagE M0del w1tH 20 w0RdS.",
    true,
  ],
  [
    "length_constraints:number_words",
    atLeast("num_words", 8),
    "d3sCRi7 lArge lAnguagE M0del w1tH 20 w0RdS.",
    false,
  ],
  [
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 3, nth_paragraph: 2, first_word: "I" },
    "p 1\n\nI p 2\n\np 3",
    true,
  ],
  [
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 3, nth_paragraph: 2, first_word: "I" },
    "p 1\n\nI p 2",
    false,
  ],
  [
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 3, nth_paragraph: 2, first_word: "I" },
    "p 1\n\nfail\n\np 3",
    false,
  ],
  [
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 1, nth_paragraph: 1, first_word: "Really" },
    '"Really?! more',
    true,
  ],
  [
    "length_constraints:nth_paragraph_first_word",
    { num_paragraphs: 1, nth_paragraph: 1, first_word: "really" },
    "Rea!lly more",
    false,
  ],
  ["detectable_content:number_placeholders", { num_placeholders: 2 }, "[Name]\n[Email]", true],
  ["detectable_content:number_placeholders", { num_placeholders: 3 }, "[a] [b] [c", false],
  ["detectable_content:postscript", { postscript_marker: "P.S." }, "Text.\n\nP. S. more", true],
  ["detectable_content:postscript", { postscript_marker: "P.P.S" }, "text\np.p.s what", true],
  ["detectable_content:postscript", { postscript_marker: "PS:" }, "P.S. I hope", false],
  [
    "detectable_format:number_bullet_lists",
    { num_bullets: 3 },
    "asterisk (*):\n* a\n*(b)\n  * c *d",
    true,
  ],
  ["detectable_format:number_bullet_lists", { num_bullets: 3 }, "Bullets:\n - a\n - b\n -c", true],
  ["detectable_format:number_bullet_lists", { num_bullets: 1 }, "P 1\n***\nP 2\n* one", true],
  ["detectable_format:number_bullet_lists", { num_bullets: 1 }, "* a\n* b", false],
  ["detectable_format:constrained_response", {}, "\n My answer is no.\n", true],
  ["detectable_format:constrained_response", {}, "My answer is never.", false],
  [
    "detectable_format:number_highlighted_sections",
    { num_highlights: 2 },
    "type:*hello*, **hello**",
    true,
  ],
  ["detectable_format:number_highlighted_sections", { num_highlights: 2 }, "*A\n*B*\n*C\n", false],
  ["detectable_format:number_highlighted_sections", { num_highlights: 1 }, "** ** ****", false],
  [
    "detectable_format:multiple_sections",
    { section_spliter: "SECTION", num_sections: 2 },
    "SECTION 1\na\nSECTION 2\nb",
    true,
  ],
  [
    "detectable_format:multiple_sections",
    { section_spliter: "Section", num_sections: 3 },
    '"Section X":\nSection 1\na\nSection 2\nb',
    false,
  ],
  ["detectable_format:json_format", {}, '```json\n{"a": 1}\n```', true],
  ["detectable_format:json_format", {}, "{a: 1}", false],
  ["detectable_format:title", {}, "<<poem of joy>>\ntext", true],
  ["detectable_format:title", {}, "<< >> <a>", false],
  ["combination:two_responses", {}, "one\n******\ntwo", true],
  ["combination:two_responses", {}, "******one\n******\ntwo******", true],
  ["combination:two_responses", {}, "one******one", false],
  ["combination:two_responses", {}, "one******two******three", false],
  ["combination:repeat_prompt", { prompt_to_repeat: "Write a poem" }, "write a poem. Roses", true],
  ["combination:repeat_prompt", { prompt_to_repeat: "Write a poem" }, "OK: write a poem", false],
  [
    "startend:end_checker",
    { end_phrase: "Any other questions?" },
    'Text. "any other questions?"',
    true,
  ],
  [
    "startend:end_checker",
    { end_phrase: "Any other questions?" },
    "Any other questions? No.",
    false,
  ],
  ["startend:quotation", {}, ' "text" ', true],
  ["startend:quotation", {}, '"', false],
  [
    "change_case:capital_word_frequency",
    { capital_relation: "at least", capital_frequency: 2 },
    "THE quick FOX",
    true,
  ],
  [
    "change_case:capital_word_frequency",
    { capital_relation: "less than", capital_frequency: 2 },
    "THE quick FOX",
    false,
  ],
  ["change_case:english_capital", {}, "ALL CAPITALS, 1!", true],
  ["change_case:english_capital", {}, "1!", false],
  ["change_case:english_lowercase", {}, "all lower.", true],
  ["change_case:english_lowercase", {}, "Not all.", false],
  ["punctuation:no_comma", {}, "none here", true],
  ["punctuation:no_comma", {}, "one, here", false],
];

const row = (list: readonly (readonly [string, Record<string, unknown> | null])[]) =>
  taskOf({ instruction_id_list: list.map(([id]) => id), kwargs: list.map(([, args]) => args) });

describe("instructionFollowing", () => {
  it.each(cases)("%s %j in %j: %s", (id, args, text, follows) => {
    expect(instructionFollowing()(row([[id, args]]), episodeOf(text)).reward).toBe(follows ? 1 : 0);
  });

  it("has a case for each instruction, both ways", () => {
    const covered = (side: boolean) =>
      [...new Set(cases.filter(([, , , follows]) => follows === side).map(([id]) => id))].sort();
    expect(covered(true)).toEqual([...instructionIds].sort());
    expect(covered(false)).toEqual([...instructionIds].sort());
    expect(instructionIds).toHaveLength(24);
  });

  it("gives 1 for all or, partially, the fraction", () => {
    const task = row([
      ["punctuation:no_comma", null],
      ["startend:quotation", {}],
    ]);
    expect(instructionFollowing()(task, episodeOf("none"))).toMatchObject({
      reward: 0,
      isCorrect: false,
      signals: [{ name: "followed", value: 0.5 }],
      metadata: { failed: ["startend:quotation"] },
    });
    expect(instructionFollowing({ partial: true })(task, episodeOf("none")).reward).toBe(0.5);
    expect(instructionFollowing()(task, episodeOf('"none"')).reward).toBe(1);
  });

  it("ignores the first line, the last line and asterisks where it is loose", () => {
    const task = row([["startend:quotation", {}]]);
    const text = 'Sure:\n**"text"**\nDone.';
    expect(instructionFollowing()(task, episodeOf(text)).reward).toBe(0);
    expect(instructionFollowing({ loose: true })(task, episodeOf(text)).reward).toBe(1);
  });

  it("an empty text follows nothing", () => {
    expect(instructionFollowing()(row([["punctuation:no_comma", {}]]), episodeOf(" ")).reward).toBe(
      0,
    );
  });

  it.each([
    [row([["language:response_language", { language: "de" }]]), /not known/u],
    [row([["keywords:existence", {}]]), /argument keywords is undefined, not a list/u],
    [row([["keywords:frequency", { keyword: "a", frequency: 1, relation: "about" }]]), /"about"/u],
    [taskOf({}), /no instructions/u],
    [row([]), /no instructions/u],
  ])("refuses %j", (task, message) => {
    expect(() => instructionFollowing()(task, episodeOf("x"))).toThrow(message);
  });

  it.each(["*", "[", "<<", '"', ".", "a. ", "\n", "- \n", "SECTION 1", " ", "p."])(
    "is quick with many %j",
    (part) => {
      const seconds = processorClock();
      const text = part.repeat(Math.floor(95_000 / part.length));
      for (const [id, args] of cases) {
        instructionFollowing()(row([[id, args]]), episodeOf(text));
      }
      expect(seconds()).toBeLessThan(20);
    },
  );
});
