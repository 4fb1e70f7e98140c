/** Runs the statements of a template, which write text. */
import type { Body, Loop, Parameter, Statement, Target } from "./ast.ts";
import { fail } from "./errors.ts";
import { call, evaluate, evaluateArguments, filtered } from "./evaluate.ts";
import {
  charactersPerStep,
  checkSize,
  nested,
  spend,
  withinLimits,
  type TemplateLimits,
} from "./limits.ts";
import { LoopState } from "./loop.ts";
import { parseTemplate } from "./parse.ts";
import { Scope } from "./scope.ts";
import { Str } from "./str.ts";
import {
  Args,
  Callable,
  Dict,
  isTrue,
  listOf,
  Namespace,
  Tuple,
  Undefined,
  type Value,
} from "./values.ts";
import { str } from "./write.ts";

/** What was written so far. */
class Output {
  readonly #parts: Str[] = [];
  #length = 0;

  add(text: Str): void {
    this.#length += text.text.length;
    checkSize(this.#length);
    spend(text.text.length / charactersPerStep);
    this.#parts.push(text);
  }

  get text(): Str {
    return Str.join(this.#parts);
  }
}

/** What ends a body before its last statement. */
type Jump = "break" | "continue" | null;

function run(body: Body, scope: Scope, out: Output): Jump {
  for (const statement of body) {
    const jump = runOne(statement, scope, out);
    if (jump !== null) return jump;
  }
  return null;
}

/** The text that a body writes, in a separate scope. */
function written(body: Body, scope: Scope, own: Iterable<readonly [string, Value]> = []): Str {
  const out = new Output();
  run(body, new Scope(scope, own), out);
  return out.text;
}

function runOne(statement: Statement, scope: Scope, out: Output): Jump {
  spend(1);
  switch (statement.type) {
    case "output":
      out.add(str(evaluate(statement.of, scope)));
      return null;
    case "if": {
      const branch = statement.branches.find(({ test }) => isTrue(evaluate(test, scope)));
      return run(branch?.body ?? statement.otherwise, scope, out);
    }
    case "for":
      runLoop(statement.loop, evaluate(statement.loop.over, scope), scope, out, 0);
      return null;
    case "set":
      assign(statement.target, evaluate(statement.value, scope), scope);
      return null;
    case "set-block": {
      const text = written(statement.body, scope);
      const { filter } = statement;
      assign(statement.target, filter === null ? text : filtered(filter, scope, text), scope);
      return null;
    }
    case "macro":
      scope.set(statement.name, macro(statement, scope));
      return null;
    case "call-block": {
      const caller = macro({ name: "caller", ...statement }, scope);
      const { callee, args } = statement.call;
      const { positional, named } = evaluateArguments(args, scope);
      const given = new Args(positional, new Map([...named, ["caller", caller]]));
      out.add(str(call(evaluate(callee, scope), given)));
      return null;
    }
    case "filter-block": {
      const text = written(statement.body, scope);
      out.add(str(filtered(statement.filter, scope, text)));
      return null;
    }
    case "with": {
      const inner = new Scope(scope);
      const values = statement.values.map(([, value]) => evaluate(value, scope));
      for (const [i, [target]] of statement.values.entries()) assign(target, values[i]!, inner);
      return run(statement.body, inner, out);
    }
    case "break":
    case "continue":
      return statement.type;
  }
}

function assign(target: Target, value: Value, scope: Scope): void {
  if (target.type === "name") scope.set(target.name, value);
  else if (target.type === "field") {
    const namespace = scope.get(target.namespace);
    if (!(namespace instanceof Namespace)) {
      fail("TemplateError", "cannot assign attribute on non-namespace object");
    }
    namespace.fields.set(target.name, value);
  } else {
    const values = listOf(value);
    const { length } = target.items;
    if (values.length > length) {
      fail("ValueError", `too many values to unpack (expected ${length})`);
    }
    if (values.length < length) {
      fail("ValueError", `not enough values to unpack (expected ${length}, got ${values.length})`);
    }
    for (const [i, inner] of target.items.entries()) assign(inner, values[i]!, scope);
  }
}

function runLoop(loop: Loop, over: Value, scope: Scope, out: Output, depth: number): void {
  const { target, test, body, otherwise, isRecursive } = loop;
  const items = listOf(over).filter((item) => {
    if (test === null) return true;
    const inner = new Scope(scope);
    assign(target, item, inner);
    return isTrue(evaluate(test, inner));
  });
  const state = new LoopState(items, depth);
  const again = (more: Value): Value => {
    const own = new Output();
    nested(() => runLoop(loop, more, scope, own, depth + 1));
    return own.text;
  };
  const variable = state.variable(isRecursive ? again : null);
  for (const item of items) {
    spend(1);
    state.at++;
    const inner = new Scope(scope, [["loop", variable]]);
    assign(target, item, inner);
    if (run(body, inner, out) === "break") break;
  }
  if (items.length === 0) run(otherwise, new Scope(scope), out);
}

interface MacroNode {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body;
}

function macro({ name, parameters, body }: MacroNode, scope: Scope): Callable {
  const uses = namesIn(body);
  const invoke = ({ positional, named }: Args): Value => {
    const inner = new Scope(scope);
    const known = new Set(parameters.map((parameter) => parameter.name));
    const rest = new Map([...named].filter(([key]) => !known.has(key)));
    const caller = rest.get("caller");
    rest.delete("caller");
    if (positional.length > parameters.length && !uses.has("varargs")) {
      fail("TypeError", `macro '${name}' takes not more than ${parameters.length} argument(s)`);
    }
    if (caller !== undefined && !uses.has("caller")) {
      fail(
        "TypeError",
        `macro '${name}' was invoked with two values for the special caller argument. This is most likely a bug.`,
      );
    }
    const [unknown] = rest.keys();
    if (unknown !== undefined && !uses.has("kwargs")) {
      fail("TypeError", `macro '${name}' takes no keyword argument '${unknown}'`);
    }
    for (const [i, { name: parameter, fallback }] of parameters.entries()) {
      const isBoth = i < positional.length && named.has(parameter);
      if (isBoth)
        fail("TypeError", `macro '${name}' got multiple values for argument '${parameter}'`);
      const given = i < positional.length ? positional[i] : named.get(parameter);
      const missing = new Undefined(`parameter '${parameter}' was not provided`);
      inner.set(parameter, given ?? (fallback === null ? missing : evaluate(fallback, inner)));
    }
    inner.set("varargs", new Tuple(positional.slice(parameters.length)));
    inner.set("kwargs", new Dict([...rest].map(([key, value]) => [Str.own(key), value])));
    inner.set("caller", caller ?? new Undefined("No caller defined"));
    return nested(() => written(body, inner));
  };
  return new Callable(name, invoke, {
    text: `<Macro '${name}'>`,
    attribute: (attribute) => (attribute === "name" ? Str.own(name) : undefined),
  });
}

const knownNames = new WeakMap<Body, ReadonlySet<string>>();

/** All names that stand in a body. */
function namesIn(body: Body): ReadonlySet<string> {
  const known = knownNames.get(body);
  if (known !== undefined) return known;
  const names = new Set<string>();
  knownNames.set(body, names);
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== "object" || node === null || node instanceof Str) continue;
    const { type, name } = node as { readonly type?: unknown; readonly name?: unknown };
    if (type === "name" && typeof name === "string") names.add(name);
    for (const inner of Object.values(node)) waiting.push(inner);
  }
  return names;
}

/** A template that was read. */
export interface CompiledTemplate {
  /** The names that it reads or sets. */
  readonly names: ReadonlySet<string>;
  /** @throws TemplateError; TemplateLimitError */
  render(variables: Iterable<readonly [string, Value]>, limits: TemplateLimits): Str;
}

/** @throws TemplateError (TemplateSyntaxError) */
export function compileTemplate(
  template: string,
  globals: ReadonlyMap<string, Value>,
): CompiledTemplate {
  const body = parseTemplate(template);
  return {
    names: namesIn(body),
    render: (variables, limits) =>
      withinLimits(limits, () => written(body, new Scope(null, globals), variables)),
  };
}
