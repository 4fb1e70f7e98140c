/** Converts options from code, in camelCase, to the snake_case of files. */
import { isTree, toSnake, type Tree } from "../camel-keys.ts";
import { earlierKeys } from "../compat/keys/earlier-keys.ts";
import { configFields } from "../fields.ts";
import type { Override } from "./overrides.ts";

interface Names {
  /** Dotted names of options. */
  readonly options: ReadonlySet<string>;
  /** Dotted names of options and of the sections that contain them. */
  readonly all: ReadonlySet<string>;
}

let names: Names | undefined;

function knownNames(): Names {
  if (names !== undefined) return names;
  const keys = configFields().map(({ key }) => key);
  const earlier = earlierKeys.map(({ from }) => from);
  const all = [...keys, ...earlier].flatMap((key) => {
    const parts = key.split(".");
    return parts.map((_, i) => parts.slice(0, i + 1).join("."));
  });
  names = { options: new Set([...keys, ...earlier]), all: new Set(all) };
  return names;
}

/** A key, dotted or not, below `path`. An unknown name stays as it is, so that the error shows it as written. */
function nameOf(path: string, key: string): string {
  const { all } = knownNames();
  let at = path;
  return key
    .split(".")
    .map((part) => {
      const isCamel = !all.has(`${at}${part}`) && all.has(`${at}${toSnake(part)}`);
      const name = isCamel ? toSnake(part) : part;
      at += `${name}.`;
      return name;
    })
    .join(".");
}

/** Keys inside of an option's value are not changed: they are names that the user chose. */
function inSection(tree: Tree, path: string): Tree {
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => {
      const name = nameOf(path, key);
      return [name, valueOf(`${path}${name}`, value)];
    }),
  );
}

function valueOf(name: string, value: unknown): unknown {
  const isSection = isTree(value) && !knownNames().options.has(name);
  return isSection ? inSection(value, `${name}.`) : value;
}

/** The same option or section in snake_case. */
export function inSnakeCase(override: Override): Override {
  const key = nameOf("", override.key);
  return { ...override, key, value: valueOf(key, override.value) };
}
