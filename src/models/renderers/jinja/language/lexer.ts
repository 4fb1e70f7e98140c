/** A template's text to tokens, as Jinja reads it with `trim_blocks` and `lstrip_blocks`. */
import { fail } from "./errors.ts";

export type TokenType =
  | "data"
  | "block_begin"
  | "block_end"
  | "variable_begin"
  | "variable_end"
  | "name"
  | "string"
  | "integer"
  | "float"
  | "operator"
  | "eof";

export interface Token {
  readonly type: TokenType;
  /** Text of data, names and strings (without escapes); digits; operators. */
  readonly value: string;
  readonly line: number;
}

/** What Python counts as white space, for a character class. */
export const spaces =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const isSpace = new RegExp(`[${spaces}]`);
const space = new RegExp(`[${spaces}]+`, "y");
const float = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const integer = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const name = /[\p{L}\p{Nl}_][\p{L}\p{N}\p{Mn}\p{Mc}\p{Pc}]*/uy;
const string = /'([^'\\]*(?:\\[^][^'\\]*)*)'|"([^"\\]*(?:\\[^][^"\\]*)*)"/y;
const operator = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;

const simpleEscapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
};
const escape =
  /\\(?:([ntrbfva\n\\'"])|([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([xuUN]))/g;

function unescape(text: string, line: number): string {
  return text.replaceAll(
    escape,
    (all, simple?: string, octal?: string, x?: string, u?: string, wide?: string, bad?: string) => {
      if (simple !== undefined) return simpleEscapes[simple]!;
      const code = octal === undefined ? parseInt(x ?? u ?? wide ?? "", 16) : parseInt(octal, 8);
      if (bad !== undefined || code > 0x10ffff) {
        fail("TemplateSyntaxError", `line ${line}: cannot read the escape ${all}`);
      }
      return String.fromCodePoint(code);
    },
  );
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** The white space after the last line break, when there is nothing else and a line starts there. */
function withoutIndent(text: string, startsLine: boolean): string {
  const start = text.lastIndexOf("\n") + 1;
  const isBlank = trimEnd(text.slice(start)) === "";
  return isBlank && (start > 0 || startsLine) ? text.slice(0, start) : text;
}

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #startsLine = true;
  #lineAt = 0;
  #line = 1;

  constructor(template: string) {
    const text = template.replaceAll(/\r\n|\r/g, "\n");
    this.#text = text.endsWith("\n") ? text.slice(0, -1) : text;
  }

  get #here(): number {
    while (this.#lineAt < this.#at) if (this.#text[this.#lineAt++] === "\n") this.#line++;
    return this.#line;
  }

  #push(type: TokenType, value: string): void {
    this.#tokens.push({ type, value, line: this.#here });
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  /** Text before the opening of a tag, whose sign says what becomes of the white space. */
  #data(end: number, sign: string, isVariable: boolean): void {
    let text = this.#text.slice(this.#at, end);
    if (sign === "-") text = trimEnd(text);
    else if (sign !== "+" && !isVariable) text = withoutIndent(text, this.#startsLine);
    if (text !== "") this.#push("data", text);
  }

  #signAt(at: number): string {
    const sign = this.#text[at] ?? "";
    return sign === "-" || sign === "+" ? sign : "";
  }

  /** What follows the end of a tag: `-` takes white space, a block or comment one line break. */
  #close(sign: string, length: number, takesLine: boolean): void {
    this.#at += length;
    if (sign === "-") this.#at += this.#match(space)?.[0].length ?? 0;
    else if (sign !== "+" && takesLine && this.#text[this.#at] === "\n") this.#at++;
    this.#startsLine = this.#text[this.#at - 1] === "\n";
  }

  tokens(): readonly Token[] {
    const opening = /\{[%{#]/g;
    while (this.#at < this.#text.length) {
      opening.lastIndex = this.#at;
      const start = opening.exec(this.#text)?.index ?? this.#text.length;
      if (start === this.#text.length) {
        this.#push("data", this.#text.slice(this.#at));
        break;
      }
      const kind = this.#text[start + 1];
      const sign = this.#signAt(start + 2);
      const isVariable = kind === "{";
      this.#data(start, sign, isVariable);
      this.#at = start + 2 + sign.length;
      this.#startsLine = false;
      if (kind === "#") this.#comment();
      else if (kind === "%" && this.#raw()) continue;
      else this.#tag(isVariable);
    }
    this.#at = this.#text.length;
    this.#push("eof", "");
    return this.#tokens;
  }

  #comment(): void {
    const end = this.#text.indexOf("#}", this.#at);
    if (end === -1) fail("TemplateSyntaxError", `line ${this.#here}: Missing end of comment tag`);
    const sign = end > this.#at ? this.#signAt(end - 1) : "";
    this.#at = end;
    this.#close(sign, 2, true);
  }

  #raw(): boolean {
    const begin = new RegExp(`[${spaces}]*raw[${spaces}]*(-?)%\\}`, "y");
    const found = this.#match(begin);
    if (found === null) return false;
    this.#close(found[1]!, found[0].length, false);
    const end = new RegExp(`\\{%([-+]?)[${spaces}]*endraw[${spaces}]*([-+]?)%\\}`, "g");
    end.lastIndex = this.#at;
    const last = end.exec(this.#text);
    if (last === null)
      fail("TemplateSyntaxError", `line ${this.#here}: Missing end of raw directive`);
    const [all, before, after] = last;
    this.#data(last.index, before!, false);
    this.#at = last.index;
    this.#close(after!, all.length, true);
    return true;
  }

  #tag(isVariable: boolean): void {
    const [type, closing] = isVariable ? (["variable", "}}"] as const) : (["block", "%}"] as const);
    this.#push(`${type}_begin`, "");
    const open: string[] = [];
    while (this.#at < this.#text.length) {
      if (open.length === 0) {
        const sign = this.#signAt(this.#at);
        // At the end of a variable's tag, `+` is an operator.
        const used = isVariable && sign === "+" ? "" : sign;
        if (this.#text.startsWith(closing, this.#at + used.length)) {
          this.#push(`${type}_end`, "");
          this.#close(used, used.length + 2, !isVariable);
          return;
        }
      }
      this.#token(open);
    }
    fail("TemplateSyntaxError", `line ${this.#here}: unexpected end of template`);
  }

  #token(open: string[]): void {
    const found =
      this.#take(space, null) ??
      this.#take(float, "float") ??
      this.#take(integer, "integer") ??
      this.#take(name, "name") ??
      this.#take(string, "string") ??
      this.#take(operator, "operator");
    if (found === undefined) {
      fail(
        "TemplateSyntaxError",
        `line ${this.#here}: unexpected char ${JSON.stringify(this.#text[this.#at])}`,
      );
    }
    const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
    const closer = closers[found];
    if (closer !== undefined) open.push(closer);
    else if (/^[)\]}]$/.test(found) && open.pop() !== found) {
      fail("TemplateSyntaxError", `line ${this.#here}: unexpected '${found}'`);
    }
  }

  /** The matched text, which may be of no interest to the parser. */
  #take(pattern: RegExp, type: TokenType | null): string | undefined {
    const found = this.#match(pattern);
    if (found === null) return undefined;
    const [all, single, double] = found;
    if (type === "string") this.#push(type, unescape(single ?? double!, this.#here));
    else if (type === "float" || type === "integer") this.#push(type, all.replaceAll("_", ""));
    else if (type !== null) this.#push(type, all);
    this.#at += all.length;
    return type === "operator" ? all : "";
  }
}

/** @throws TemplateError (TemplateSyntaxError) */
export const tokenize = (template: string): readonly Token[] => new Lexer(template).tokens();
