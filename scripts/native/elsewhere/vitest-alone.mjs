/** As much of vitest as plain tests use, for runtimes on which vitest itself does not start. */
import { format } from "node:util";
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import * as chai from "chai";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
export const expect = Object.assign((...values) => chai.expect(...values), chai.expect);

const tests = [];
let path = [];
/** What `afterAll` of the open file or block asks for. */
let endings = [];

const titled = (title, row) =>
  format(
    title.replaceAll(/\$(\w+)/g, (_, key) => String(row[0]?.[key])),
    ...row.slice(0, (title.match(/%/g) ?? []).length),
  );

const rowsOf = (table) => table.map((row) => (Array.isArray(row) ? row : [row]));

function withEach(add) {
  const own = (title, ...rest) =>
    add(
      title,
      rest.find((value) => typeof value === "function"),
    );
  const each = (table) => (title, body) => {
    for (const row of rowsOf(table)) add(titled(title, row), () => body(...row));
  };
  return Object.assign(own, {
    each,
    skip: () => {},
    skipIf: (skips) => (skips ? Object.assign(() => {}, { each: () => () => {} }) : own),
    runIf: (runs) => own.skipIf(!runs),
  });
}

const hookOf = (title, body) => ({ path, title, body, isHook: true });

export const describe = withEach((title, body) => {
  const outer = { path, endings };
  path = [...path, title];
  endings = [];
  body();
  tests.push(...endings);
  ({ path, endings } = outer);
});
export const it = withEach((title, body) => {
  tests.push({ path, title, body });
});
export const test = it;
/** Types are checked by `npm run types`. */
const anything = new Proxy(() => anything, { get: () => anything });
export const expectTypeOf = anything;
export const beforeAll = (body) => tests.push(hookOf("before all", body));
export const afterAll = (body) => endings.push(hookOf("after all", body));

const around = { before: [], after: [] };
export const beforeEach = (body) => around.before.push({ path, body });
export const afterEach = (body) => around.after.push({ path, body });

/** Hooks of a file are those of its tests alone. */
export async function inFile(name, load) {
  path = [name];
  await load();
  tests.push(...endings);
  path = [];
  endings = [];
}

const hooksOf = (hooks, one) =>
  one.isHook ? [] : hooks.filter((hook) => hook.path.every((part, i) => part === one.path[i]));

/** Runs them in order and says how many failed. */
export async function runAll() {
  let failed = 0;
  for (const one of tests) {
    const name = [...one.path, one.title].join(" > ");
    try {
      for (const { body } of hooksOf(around.before, one)) await body();
      await one.body();
      for (const { body } of hooksOf(around.after, one)) await body();
      if (process.env.VERBOSE) console.log(`ok ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}\n${error.stack}`);
    }
  }
  console.log(`${tests.filter(({ isHook }) => !isHook).length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
