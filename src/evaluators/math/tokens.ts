/** Answers in LaTeX, plain notation or Unicode to tokens: layout is dropped, spellings become one. */
import { unitOfWord } from "./units.ts";

/** One token. `isUpright`: from `\text{}` or `\mathrm{}`. */
export interface Token {
  readonly kind: "number" | "based" | "name" | "word" | "command" | "sign";
  readonly text: string;
  readonly isUpright?: boolean;
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const map = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(" ").map((pair) => {
      const at = pair.indexOf(">", 1);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

/** Known by name in plain notation too, longest first. */
export const functions: ReadonlySet<string> = set(
  "asin acos atan sinh cosh tanh sin cos tan sec csc cot log lg ln exp abs",
);
const greek = set(
  "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi rho sigma tau " +
    "phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell",
);
const plainWords = [
  ...["arcsin", "arccos", "arctan", "infinity", "infty", "sqrt", "theta", "alpha", "lambda", "pi"],
  ...functions,
].toSorted((a, b) => b.length - a.length);
const ignored = set(
  "left right middle displaystyle textstyle limits big Big bigg Bigg bigl bigr Bigl Bigr " +
    "biggl biggr Biggl Biggr quad qquad thinspace ! , ; : > ( ) [ ] rm bf it mathbf boldsymbol bm",
);
const textCommands = set(
  "text mathrm textbf textit textrm textnormal textsf texttt mathit mathsf mbox hbox operatorname",
);
const spellings = map(
  "dfrac>frac tfrac>frac cfrac>frac dbinom>binom tbinom>binom arcsin>asin arccos>acos " +
    "arctan>atan infty>inf infinity>inf varnothing>emptyset",
);
const signOf = map(
  "cdot>* times>* ast>* div>/ lbrace>\\{ rbrace>\\} lvert>| rvert>| vert>| mid>| langle>( rangle>) " +
    "lbrack>[ rbrack>] lparen>( rparen>) le><= leq><= leqslant><= ge>>= geq>>= geqslant>>= lt>< gt>> " +
    "ne>!= neq>!= approx>~ simeq>~ in>in cup>cup cap>cap setminus>setminus pm>pm mp>mp colon>: " +
    "{>\\{ }>\\} %>% &>& degree>deg euro>€ pounds>£",
);
const signOfChar = map(
  "−>- –>- ‐>- ·>* ⋅>* ×>* ∗>* ÷>/ ∕>/ ⁄>/ ≤><= ≥>>= ≠>!= ≈>~ ∈>in ∪>cup ∩>cap ±>pm ∓>mp °>deg º>deg " +
    "⟨>( ⟩>) （>( ）>) ，>, ：>: ∖>setminus ′>' ’>'",
);
const nameOfChar = map(
  "π>pi ∞>inf √>sqrt θ>theta α>alpha β>beta γ>gamma δ>delta λ>lambda μ>mu σ>sigma φ>phi ω>omega ℓ>ell",
);
const separators = set("and or");
/** Environments of lines, whose ends have no meaning. */
const lines = set("align aligned alignat gather gathered equation split multline eqnarray");
/** Short words that are no product of variables. */
const shortWords = set(
  "yes no odd even the not one two six ten all any has are is am pm th st nd rd",
);
const bases = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

// Sticky: each reads on from where the last one ended, so that all together are linear.
const spaces = /[\s$~\u{ad}\u{200b}\u{2060}]+/uy;
const letters = /[A-Za-z]+/uy;
const based =
  /\(?(\d[\dA-F]{0,999})\)?_(?:\{ ?(\d{1,2}) ?\}|(\d{1,2})(?!\d)|\{? ?\\text ?\{ ?(\w+) ?\} ?\}?|\{(\w+)\})/uy;
const groupedBy = String.raw`\{,\}|, ?\\! ?|\\[,;:] ?|[\u{a0}\u{202f}\u{2009} '’_~]`;
const grouped = (comma: string): RegExp =>
  new RegExp(String.raw`([1-9]\d{0,2}(?:(?:${comma}${groupedBy})\d{3})+)(?!\d|,\d)(\.\d+)?`, "uy");
const groupedOutside = grouped(",|");
const groupedInside = grouped("");
const european = /(\d{1,3}(?:\.\d{3})+),(\d{1,2})(?![\d,])|(\d{1,3}(?:\.\d{3}){2,})(?!\d)/uy;
const decimal = /(?:\d+(?:\.\d*)?|\.\d+)/uy;
const exponent = /[eE]([-+−]?\d{1,5})(?![\d.])/uy;
const repeating = /\\(?:overline|bar|dot) ?(?:\{(\d{1,50})\}|(\d))|\((\d{1,50})\)|(\d)\u{305}/uy;
const dots = /\.{3}|…|\\[lc]?dots(?![A-Za-z])/uy;
const degrees =
  /(?:\^ ?(?:\{ ?\\circ ?\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])|°)(?:[\s\\,]*(?:\\(?:text|mathrm) ?\{ ?)?([CF])(?:\}|(?![A-Za-z])))?/uy;
const environment = /\\(begin|end) ?\{([a-z]+)\*?\}(?:\{[clr| ]*\}|\[[a-z]\])?/uy;
const blackboard = /\\mathbb ?(?:\{ ?([A-Z]) ?\}|([A-Z]))/uy;
const opening = /\*? ?\{/uy;
const dayHalf = /([ap])\. ?m\.?(?![A-Za-z])/uy;
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ";
const subscripts = "₀₁₂₃₄₅₆₇₈₉";

const maxTokens = 2_000;
export const maxDigits = 6_000;

/** The tokens of an answer; null where it is longer than any answer. */
export function tokensOf(text: string): readonly Token[] | null {
  const reader = new Reader(text);
  return reader.read() ? reader.tokens : null;
}

class Reader {
  readonly tokens: Token[] = [];
  readonly #text: string;
  #at = 0;
  /** Brackets in which a comma separates parts, and not thousands. */
  #brackets = 0;
  readonly #environments: string[] = [];
  /** Depth of braces within `\text{}`; null outside. */
  #inText: number | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  read(): boolean {
    while (this.#at < this.#text.length) {
      if (this.tokens.length > maxTokens) return false;
      this.#next();
    }
    return this.tokens.length <= maxTokens;
  }

  #add(kind: Token["kind"], text: string): void {
    this.tokens.push(this.#inText === null ? { kind, text } : { kind, text, isUpright: true });
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #next(): void {
    if (this.#match(spaces) !== null) return;
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    const half = /[ap]/u.test(char) ? this.#match(dayHalf) : null;
    if (half !== null) return this.#add("word", `${half[1]}m`);
    if (/[\d.(]/u.test(char) && this.#number()) return;
    if (/[A-Za-z]/u.test(char)) return this.#letters(this.#match(letters)![0]);
    const degree = /[\\^°]/u.test(char) ? this.#match(degrees) : null;
    if (degree !== null) {
      return degree[1] === undefined ? this.#add("sign", "deg") : this.#add("word", degree[1]);
    }
    if (char === "\\") return this.#command();
    this.#at += char.length;
    this.#other(char);
  }

  #other(char: string): void {
    if (superscripts.includes(char) || subscripts.includes(char)) {
      this.#add("sign", superscripts.includes(char) ? "^" : "_");
      const all = superscripts.includes(char) ? superscripts : subscripts;
      let run = char;
      while (this.#at < this.#text.length && all.includes(this.#text[this.#at]!)) {
        run += this.#text[this.#at++]!;
      }
      return this.#group(run.normalize("NFKC").replaceAll("−", "-"));
    }
    const plain = char.normalize("NFKC");
    if (/^\d+⁄\d+$/u.test(plain)) {
      this.#add("command", "frac");
      for (const part of plain.split("⁄")) this.#group(part);
      return;
    }
    if (char === "ℝ") return this.#add("command", "reals");
    if (char === "∅") return this.#add("command", "emptyset");
    const name = nameOfChar.get(char);
    if (name !== undefined) return this.#add("name", name);
    if (char === "*" && this.#text[this.#at] === "*") {
      this.#at++;
      return this.#add("sign", "^");
    }
    if (/[<>!]/u.test(char) && this.#text[this.#at] === "=") {
      this.#at++;
      return this.#add("sign", `${char}=`);
    }
    if (this.#inText !== null && "{}".includes(char)) {
      this.#inText += char === "{" ? 1 : -1;
      if (this.#inText === 0) {
        this.#inText = null;
        return;
      }
    }
    // The end of a sentence or of "sq."
    if (char === ".") return;
    this.#sign(signOfChar.get(char) ?? (char === "¢" ? "cents" : char));
  }

  #sign(sign: string): void {
    if ((sign === "&" || sign === "\\\\") && lines.has(this.#environments.at(-1) ?? "")) return;
    if (["(", "[", "\\{"].includes(sign)) this.#brackets++;
    if ([")", "]", "\\}"].includes(sign)) this.#brackets = Math.max(0, this.#brackets - 1);
    this.#add(sign === "cents" ? "word" : "sign", sign);
  }

  #group(text: string): void {
    this.#add("sign", "{");
    for (const [part] of text.matchAll(/\d+|./gu)) {
      this.#add(/\d/u.test(part) ? "number" : part === "n" ? "name" : "sign", part);
    }
    this.#add("sign", "}");
  }

  #command(): void {
    const place = this.#match(environment);
    if (place !== null) {
      const [, side, name = ""] = place;
      if (side === "begin") this.#environments.push(name);
      else this.#environments.pop();
      if (!lines.has(name)) this.#add("command", `${side} ${name}`);
      return;
    }
    const field = this.#match(blackboard);
    if (field !== null) {
      const letter = field[1] ?? field[2]!;
      return this.#add(letter === "R" ? "command" : "word", letter === "R" ? "reals" : letter);
    }
    this.#at++;
    const name = this.#match(letters)?.[0] ?? this.#text[this.#at++] ?? "";
    if (textCommands.has(name)) {
      if (this.#inText === null && this.#match(opening) !== null) this.#inText = 1;
    } else if (name === "\\") this.#sign("\\\\");
    else if (name === "$") this.#add("sign", "currency $");
    else if (ignored.has(name) || name.trim() === "") return;
    else if (signOf.has(name)) this.#sign(signOf.get(name)!);
    else this.#named(name, true);
  }

  #named(name: string, isCommand: boolean): void {
    const plain = spellings.get(name) ?? name;
    const isName = greek.has(plain) || functions.has(plain) || plain === "pi" || plain === "inf";
    this.#add(isName || (plain === "sqrt" && !isCommand) ? "name" : "command", plain);
  }

  /** Functions and single letters, unless it is a word. */
  #letters(run: string): void {
    const lower = run.toLowerCase();
    if (separators.has(lower)) return this.#add("sign", ",");
    if (/^(?:percent(?:age)?|pct)$/u.test(lower)) return this.#add("sign", "%");
    if (this.#inText !== null) {
      if (plainWords.includes(run) || spellings.has(run)) return this.#named(run, false);
      return this.#add(run.length > 1 ? "word" : "name", run.length > 1 ? lower : run);
    }
    const parts: string[] = [];
    for (let i = 0; i < run.length;) {
      const found = plainWords.find((word) => run.startsWith(word, i)) ?? run[i]!;
      parts.push(found);
      i += found.length;
    }
    const isProduct =
      parts.every((part, i) => part.length > 1 || (parts[i + 1]?.length ?? 2) > 1) ||
      (run.length < 4 && !shortWords.has(lower) && unitOfWord(lower) === null) ||
      "abcdefghijklmnopqrstuvwxyz".includes(lower);
    if (!isProduct) return this.#add("word", lower);
    for (const part of parts) {
      if (part.length > 1) this.#named(part, false);
      else this.#add("name", part);
    }
  }

  /** A numeral; false where none starts here. */
  #number(): boolean {
    const inBase = this.#match(based);
    if (inBase !== null) {
      const [all, digits = "", ...written] = inBase;
      const text = written.find((part) => part !== undefined)!;
      const base = /^\d/u.test(text) ? Number(text) : bases.indexOf(text.toLowerCase()) + 2;
      const fits = [...digits].every((digit) => Number.parseInt(digit, 36) < base);
      if (base >= 2 && fits && all.startsWith("(") === /^\(\w+\)/u.test(all)) {
        this.#add("based", `${digits.replace(/^0+(?=.)/u, "")} ${base}`);
        return true;
      }
      this.#at -= all.length;
    }
    if (this.#text[this.#at] === "(") return false;
    const continental = this.#brackets === 0 ? this.#match(european) : null;
    if (continental !== null) {
      const [, size, cents, alone] = continental;
      const digits = (size ?? alone!).replaceAll(".", "");
      this.#add("number", cents === undefined ? digits : `${digits}.${cents}`);
      return true;
    }
    const thousands = this.#match(this.#brackets === 0 ? groupedOutside : groupedInside);
    if (thousands !== null) {
      this.#add("number", thousands[1]!.replaceAll(/\D/gu, "") + (thousands[2] ?? ""));
      return true;
    }
    const digits = this.#match(decimal)?.[0];
    if (digits === undefined) return false;
    const power = this.#match(exponent)?.[1];
    const again = digits.includes(".") ? this.#repeated(digits) : "";
    this.#add(
      "number",
      `${digits}${again}${power === undefined ? "" : `e${power.replace("−", "-")}`}`,
    );
    return true;
  }

  /** `r3` after 0.1 for 0.1333...; "" for a decimal that ends. */
  #repeated(digits: string): string {
    const found = this.#match(repeating);
    if (found !== null) return `r${found.slice(1).find((part) => part !== undefined)!}`;
    if (this.#match(dots) === null) return "";
    const fraction = digits.slice(digits.indexOf(".") + 1, digits.indexOf(".") + 100);
    for (let length = 1; length <= fraction.length / 2; length++) {
      const block = fraction.slice(-length);
      if (fraction.endsWith(block.repeat(length === 1 ? 3 : 2))) return `r${block}`;
    }
    return "";
  }
}
