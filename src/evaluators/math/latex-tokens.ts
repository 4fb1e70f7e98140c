/** LaTeX or plain notation of a formula to tokens; null where it has something that is not understood. */

/** One token: a literal, a name, or a sign. `spaced`: white space before it. */
export interface MathToken {
  readonly kind: "number" | "name" | "command" | "sign";
  readonly text: string;
}

const maxTokens = 2_000;
const words = [
  "arcsin arccos arctan asin acos atan sinh cosh tanh sqrt sin cos tan sec csc cot",
  "log ln exp abs pi infinity infty inf",
]
  .join(" ")
  .split(" ");

/** Commands that only affect how a formula looks. */
const ignored = new Set(
  ["left", "right", "displaystyle", "limits", "big", "Big", "bigl", "bigr", "Bigl", "Bigr"].concat([
    "!",
    ",",
    ";",
    ":",
    " ",
    "quad",
    "qquad",
    "$",
  ]),
);
const sameAs: Readonly<Record<string, string>> = {
  dfrac: "frac",
  tfrac: "frac",
  cfrac: "frac",
  dbinom: "binom",
  tbinom: "binom",
  arcsin: "asin",
  arccos: "acos",
  arctan: "atan",
  infty: "inf",
  infinity: "inf",
};
const signs: Readonly<Record<string, string>> = {
  cdot: "*",
  times: "*",
  ast: "*",
  div: "/",
  lbrace: "{",
  rbrace: "}",
  lvert: "|",
  rvert: "|",
  vert: "|",
  "%": "%",
  "−": "-",
  "–": "-",
  "·": "*",
  "×": "*",
  "÷": "/",
};
const unicodeNames: Readonly<Record<string, string>> = {
  π: "pi",
  "∞": "inf",
  θ: "theta",
  "√": "sqrt",
};

const canonical = (name: string): string => (Object.hasOwn(sameAs, name) ? sameAs[name]! : name);

/** The tokens of a formula; null beyond 2,000 tokens or with a character that no formula has. */
export function mathTokens(text: string): readonly MathToken[] | null {
  const tokens: MathToken[] = [];
  const add = (kind: MathToken["kind"], value: string): void => {
    tokens.push({ kind, text: value });
  };
  for (let i = 0; i < text.length;) {
    if (tokens.length >= maxTokens) return null;
    const char = text[i]!;
    if (/\s|\$|~/u.test(char)) {
      i++;
    } else if (char === "\\") {
      const name = /^[A-Za-z]+|^./u.exec(text.slice(i + 1, i + 40))?.[0];
      if (name === undefined) return null;
      i += 1 + name.length;
      if (ignored.has(name)) continue;
      if (Object.hasOwn(signs, name)) add("sign", signs[name]!);
      else if (words.includes(name)) add("name", canonical(name));
      else add("command", canonical(name));
    } else if (/[\d.]/u.test(char)) {
      const digits = /^(?:\d+(?:\.\d*)?|\.\d+)/u.exec(text.slice(i, i + 1_000))?.[0];
      if (digits === undefined) return null;
      add("number", digits);
      i += digits.length;
    } else if (/[A-Za-z]/u.test(char)) {
      const rest = text.slice(i, i + 10);
      const word = words.find((one) => rest.startsWith(one)) ?? char;
      add("name", canonical(word));
      i += word.length;
    } else if (Object.hasOwn(unicodeNames, char)) {
      add("name", unicodeNames[char]!);
      i++;
    } else if (Object.hasOwn(signs, char) || "+-*/^_(){}[]|!=,".includes(char)) {
      const power = char === "*" && text[i + 1] === "*";
      add("sign", power ? "^" : (signs[char] ?? char));
      i += power ? 2 : 1;
    } else {
      return null;
    }
  }
  return tokens;
}
