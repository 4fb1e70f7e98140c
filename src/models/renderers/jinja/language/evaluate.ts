/** The value of an expression. */
import type { CallArguments, CompareOperator, Expression, Slice } from "./ast.ts";
import { attribute, element, slice } from "./attributes.ts";
import { compare, contains, isEqual } from "./compare.ts";
import { fail } from "./errors.ts";
import { callFilter, callTest } from "./filters/filters.ts";
import { checkSize, spend } from "./limits.ts";
import { calculate, signed } from "./operators.ts";
import type { Scope } from "./scope.ts";
import { Str } from "./str.ts";
import {
  Args,
  Callable,
  Dict,
  isTrue,
  iterate,
  listOf,
  refuseUndefined,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";
import { str } from "./write.ts";

export function evaluate(node: Expression, scope: Scope): Value {
  spend(1);
  switch (node.type) {
    case "constant":
      return node.value;
    case "name":
      return scope.get(node.name);
    case "attribute":
      return attribute(evaluate(node.of, scope), node.name);
    case "element":
      return elementOf(evaluate(node.of, scope), node.key, scope);
    case "list":
      return evaluateAll(node.items, scope);
    case "tuple":
      return new Tuple(evaluateAll(node.items, scope));
    case "dict":
      return new Dict(
        node.pairs.map(([key, value]) => [evaluate(key, scope), evaluate(value, scope)]),
      );
    case "concat":
      return Str.join(node.items.map((item) => str(evaluate(item, scope))));
    case "choice":
      if (isTrue(evaluate(node.test, scope))) return evaluate(node.chosen, scope);
      return node.otherwise === null
        ? new Undefined(
            `the inline if-expression on line ${node.line} evaluated to false and no else section was defined.`,
          )
        : evaluate(node.otherwise, scope);
    case "not":
      return !isTrue(evaluate(node.of, scope));
    case "and":
    case "or": {
      const left = evaluate(node.left, scope);
      return isTrue(left) === (node.type === "or") ? left : evaluate(node.right, scope);
    }
    case "+":
    case "-":
      return signed(node.type, evaluate(node.of, scope));
    case "binary":
      return calculate(node.operator, evaluate(node.left, scope), evaluate(node.right, scope));
    case "compare": {
      let left = evaluate(node.first, scope);
      for (const [operator, operand] of node.rest) {
        const right = evaluate(operand, scope);
        if (!isOrdered(operator, left, right)) return false;
        left = right;
      }
      return true;
    }
    case "call":
      return call(evaluate(node.callee, scope), evaluateArguments(node.args, scope));
    case "filter":
      return filtered(node, scope, null);
    case "test": {
      // Whether a value is defined can be asked of every value.
      const value = evaluate(node.of, scope);
      return callTest(node.name, value, evaluateArguments(node.args, scope));
    }
  }
}

function elementOf(value: Value, key: Expression | Slice, scope: Scope): Value {
  if (key.type !== "slice") return element(value, evaluate(key, scope));
  return slice(
    value,
    key.bounds.map((bound) => (bound === null ? undefined : evaluate(bound, scope))),
  );
}

function evaluateAll(items: readonly Expression[], scope: Scope): readonly Value[] {
  return items.map((item) => evaluate(item, scope));
}

/** @param block the text of a block that is filtered, where there is one */
export function filtered(
  node: Extract<Expression, { readonly type: "filter" }>,
  scope: Scope,
  block: Str | null,
): Value {
  const inner =
    node.of === null
      ? block!
      : node.of.type === "filter"
        ? filtered(node.of, scope, block)
        : evaluate(node.of, scope);
  return callFilter(node.name, inner, evaluateArguments(node.args, scope));
}

export function call(callee: Value, args: Args): Value {
  refuseUndefined(callee);
  if (!(callee instanceof Callable)) {
    return fail("TypeError", `'${typeName(callee)}' object is not callable`);
  }
  return callee.call(args);
}

export function evaluateArguments(args: CallArguments, scope: Scope): Args {
  const positional = [...evaluateAll(args.positional, scope)];
  const named = new Map(args.named.map(([name, value]) => [name, evaluate(value, scope)]));
  if (args.spread !== null) {
    const more = listOf(evaluate(args.spread, scope));
    checkSize(positional.length + more.length);
    for (const value of more) positional.push(value);
  }
  if (args.namedSpread !== null) {
    const more = evaluate(args.namedSpread, scope);
    if (!(more instanceof Dict)) fail("TypeError", "argument after ** must be a mapping");
    for (const name of iterate(more)) {
      if (!(name instanceof Str)) fail("TypeError", "keywords must be strings");
      named.set(name.text, more.get(name)!);
    }
  }
  return new Args(positional, named);
}

function isOrdered(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
    case "<":
      return compare(left, right, operator) < 0;
    case "<=":
      return compare(left, right, operator) <= 0;
    case ">":
      return compare(left, right, operator) > 0;
    case ">=":
      return compare(left, right, operator) >= 0;
  }
}
