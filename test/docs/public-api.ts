/** Reads which names the entries of the package export, where they are declared, and what their TSDoc says. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./pages.ts";

export interface PublicName {
  /** `agent-trainer`, `agent-trainer/gateway` ... */
  readonly entry: string;
  readonly name: string;
  readonly isType: boolean;
  /** File of the declaration, relative to the repository. */
  readonly file: string;
  /** The comment in front of the declaration; "" when there is none. */
  readonly doc: string;
}

interface Export {
  readonly name: string;
  readonly isType: boolean;
  /** Name and file of the declaration. */
  readonly original: string;
  readonly file: string;
}

const read = (file: string): string => readFileSync(join(root, file), "utf8");

const list = /^export (type )?\{([^}]*)\}(?: from "([^"]+)")?;$/gmu;
const declaration =
  /^export (?:declare |abstract |async )*(class|function|const|interface|type) (\w+)/gmu;

/** Names that a file exports, with re-exports followed to the file that declares them. */
function exportsOf(file: string): readonly Export[] {
  const text = read(file);
  const found: Export[] = [];
  for (const [, kind, name] of text.matchAll(declaration)) {
    const isType = kind === "interface" || kind === "type";
    found.push({ name: name!, isType, original: name!, file });
  }
  for (const [, type, names, from] of text.matchAll(list)) {
    for (const part of names!.split(",").map((one) => one.trim())) {
      if (part === "") continue;
      const [original, name = original] = part.replace(/^type /u, "").split(" as ");
      const source = from ?? importOf(text, original!);
      if (source === null) {
        throw new Error(`${file} exports ${part}, which it neither declares nor imports.`);
      }
      const target = join(dirname(file), source);
      const declared = exportsOf(target).find((one) => one.name === original);
      if (declared === undefined) throw new Error(`${target} does not export ${original}.`);
      found.push({ ...declared, name: name!, isType: type !== undefined || declared.isType });
    }
  }
  return found;
}

/** Where a name comes from that a file imports and exports in two statements. */
function importOf(text: string, name: string): string | null {
  for (const [, names, from] of text.matchAll(
    /^import (?:type )?\{([^}]*)\} from "([^"]+)";$/gmu,
  )) {
    if (names!.split(",").some((one) => one.trim().replace(/^type /u, "") === name)) return from!;
  }
  return null;
}

/** The comment that ends right in front of the (first) declaration of a name. */
export function docOf(file: string, name: string): string {
  const text = read(file);
  const at = text.search(
    new RegExp(
      `^export (?:declare |abstract |async )*(?:class|function|const|interface|type) ${name}\\b`,
      "mu",
    ),
  );
  const before = text.slice(0, at).trimEnd();
  if (at === -1 || !before.endsWith("*/")) return "";
  return before.slice(before.lastIndexOf("/**"));
}

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly "agent-trainer-source"?: string }>>;
}

/** Every name that the package exports. */
export function publicNames(): readonly PublicName[] {
  const { exports } = JSON.parse(read("package.json")) as Manifest;
  return Object.entries(exports).flatMap(([subpath, { "agent-trainer-source": source }]) => {
    if (source === undefined) return [];
    const entry = `agent-trainer${subpath.slice(1)}`;
    return exportsOf(source.slice(2)).map(({ name, isType, original, file }) => ({
      entry,
      name,
      isType,
      file,
      doc: docOf(file, original),
    }));
  });
}
