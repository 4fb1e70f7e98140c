/** A template as a tree: expressions and statements. */
import type { Value } from "./values.ts";

export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*items` */
  readonly spread: Expression | null;
  /** `**fields` */
  readonly namedSpread: Expression | null;
}

export interface Slice {
  readonly type: "slice";
  readonly bounds: readonly (Expression | null)[];
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

export interface Call {
  readonly type: "call";
  readonly callee: Expression;
  readonly args: CallArguments;
}

export type Expression =
  | { readonly type: "constant"; readonly value: Value }
  | { readonly type: "name"; readonly name: string }
  | { readonly type: "list" | "tuple" | "concat"; readonly items: readonly Expression[] }
  | { readonly type: "dict"; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | {
      readonly type: "choice";
      readonly test: Expression;
      readonly chosen: Expression;
      readonly otherwise: Expression | null;
      readonly line: number;
    }
  | { readonly type: "not" | "+" | "-"; readonly of: Expression }
  | { readonly type: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | {
      readonly type: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly type: "compare";
      readonly first: Expression;
      readonly rest: readonly (readonly [CompareOperator, Expression])[];
    }
  | { readonly type: "attribute"; readonly of: Expression; readonly name: string }
  | { readonly type: "element"; readonly of: Expression; readonly key: Expression | Slice }
  | Call
  | Filter
  | {
      readonly type: "test";
      readonly name: string;
      readonly of: Expression;
      readonly args: CallArguments;
    };

export interface Filter {
  readonly type: "filter";
  readonly name: string;
  /** null: the text of a block. */
  readonly of: Expression | null;
  readonly args: CallArguments;
}

/** What is assigned to: a name, a namespace's field, or several of them. */
export type Target =
  | { readonly type: "name"; readonly name: string }
  | { readonly type: "field"; readonly namespace: string; readonly name: string }
  | { readonly type: "targets"; readonly items: readonly Target[] };

export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | null;
}

export type Body = readonly Statement[];

export type Statement =
  | { readonly type: "output"; readonly of: Expression }
  | { readonly type: "for"; readonly loop: Loop }
  | {
      readonly type: "if";
      readonly branches: readonly { readonly test: Expression; readonly body: Body }[];
      readonly otherwise: Body;
    }
  | { readonly type: "set"; readonly target: Target; readonly value: Expression }
  | {
      readonly type: "set-block";
      readonly target: Target;
      readonly filter: Filter | null;
      readonly body: Body;
    }
  | {
      readonly type: "macro";
      readonly name: string;
      readonly parameters: readonly Parameter[];
      readonly body: Body;
    }
  | {
      readonly type: "call-block";
      readonly call: Call;
      readonly parameters: readonly Parameter[];
      readonly body: Body;
    }
  | { readonly type: "filter-block"; readonly filter: Filter; readonly body: Body }
  | {
      readonly type: "with";
      readonly values: readonly (readonly [Target, Expression])[];
      readonly body: Body;
    }
  | { readonly type: "break" }
  | { readonly type: "continue" };

export interface Loop {
  readonly target: Target;
  readonly over: Expression;
  readonly test: Expression | null;
  readonly isRecursive: boolean;
  readonly body: Body;
  readonly otherwise: Body;
}
