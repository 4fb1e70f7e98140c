/** Tokens to trees: formulas, and what answers are made of (lists, tuples, sets, relations, units). */
import { type Expression, call, infinity, literal, negativeInfinity } from "./expression.ts";
import { numeral } from "./numeral.ts";
import { type Rational, TooMuchWork, toDouble, whole, zero } from "./rational.ts";
import { NotAnAnswer, TokenCursor } from "./token-cursor.ts";
import { type Token, functions } from "./tokens.ts";
import { isUnitLetter } from "./units.ts";

/** After one value: `!`, `%` and others. */
const maxSigns = 10;
const closing = new Set(["rfloor", "rceil", "choose", "over"]);
const relations = new Set(["=", "<", ">", "<=", ">=", "!=", "~", "in"]);
const ordinals = new Set(["th", "st", "nd", "rd"]);
/** Letters that name functions where a value in parentheses and an equals sign follow. */
const functionLetter = /^[A-Za-z]$/u;

/** The tree of an answer; null for other notation, or nested more than 100 levels deep. */
export function parseAnswer(tokens: readonly Token[], percent: Rational): Expression | null {
  if (tokens.length === 0) return null;
  try {
    return new Parser(tokens, percent).whole();
  } catch (error) {
    if (error instanceof NotAnAnswer || error instanceof TooMuchWork) return null;
    throw error;
  }
}

class Parser {
  readonly #tokens: TokenCursor;
  readonly #percent: Rational;
  /** Inside of bars, a bar ends the factor and does not open another one. */
  #bars = 0;

  constructor(tokens: readonly Token[], percent: Rational) {
    this.#tokens = new TokenCursor(tokens);
    this.#percent = percent;
  }

