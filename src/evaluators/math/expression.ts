/** Answers as trees. */
import { type Rational, zero } from "./rational.ts";

/** An answer or a part of one. The names of calls are operators, functions, brackets, or "list". */
export type Expression =
  | { readonly kind: "number"; readonly value: Rational }
  | { readonly kind: "name" | "word"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[] };

export const call = (name: string, ...args: readonly Expression[]): Expression => ({
  kind: "call",
  name,
  args,
});
export const literal = (value: Rational): Expression => ({ kind: "number", value });

export const infinity: Expression = { kind: "name", name: "inf" };
export const negativeInfinity: Expression = call("-", literal(zero), infinity);

export const isCall = (tree: Expression, name: string): tree is Expression & { kind: "call" } =>
  tree.kind === "call" && tree.name === name;
export const argsOf = (tree: Expression): readonly Expression[] =>
  tree.kind === "call" ? tree.args : [];

/** Of two trees, as written. */
export function areSame(a: Expression, b: Expression): boolean {
  if (a.kind === "number")
    return b.kind === "number" && a.value.n === b.value.n && a.value.d === b.value.d;
  if (b.kind === "number" || a.kind !== b.kind || a.name !== b.name) return false;
  const [left, right] = [argsOf(a), argsOf(b)];
  return left.length === right.length && left.every((arg, i) => areSame(arg, right[i]!));
}

/** Whether a name or a call of this name is in a tree. */
export function contains(tree: Expression, name: string): boolean {
  if (tree.kind === "number") return false;
  return tree.name === name || argsOf(tree).some((arg) => contains(arg, name));
}
