/**
 * Compiles the addon with the compiler of this machine, with checks of addresses and undefined behaviour. Prints its
 * path, and that of the library that has to be loaded before Node; nothing where there is no such compiler.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { platforms } from "../../scripts/native/platforms.mjs";
import { hashSources } from "../../scripts/native/sources.mjs";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const flags = [
  "-std=gnu11",
  "-O1",
  "-g",
  "-fPIC",
  "-ffp-contract=fast",
  "-fno-omit-frame-pointer",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
  "-Inode_modules/node-api-headers/include",
  // Checks do not see what instructions on tiles read and write.
  "-DTILES_IN_C",
];

const library = spawnSync("cc", ["-print-file-name=libasan.so"], { encoding: "utf8" });
const preload = library.stdout?.trim() ?? "";
if (preload.startsWith("/") && process.platform === "linux") {
  const { sets, sources } = platforms[`linux-${process.arch}-gnu`];
  const folder = join(root, ".cache/native/sanitized", hashSources(root));
  const output = join(folder, "agent-trainer.node");
  if (!existsSync(output)) {
    mkdirSync(folder, { recursive: true });
    const object = async (name, source, options) => {
      const path = join(folder, `${name}.o`);
      await run("cc", [...flags, ...options, "-c", `native/${source}`, "-o", path], { cwd: root });
      return path;
    };
    const objects = await Promise.all([
      ...Object.entries(sets).map(([set, options]) =>
        object(set, "kernels/all.c", [...options, `-DINSTRUCTION_SET=${set}`]),
      ),
      ...sources.map((source) => object(source.replaceAll(/\W/g, "-"), source, [])),
    ]);
    const linked = join(folder, `linked-${process.pid}`);
    await run("cc", [...flags, "-shared", ...objects, "-lm", "-lpthread", "-o", linked]);
    renameSync(linked, output);
  }
  console.log(JSON.stringify({ addon: output, preload }));
}