  whole(): Expression {
    const parts = this.#parts();
    if (this.#tokens.peek() !== undefined) throw new NotAnAnswer();
    return parts.length === 1 ? parts[0]! : call("list", ...parts);
  }

  #parts(): readonly Expression[] {
    const parts = [this.#relation()];
    while (this.#tokens.take(",", ";")) {
      // ", and" is one separator, and a last one has no meaning.
      while (this.#tokens.take(",", ";"));
      if (this.#tokens.peek() === undefined) break;
      parts.push(this.#relation());
    }
    return parts;
  }

  #relation(): Expression {
    const signs: string[] = [];
    const args = [this.#ratio()];
    while (this.#tokens.peek()?.kind === "sign" && relations.has(this.#tokens.peek()!.text)) {
      signs.push(this.#tokens.next().text);
      args.push(this.#ratio());
    }
    return signs.length === 0 ? args[0]! : call(signs.join(" "), ...args);
  }

  /** `3:4`, `10:30`, and "Area: 5", which is an equation. */
  #ratio(): Expression {
    const parts = [this.#union()];
    while (this.#tokens.take(":")) parts.push(this.#union());
    if (parts.length === 1) return parts[0]!;
    return call(parts[0]!.kind === "word" ? "=" : ":", ...parts);
  }

  #union(): Expression {
    let left = this.#quantity();
    while (this.#tokens.isSign("cup", "cap", "setminus")) {
      const name = this.#tokens.next().text;
      left = call(name, left, this.#quantity());
    }
    return left;
  }

  #isUnitWord(): boolean {
    const token = this.#tokens.peek();
    if (token?.kind === "word") return !this.#tokens.is("sign", "(", 1);
    return token?.isUpright === true && token.kind === "name" && isUnitLetter(token.text);
  }

  /** A value with the words after it. */
  #quantity(): Expression {
    const value = this.#sum();
    const words: string[] = [];
    while (this.#isUnitWord() || (this.#tokens.isSign("/", "*") && words.length > 0)) {
      if (this.#tokens.isSign("/", "*")) {
        words.push(this.#tokens.next().text);
        const next = this.#tokens.peek();
        if (next?.kind !== "word" && next?.kind !== "name") throw new NotAnAnswer();
      }
      let word = this.#tokens.next().text;
      if (this.#tokens.take("^")) {
        const size = this.#argument();
        const [sign, inner] =
          size.kind === "call" && size.name === "-" ? ["-", size.args[1]!] : ["", size];
        word += `^${sign}${inner.kind === "number" ? inner.value.n : "?"}`;
      }
      words.push(word);
    }
    if (words.length > 0 && value.kind === "word") {
      return { kind: "word", name: [value.name, ...words].join(" ") };
    }
    // "$5 million" is a quantity within a quantity.
    return words.length === 0 ? value : call(`unit ${words.join(" ")}`, value);
  }

  #sum(): Expression {
    return this.#tokens.nested(() => {
      let left = this.#tokens.isSign("pm", "mp")
        ? call(this.#tokens.next().text, literal(zero), this.#product())
        : this.#product();
      while (this.#tokens.isSign("+", "-", "pm", "mp")) {
        left = call(this.#tokens.next().text, left, this.#product());
      }
      return left;
    });
  }

  #product(): Expression {
    let left = this.#signed();
    for (;;) {
      if (this.#tokens.isSign("*", "/")) {
        left = call(this.#tokens.next().text, left, this.#signed());
      } else if (this.#startsFactor()) left = this.#adjacent(left);
      else return left;
    }
  }

  /** `2x` is a product; `1\frac{1}{2}` and `1 1/2` are mixed numbers. */
  #adjacent(left: Expression): Expression {
    const isWhole = left.kind === "number" && left.value.d === 1n;
    const isAfterNumber = this.#tokens.peek(-1)?.kind === "number";
    const isFraction = this.#tokens.is("command", "frac");
    if (isAfterNumber && this.#tokens.peek()?.kind === "number") {
      const right = this.#power();
      this.#tokens.expect("/");
      return call("+", left, this.#proper(right, this.#power()));
    }
    const right = this.#power();
    const isMixed =
      isWhole &&
      isAfterNumber &&
      isFraction &&
      right.kind === "call" &&
      right.name === "/" &&
      right.args.every(({ kind }) => kind === "number");
    if (!isMixed) return call("*", left, right);
    const [n, d] = right.args.map((part) => (part.kind === "number" ? part.value.n : 0n));
    return call(n! < d! ? "+" : "*", left, right);
  }

  #proper(above: Expression, below: Expression): Expression {
    if (above.kind !== "number" || below.kind !== "number") throw new NotAnAnswer();
    if (above.value.n >= below.value.n) throw new NotAnAnswer();
    return call("/", above, below);
  }

  #startsFactor(): boolean {
    const token = this.#tokens.peek();
    if (token === undefined || this.#isUnitWord()) return false;
    if (token.kind === "sign") {
      return ["(", "{", "["].includes(token.text) || (token.text === "|" && this.#bars === 0);
    }
    if (token.kind === "command") return !token.text.startsWith("end ") && !closing.has(token.text);
    // Two numbers next to each other are a mixed number or nothing.
    return (
      token.kind !== "number" ||
      this.#tokens.peek(-1)?.kind !== "number" ||
      (this.#tokens.is("sign", "/", 1) && this.#tokens.peek(2)?.kind === "number")
    );
  }

  #signed(): Expression {
    return this.#tokens.nested(() => {
      if (this.#tokens.take("-")) return this.#negated(this.#signed());
      if (this.#tokens.take("+")) return this.#signed();
      return this.#power();
    });
  }

  /** `-1\frac{1}{2}` is -1.5: the sign is that of the mixed number. */
  #negated(value: Expression): Expression {
    const isMixed =
      value.kind === "number" && this.#tokens.peek(-1)?.kind === "number" && this.#startsFactor();
    return call("-", literal(zero), isMixed ? this.#adjacent(value) : value);
  }

  #power(): Expression {
    return this.#tokens.nested(() => {
      let base = this.#primary();
      for (let signs = 0; ; signs++) {
        if (signs > maxSigns) throw new NotAnAnswer();
        if (this.#tokens.take("!")) base = call(this.#tokens.take("!") ? "!!" : "!", base);
        else if (this.#tokens.take("%")) base = call("*", base, literal(this.#percent));
        else if (this.#tokens.take("deg")) base = call("deg", base);
        else if (this.#tokens.take("currency $")) base = call("unit dollar", base);
        else if (this.#tokens.take("^")) {
          const exponent = this.#exponent();
          if (exponent.kind !== "word") base = call("^", base, exponent);
          else if (!ordinals.has(exponent.name)) throw new NotAnAnswer();
        } else return base;
      }
    });
  }

  #exponent(): Expression {
    return this.#tokens.isSign("-", "+") ? this.#signed() : this.#power();
  }

  /** `\frac12` and `\sqrt23` take a single digit, as LaTeX does. */
  #digit(): Expression | null {
    const token = this.#tokens.peek();
    if (token?.kind !== "number" || !/^\d+$/u.test(token.text)) return null;
    const [digit = "", ...rest] = token.text;
    if (rest.length === 0) this.#tokens.next();
    else this.#tokens.replace({ kind: "number", text: rest.join("") });
    return literal(whole(digit === "" ? 0 : Number(digit)));
  }

  #argument(): Expression {
    if (!this.#tokens.take("{")) return this.#digit() ?? this.#primary();
    return this.#enclosed("{", "}");
  }

  /** What is in brackets: a group, or parts with an order, or a set. */
  #enclosed(open: string, ...closes: readonly string[]): Expression {
    const bars = this.#bars;
    this.#bars = 0;
    const isEmpty = this.#tokens.isSign(...closes);
    const parts = isEmpty ? [] : this.#parts();
    this.#bars = bars;
    for (const name of ["choose", "over"]) {
      // `{10 \choose 3}`, as in TeX.
      if (parts.length !== 1 || !this.#tokens.is("command", name)) continue;
      this.#tokens.next();
      const below = this.#sum();
      this.#tokens.expect(...closes);
      return call(name === "over" ? "/" : "binom", parts[0]!, below);
    }
    const close = this.#tokens.peek()?.text ?? "";
    this.#tokens.expect(...closes);
    if (open === "\\{" || (open === "{" && parts.length > 1)) return call("set", ...parts);
    if (parts.length === 0) throw new NotAnAnswer();
    return parts.length === 1 ? parts[0]! : call(open + close, ...parts);
  }

  #primary(): Expression {
    return this.#tokens.nested(() => {
      const token = this.#tokens.peek();
      if (token === undefined) throw new NotAnAnswer();
      this.#tokens.next();
      if (token.kind === "number" && this.#tokens.take("_")) {
        const base = this.#argument();
        if (base.kind !== "number") throw new NotAnAnswer();
        return call(`in base ${token.text} ${base.value.n}`);
      }
      if (token.kind === "number") return literal(numeral(token.text));
      if (token.kind === "based") return call(`in base ${token.text}`);
      if (token.kind === "name") return this.#name(token.text);
      if (token.kind === "word") return this.#word(token.text);
      if (token.kind === "command") return this.#command(token.text);
      if (token.text === "(" || token.text === "[") return this.#enclosed(token.text, ")", "]");
      if (token.text === "{") return this.#enclosed("{", "}");
      if (token.text === "\\{") return this.#enclosed("\\{", "\\}");
      if ("currency $€£¥".includes(token.text) && token.text.trim() !== "")
        return this.#money(token.text);
      if (token.text !== "|") throw new NotAnAnswer();
      this.#bars++;
      const found = this.#sum();
      this.#bars--;
      this.#tokens.expect("|");
      return call("abs", found);
    });
  }

  #money(sign: string): Expression {
    const names: Readonly<Record<string, string>> = { "€": "euro", "£": "gbp", "¥": "yen" };
    return call(`unit ${names[sign] ?? "dollar"}`, this.#signed());
  }

  #name(name: string): Expression {
    if (name === "sqrt") return this.#root(true);
    if (functions.has(name)) return this.#function(name);
    const full = name + this.#subscript();
    const skip = this.#tokens.is("sign", "-", 1) ? 1 : 0;
    const argument = this.#tokens.peek(1 + skip);
    const isNamed =
      functionLetter.test(name) &&
      this.#tokens.is("sign", "(") &&
      (argument?.kind === "number" || argument?.kind === "name") &&
      this.#tokens.is("sign", ")", 2 + skip) &&
      (this.#tokens.is("sign", "=", 3 + skip) || this.#tokens.peek(-2)?.text === "=") &&
      (/^[fghFGHpqPQ]$/u.test(name) || /^[a-z]$/u.test(argument.text));
    if (!isNamed) return { kind: "name", name: full };
    this.#tokens.next();
    return call(`of ${full}`, this.#enclosed("(", ")"));
  }

  #word(name: string): Expression {
    if (this.#tokens.take("(")) {
      const arg = this.#enclosed("(", ")");
      return arg.kind === "call" && arg.name === "()"
        ? call(`fn ${name}`, ...arg.args)
        : call(`fn ${name}`, arg);
    }
    return { kind: "word", name };
  }

  #command(name: string): Expression {
    if (name === "frac") return call("/", this.#argument(), this.#argument());
    if (name === "binom") return call("binom", this.#argument(), this.#argument());
    if (name === "sqrt") return this.#root(false);
    if (name === "reals") return call("()", negativeInfinity, infinity);
    if (name === "emptyset") return call("set");
    if (name === "ldots" || name === "dots" || name === "cdots")
      return { kind: "name", name: "..." };
    if (/^(?:gcd|lcm|max|min|det|deg|Re|Im|arg)$/u.test(name)) return this.#word(name);
    if (name === "lfloor" || name === "lceil") {
      const found = this.#sum();
      if (!this.#tokens.is("command", name.replace("l", "r"))) throw new NotAnAnswer();
      this.#tokens.next();
      return call(name.slice(1), found);
    }
    if (name.startsWith("begin ")) return this.#matrix(name.slice("begin ".length));
    throw new NotAnAnswer();
  }

  #matrix(environment: string): Expression {
    if (!/^(?:[pbBvV]?matrix|smallmatrix|array)$/u.test(environment)) throw new NotAnAnswer();
    const rows: Expression[][] = [[]];
    while (!this.#tokens.is("command", `end ${environment}`)) {
      rows.at(-1)!.push(this.#relation());
      if (this.#tokens.take("\\\\")) rows.push([]);
      else if (!this.#tokens.is("command", `end ${environment}`)) this.#tokens.expect("&");
    }
    this.#tokens.next();
    if (rows.at(-1)!.length === 0) rows.pop();
    const shape = environment === "vmatrix" ? "determinant" : "matrix";
    return call(`${shape} of ${rows.length}`, ...rows.flat());
  }

  #root(isPlain: boolean): Expression {
    const degree =
      !isPlain && this.#tokens.take("[") ? this.#enclosed("[", "]") : literal(whole(2));
    const isGroup = this.#tokens.isSign("(", "{");
    const radicand = isGroup || isPlain ? this.#primary() : this.#argument();
    return call("root", radicand, degree);
  }

  #function(name: string): Expression {
    const base = name === "log" && this.#tokens.take("_") ? this.#argument() : null;
    const power = this.#tokens.take("^") ? this.#exponent() : null;
    const argument = this.#tokens.isSign("(", "{", "[", "|")
      ? this.#primary()
      : this.#bareArgument();
    const plain =
      base === null ? call(name, argument) : call("/", call("ln", argument), call("ln", base));
    if (power === null) return plain;
    // `\sin^{-1}` is the inverse.
    const isInverse =
      power.kind === "call" &&
      power.name === "-" &&
      power.args.every((part, i) => part.kind === "number" && toDouble(part.value) === i) &&
      functions.has(`a${name}`);
    return isInverse ? call(`a${name}`, argument) : call("^", plain, power);
  }

  /** `\sin 2x + 1` is sin(2x) + 1, and `\sin x \cos x` is a product. */
  #bareArgument(): Expression {
    return this.#tokens.nested(() => {
      let left = this.#tokens.take("-") ? call("-", literal(zero), this.#power()) : this.#power();
      for (;;) {
        const next = this.#tokens.peek();
        const isFactor = this.#startsFactor() && !(next?.kind === "sign" && next.text !== "{");
        if (!isFactor || (next !== undefined && functions.has(next.text))) break;
        left = call("*", left, this.#power());
      }
      return left;
    });
  }

  /** Also primes: f'. */
  #subscript(): string {
    let name = "";
    while (this.#tokens.take("'")) name += "'";
    if (!this.#tokens.take("_")) return name;
    if (!this.#tokens.take("{")) return `${name}_${this.#part()}`;
    name += "_";
    while (!this.#tokens.take("}")) name += this.#part();
    return name;
  }

  #part(): string {
    const token = this.#tokens.peek();
    if (token === undefined || (token.kind === "sign" && !",+-".includes(token.text))) {
      throw new NotAnAnswer();
    }
    this.#tokens.next();
    return token.text;
  }
}
