/** Expressions, by the grammar of Jinja's own parser. */
import type {
  BinaryOperator,
  Call,
  CallArguments,
  CompareOperator,
  Expression,
  Filter,
  Slice,
} from "./ast.ts";
import { Str } from "./str.ts";
import { none, type Value } from "./values.ts";
import { describe, type TokenStream } from "./token-stream.ts";

const compareOperators: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
const constants: Readonly<Record<string, Value>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none,
  None: none,
};
const noArguments: CallArguments = { positional: [], named: [], spread: null, namedSpread: null };

export class ExpressionParser {
  protected readonly stream: TokenStream;

  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  protected expression(): Expression {
    const { line } = this.stream.current;
    let value = this.or();
    while (this.stream.skipIf("name", "if")) {
      const test = this.or();
      const otherwise = this.stream.skipIf("name", "else") ? this.expression() : null;
      value = { type: "choice", test, chosen: value, otherwise, line };
    }
    return value;
  }

  protected or(): Expression {
    let left = this.#and();
    while (this.stream.skipIf("name", "or")) left = { type: "or", left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.stream.skipIf("name", "and")) left = { type: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    return this.stream.skipIf("name", "not") ? { type: "not", of: this.#not() } : this.#compare();
  }

  #compareOperator(): CompareOperator | null {
    const { stream } = this;
    if (stream.is("operator") && compareOperators.has(stream.current.value)) {
      return stream.next().value as CompareOperator;
    }
    if (stream.skipIf("name", "in")) return "in";
    const { following } = stream;
    if (!stream.is("name", "not") || following.type !== "name" || following.value !== "in")
      return null;
    stream.next();
    stream.next();
    return "not in";
  }

  #compare(): Expression {
    const first = this.#sum();
    const rest: [CompareOperator, Expression][] = [];
    for (let operator = this.#compareOperator(); operator; operator = this.#compareOperator()) {
      rest.push([operator, this.#sum()]);
    }
    return rest.length === 0 ? first : { type: "compare", first, rest };
  }

  #binary(operators: readonly BinaryOperator[], operand: () => Expression): Expression {
    let left = operand();
    while (this.stream.isOperator(...operators)) {
      const operator = this.stream.next().value as BinaryOperator;
      left = { type: "binary", operator, left, right: operand() };
    }
    return left;
  }

  #sum(): Expression {
    return this.#binary(["+", "-"], () => this.#concat());
  }

  #concat(): Expression {
    const items = [this.#product()];
    while (this.stream.skipIf("operator", "~")) items.push(this.#product());
    return items.length === 1 ? items[0]! : { type: "concat", items };
  }

  #product(): Expression {
    return this.#binary(["*", "/", "//", "%"], () => this.#binary(["**"], () => this.#unary()));
  }

  #unary(takesFilters = true): Expression {
    const isSigned = this.stream.isOperator("-", "+");
    const start: Expression = isSigned
      ? { type: this.stream.next().value as "+" | "-", of: this.#unary(false) }
      : this.primary();
    const node = this.#postfix(start);
    return takesFilters ? this.#filters(node) : node;
  }

