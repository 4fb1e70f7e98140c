import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Needs a C compiler with its sanitizers; the addon is compiled once for each state of the kernels. */
it("kernels neither leave their memory nor do what C leaves undefined, in random shapes", async ({
  skip,
}) => {
  const compiled = await run(process.execPath, [at("./sanitized-addon.mjs")]);
  if (compiled.stdout === "") return skip("There is no C compiler with sanitizers.");
  const { addon, preload } = JSON.parse(compiled.stdout) as { addon: string; preload: string };
  const [count, seed] = process.env["SOAK"] ? ["50000", String(Date.now())] : ["2000", "1"];
  const program = at("./fuzz-program.ts");
  // Node leaves memory to the system when it ends: no leaks.
  const env = { ...process.env, LD_PRELOAD: preload, ASAN_OPTIONS: "detect_leaks=0" };
  const { stdout } = await run(process.execPath, ["--import", "tsx", program, addon, count, seed], {
    env,
  });
  expect(JSON.parse(stdout)).toEqual({ runs: Number(count), unknown: [] });
});
