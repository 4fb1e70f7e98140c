/** A hash of everything that the binaries are made from. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");

const isSource = (path) => /\.[ch]$/.test(path);

export function hashSources(root) {
  const native = readdirSync(join(root, "native"), { recursive: true }).filter(isSource);
  const scripts = ["compile.mjs", "platforms.mjs", "zig.mjs"].map((name) =>
    join("scripts/native", name),
  );
  const paths = [...native.map((path) => join("native", path)), ...scripts];
  const lines = paths
    .map((path) => path.replaceAll("\\", "/"))
    .sort((a, b) => (a < b ? -1 : 1))
    .map(
      (path) =>
        `${path} ${hashOf(readFileSync(join(root, path), "utf8").replaceAll("\r\n", "\n"))}`,
    );
  return hashOf(lines.join("\n"));
}