  protected primary(): Expression {
    const { stream } = this;
    const { type, value } = stream.current;
    if (type === "name") {
      stream.next();
      return Object.hasOwn(constants, value)
        ? { type: "constant", value: constants[value]! }
        : { type: "name", name: value };
    }
    if (type === "string") {
      let text = "";
      while (stream.is("string")) text += stream.next().value;
      return { type: "constant", value: Str.own(text) };
    }
    if (type === "integer" || type === "float") {
      stream.next();
      return { type: "constant", value: type === "integer" ? BigInt(value) : Number(value) };
    }
    if (stream.skipIf("operator", "(")) {
      const inner = this.tuple({ canBeEmpty: true });
      stream.expect("operator", ")");
      return inner;
    }
    if (stream.skipIf("operator", "[")) {
      return { type: "list", items: this.#commaSeparated("]", () => this.expression()) };
    }
    if (stream.skipIf("operator", "{")) {
      const pairs = this.#commaSeparated("}", () => {
        const key = this.expression();
        stream.expect("operator", ":");
        return [key, this.expression()] as const;
      });
      return { type: "dict", pairs };
    }
    return stream.fail(`unexpected ${describe(stream.current)}`);
  }

  #commaSeparated<T>(end: string, item: () => T): readonly T[] {
    const items: T[] = [];
    while (!this.stream.isOperator(end)) {
      if (items.length > 0) this.stream.expect("operator", ",");
      if (this.stream.isOperator(end)) break;
      items.push(item());
    }
    this.stream.expect("operator", end);
    return items;
  }

  /** One expression, or several with commas between them. */
  protected tuple({
    canBeEmpty = false,
    item = (): Expression => this.expression(),
    ends = [],
  }: {
    readonly canBeEmpty?: boolean;
    readonly item?: () => Expression;
    /** Names that may stand after it. */
    readonly ends?: readonly string[];
  } = {}): Expression {
    const { stream } = this;
    const isEnd = (): boolean =>
      stream.is("variable_end") ||
      stream.is("block_end") ||
      stream.isOperator(")") ||
      (ends.length > 0 && stream.is("name", ...ends));
    const items: Expression[] = [];
    let isTuple = false;
    while (true) {
      if (items.length > 0) stream.expect("operator", ",");
      if (isEnd()) break;
      items.push(item());
      if (!stream.isOperator(",")) break;
      isTuple = true;
    }
    if (!isTuple && items.length > 0) return items[0]!;
    if (!isTuple && !canBeEmpty) {
      stream.fail(`Expected an expression, got ${describe(stream.current)}`);
    }
    return { type: "tuple", items };
  }

  #postfix(start: Expression): Expression {
    const { stream } = this;
    let node = start;
    while (true) {
      if (stream.skipIf("operator", ".")) node = this.#attribute(node);
      else if (stream.skipIf("operator", "[")) node = this.#element(node);
      else if (stream.isOperator("(")) node = this.#call(node);
      else return node;
    }
  }

  #attribute(of: Expression): Expression {
    const { type, value } = this.stream.next();
    if (type === "name") return { type: "attribute", of, name: value };
    if (type !== "integer") this.stream.fail("expected name or number");
    return { type: "element", of, key: { type: "constant", value: BigInt(value) } };
  }

  #element(of: Expression): Expression {
    const keys: (Expression | Slice)[] = [];
    while (!this.stream.isOperator("]")) {
      if (keys.length > 0) this.stream.expect("operator", ",");
      keys.push(this.#subscript());
    }
    this.stream.expect("operator", "]");
    if (keys.length === 1) return { type: "element", of, key: keys[0]! };
    if (keys.some(({ type }) => type === "slice")) this.stream.fail("slices cannot be in a tuple");
    return { type: "element", of, key: { type: "tuple", items: keys as readonly Expression[] } };
  }

  #subscript(): Expression | Slice {
    const { stream } = this;
    const first = stream.isOperator(":") ? null : this.expression();
    if (!stream.skipIf("operator", ":")) return first!;
    const bound = (): Expression | null =>
      stream.isOperator(":", "]", ",") ? null : this.expression();
    const stop = bound();
    const step = stream.skipIf("operator", ":") ? bound() : null;
    return { type: "slice", bounds: [first, stop, step] };
  }

  #call(callee: Expression): Call {
    return { type: "call", callee, args: this.#arguments() };
  }

  #arguments(): CallArguments {
    const { stream } = this;
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    let spread: Expression | null = null;
    let namedSpread: Expression | null = null;
    const ensure = (isRight: boolean): void => {
      if (!isRight) stream.fail("invalid syntax for function call expression");
    };
    stream.expect("operator", "(");
    this.#commaSeparated(")", () => {
      if (stream.skipIf("operator", "*")) {
        ensure(spread === null && namedSpread === null);
        spread = this.expression();
      } else if (stream.skipIf("operator", "**")) {
        ensure(namedSpread === null);
        namedSpread = this.expression();
      } else if (stream.is("name") && isAssignment(stream)) {
        ensure(namedSpread === null);
        const { value } = stream.next();
        stream.next();
        named.push([value, this.expression()]);
      } else {
        ensure(spread === null && namedSpread === null && named.length === 0);
        positional.push(this.expression());
      }
    });
    return { positional, named, spread, namedSpread };
  }

  #filters(start: Expression): Expression {
    const { stream } = this;
    let node = start;
    while (true) {
      if (stream.skipIf("operator", "|")) node = this.#filter(node);
      else if (stream.skipIf("name", "is")) node = this.#test(node);
      else if (stream.isOperator("(")) node = this.#call(node);
      else return node;
    }
  }

  #dotted(): string {
    let { value } = this.stream.expect("name");
    while (this.stream.skipIf("operator", ".")) value += `.${this.stream.expect("name").value}`;
    return value;
  }

  #filter(of: Expression | null): Filter {
    const name = this.#dotted();
    const args = this.stream.isOperator("(") ? this.#arguments() : noArguments;
    return { type: "filter", name, of, args };
  }

  /** Filters on the text of a block, in which the first has no operand. */
  protected blockFilter(): Filter {
    let node = this.#filter(null);
    while (this.stream.skipIf("operator", "|")) node = this.#filter(node);
    return node;
  }

  #test(of: Expression): Expression {
    const { stream } = this;
    const isNegated = stream.skipIf("name", "not");
    const name = this.#dotted();
    let args = noArguments;
    const isOperand =
      ["name", "string", "integer", "float"].includes(stream.current.type) ||
      stream.isOperator("[", "{");
    if (stream.isOperator("(")) args = this.#arguments();
    else if (isOperand && !stream.is("name", "else", "or", "and")) {
      if (stream.is("name", "is")) stream.fail("You cannot chain multiple tests with is");
      args = { ...noArguments, positional: [this.#postfix(this.primary())] };
    }
    const test: Expression = { type: "test", name, of, args };
    return isNegated ? { type: "not", of: test } : test;
  }
}

const isAssignment = ({ following }: TokenStream): boolean =>
  following.type === "operator" && following.value === "=";
