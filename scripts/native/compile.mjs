/** One platform's binary: an object for each instruction set and source, compiled at the same time, then linked. */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * @param zig runs the compiler
 * @param work where objects go
 * @param output the binary
 */
export async function compile(zig, { target, sets, sources, flags, linkFlags }, work, output) {
  mkdirSync(work, { recursive: true });
  mkdirSync(dirname(output), { recursive: true });
  const cc = ["cc", "-target", target, ...flags];
  const object = async (name, source, options) => {
    const path = join(work, `${name}.o`);
    await zig(...cc, ...options, "-c", `native/${source}`, "-o", path);
    return path;
  };
  const objects = await Promise.all([
    ...Object.entries(sets).map(([set, options]) =>
      object(set, "kernels/all.c", [...options, `-DINSTRUCTION_SET=${set}`]),
    ),
    ...sources.map((source) => object(source.replaceAll(/\W/g, "-"), source, [])),
  ]);
  const libraries = target.includes("windows") ? [await nodeLibrary(zig, target, work)] : [];
  const linked = join(work, "linked");
  await zig("cc", "-target", target, ...linkFlags, ...objects, ...libraries, "-o", linked);
  // At once: a program that has the former binary open keeps it.
  renameSync(linked, output);
}

/** What says that the functions of Node-API are in node.exe. */
async function nodeLibrary(zig, target, work) {
  const library = join(work, "node.lib");
  const machine = target.startsWith("x86_64") ? "i386:x86-64" : "arm64";
  const names = "node_modules/node-api-headers/def/node_api.def";
  if (!existsSync(library))
    await zig("dlltool", "-d", names, "-l", library, "-m", machine, "-D", "node.exe");
  return library;
}
