/**
 * Compiles the kernels in native/ with `zig cc`.
 *
 *   npm run native                for every platform, into native/prebuilt/, with native/prebuilt/hashes.json
 *   npm run native -- --host      for this machine and as wasm, into native/build/, which is used before prebuilt
 *   npm run native -- --check     whether native/prebuilt/ holds what compiling again gives, byte for byte
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile } from "./native/compile.mjs";
import { hostPlatform, platforms } from "./native/platforms.mjs";
import { hashOf, hashSources } from "./native/sources.mjs";
import { openZig, zigVersion } from "./native/zig.mjs";

const root = join(import.meta.dirname, "..");
const prebuilt = join(root, "native/prebuilt");
const hashesFile = join(prebuilt, "hashes.json");
const { values } = parseArgs({
  options: {
    host: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});

/** @returns the files, by path in `folder` */
async function build(names, folder) {
  const zig = openZig(root);
  await Promise.all(
    names.map((name) =>
      compile(
        zig,
        platforms[name],
        join(root, ".cache/native", name),
        join(folder, name, platforms[name].file),
      ),
    ),
  );
  return Object.fromEntries(
    names.map((name) => {
      const path = `${name}/${platforms[name].file}`;
      const bytes = readFileSync(join(folder, path));
      return [path, { bytes: bytes.length, sha256: hashOf(bytes) }];
    }),
  );
}

async function buildHost() {
  const host = hostPlatform();
  const folder = join(root, "native/build");
  await build(
    [host, "wasm"].filter((name) => name in platforms),
    folder,
  );
  writeFileSync(join(folder, "sources"), hashSources(root));
}

async function buildAll() {
  rmSync(prebuilt, { recursive: true, force: true });
  const files = await build(Object.keys(platforms), prebuilt);
  const hashes = { zig: zigVersion, sources: hashSources(root), files };
  writeFileSync(hashesFile, `${JSON.stringify(hashes, null, 2)}\n`);
  rmSync(join(root, "native/build"), { recursive: true, force: true });
  for (const [path, { bytes }] of Object.entries(files))
    console.log(`${path.padEnd(40)} ${(bytes / 1000).toFixed(0).padStart(6)} kB`);
}

async function check() {
  const folder = join(root, ".cache/native-check");
  const expected = JSON.parse(readFileSync(hashesFile, "utf8")).files;
  const found = await build(Object.keys(platforms), folder);
  const wrong = Object.entries(found).filter(
    ([path, { sha256 }]) =>
      sha256 !== expected[path]?.sha256 || sha256 !== hashOf(readFileSync(join(prebuilt, path))),
  );
  for (const [path] of wrong) console.error(`${path} is not what its sources give.`);
  if (wrong.length > 0) process.exit(1);
  console.log(`${Object.keys(found).length} binaries are what their sources give.`);
}

try {
  await (values.check ? check() : values.host ? buildHost() : buildAll());
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
