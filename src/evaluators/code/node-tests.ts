/**
 * Tests of a JavaScript program: they see its names, and follow it in its file. A harness replies with the secret when
 * they have come to their end, and tells an exit of theirs from one of the program by the lines of the stack.
 */

const importLine = /^[ \t]*import\s+(?:([^"';]+?)\s+from\s+)?(["'][^"'\n]+["'])[ \t]*;?/gmu;

/** The names of an import statement, for `const ... = await import()`. */
function bindings(clause: string): readonly string[] {
  const [, single, rest = ""] = /^(?:([\w$]+)\s*,?\s*)?(.*)$/su.exec(clause)!;
  const named = rest.startsWith("*")
    ? rest.replace(/^\*\s*as\s+/u, "")
    : rest.replaceAll(/\sas\s/gu, ": ");
  return [
    ...(single === undefined ? [] : [`{ default: ${single} }`]),
    ...(named === "" ? [] : [named]),
  ];
}

/** In a block, so that names of the tests may be names of the program; imports cannot stand there. */
function inBlock(tests: string): string {
  const imports: string[] = [];
  const rest = tests.replaceAll(importLine, (_all, clause: string | undefined, from: string) => {
    const names = clause === undefined ? [] : bindings(clause);
    const load = `await import(${from});`;
    imports.push(...(names.length === 0 ? [load] : names.map((name) => `const ${name} = ${load}`)));
    return "";
  });
  return `{ ${imports.join(" ")}\n${rest}\n}`;
}

/** The program with tests behind it, and the harness to start it with. */
export function withTests(
  program: string,
  tests: string,
  { file, id }: { readonly file: string; readonly id: string },
): { readonly program: string; readonly harness: string } {
  const mark = (what: string): string => `globalThis[Symbol.for(${JSON.stringify(id)})].${what}();`;
  const block = file.endsWith(".mjs") ? inBlock(tests) : `{\n${tests}\n}`;
  const firstLine = program.split(/\r\n|[\n\r\u2028\u2029]/u).length + 1;
  return {
    program: `${program}\n;${mark("begin")} ${block}\n;${mark("end")}\n`,
    harness: harness(file, id, firstLine),
  };
}

const harness = (file: string, id: string, firstLine: number): string => `
import assert from "node:assert";
import { readFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const secret = readFileSync(3, "utf8");
const write = writeSync;
const exit = process.exit.bind(process);
const activeNow = process.getActiveResourcesInfo.bind(process);
const interval = setInterval;
let state = "program";
Object.freeze(assert);
Object.freeze(assert.strict);

/** Whether lines of the program and of the tests are on the stack. */
function callers() {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = Infinity;
  Error.prepareStackTrace = undefined;
  const lines = [...new Error().stack.matchAll(/${file.replace(".", "\\.")}:(\\d+)/gu)].map((one) => Number(one[1]));
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  return { program: lines.some((line) => line < ${firstLine}), tests: lines.some((line) => line >= ${firstLine}) };
}

const late = new Error("The program ended itself during its tests.");
const pass = (error) => {
  if (error === late) return;
  console.error(error);
  exit(1);
};
process.exit = (code = process.exitCode ?? 0) => {
  const by = callers();
  if (by.program && !by.tests && state !== "program") {
    // What the program does by itself, such as at the end of its input, does not end tests that wait.
    process.off("uncaughtException", pass).on("uncaughtException", pass);
    throw late;
  }
  if (by.program) state = "ended";
  else if (by.tests) state = "done";
  exit(code);
};
syncBuiltinESMExports();
process.on("exit", (code) => {
  if (code === 0 && state === "done") write(3, secret);
});
let before = [];
// What only waits for others.
const endless = /ServerWrap|FSEvent|StatWatcher|Signal|Process/u;
const active = () => activeNow().filter((one) => !endless.test(one));
globalThis[Symbol.for(${JSON.stringify(id)})] = {
  begin: () => {
    state = "tests";
    before = active();
  },
  end: () => {
    state = "done";
    let quiet = 0;
    // What the program keeps open, such as a server, does not keep tests from their end.
    interval(() => {
      const left = [...before];
      const isQuiet = active().every((one) => left.includes(one) && left.splice(left.indexOf(one), 1));
      quiet = isQuiet ? quiet + 1 : 0;
      if (quiet === 3) exit(process.exitCode ?? 0);
    }, 20).unref();
  },
};
await import("./${file}");
`;
