/** Converts between the snake_case of YAML keys and the camelCase of code. */

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

/** The same tree with camelCase keys. */
export type CamelKeys<T> = T extends readonly (infer Item)[]
  ? readonly CamelKeys<Item>[]
  : T extends object
    ? { readonly [K in keyof T as K extends string ? Camel<K> : never]: CamelKeys<T[K]> }
    : T;

type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : S;

/** The same tree with snake_case keys. */
export type SnakeKeys<T> = T extends readonly (infer Item)[]
  ? readonly SnakeKeys<Item>[]
  : T extends object
    ? { readonly [K in keyof T as K extends string ? Snake<K> : never]: SnakeKeys<T[K]> }
    : T;

/** A tree as parsed from YAML or JSON. */
export interface Tree {
  [key: string]: unknown;
}

/** True for a plain map: no array, no null, no scalar. */
export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `train_batch_size` → `trainBatchSize`. */
export function toCamel(key: string): string {
  return key.replaceAll(/_([a-z0-9])/gu, (_, letter: string) => letter.toUpperCase());
}

/** `trainBatchSize` → `train_batch_size`. */
export function toSnake(key: string): string {
  return key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

function mapValue(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => mapValue(item, rename));
  return isTree(value) ? mapKeys(value, rename) : value;
}

function mapKeys(tree: Tree, rename: (key: string) => string): Tree {
  const out: Tree = {};
  for (const [key, value] of Object.entries(tree)) out[rename(key)] = mapValue(value, rename);
  return out;
}

/** Renames every key of the tree. */
export function camelKeys<T extends object>(tree: T): CamelKeys<T> {
  return mapKeys(tree as Tree, toCamel) as CamelKeys<T>;
}

/** The inverse of {@link camelKeys}: the tree as it is written in YAML. */
export function snakeKeys(tree: object): Tree {
  return mapKeys(tree as Tree, toSnake);
}
