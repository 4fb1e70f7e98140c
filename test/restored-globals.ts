/**
 * Unit test files share a process, so what one replaces for all of it (a variable, fetch, timers, a
 * listener) or leaves running would change another file's result. Each file is checked when it ends.
 */
import { deepStrictEqual } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, vi } from "vitest";

/** Functions that tests replace; compared by identity. */
const replaceable: Record<string, () => unknown> = {
  fetch: () => globalThis.fetch,
  Date: () => globalThis.Date,
  "Date.now": () => Date.now,
  "Math.random": () => Math.random,
  setTimeout: () => globalThis.setTimeout,
  setInterval: () => globalThis.setInterval,
  "performance.now": () => performance.now,
  "process.stdout.write": () => process.stdout.write,
  "process.stderr.write": () => process.stderr.write,
  "process.env": () => process.env,
  "process.exit": () => process.exit,
  "process.kill": () => process.kill,
  "process.platform": () => process.platform,
  "process.emitWarning": () => process.emitWarning,
  "process.exitCode": () => process.exitCode,
  "process.cwd()": () => process.cwd(),
  "process.stdin.isTTY": () => process.stdin.isTTY,
  "process.stdout.isTTY": () => process.stdout.isTTY,
  "process.stdout.columns": () => process.stdout.columns,
  "fake timers": () => vi.isFakeTimers(),
};

/** What keeps a process alive or a port taken; everything else comes and goes with single calls. */
const running = ["TCPServerWrap", "PipeServerWrap", "ProcessWrap", "MessagePort", "FSEventWrap"];

function countRunning(): Record<string, number> {
  const counts = Object.fromEntries(running.map((name) => [name, 0]));
  for (const name of process.getActiveResourcesInfo())
    if (name in counts) counts[name] = counts[name]! + 1;
  return counts;
}

/** What `@openai/agents` adds once it is loaded, for good. */
const isOfAgents = (listener: Function): boolean =>
  listener.toString().includes("hasOtherListenersFor");

/** Signals and faults; a module may listen to the process's end once it is loaded. */
const listeners = (): Record<string, number> =>
  Object.fromEntries(
    process
      .eventNames()
      .map((name) => [String(name), process.listeners(name as NodeJS.Signals)] as const)
      .map(([name, all]) => [name, all.filter((one) => !isOfAgents(one)).length] as const)
      .filter(([name, count]) => count > 0 && /^SIG|^un|^warning$/u.test(name)),
  );

const state = {
  variables: { ...process.env },
  values: Object.fromEntries(Object.entries(replaceable).map(([name, read]) => [name, read()])),
  listeners: listeners(),
};
const before = countRunning();

/** What runs now and did not when the file began; ends of servers and processes take a moment. */
async function leftRunning(): Promise<Record<string, number>> {
  for (let waited = 0; ; waited += 20) {
    const left = Object.entries(countRunning())
      .map(([name, count]) => [name, count - before[name]!] as const)
      .filter(([, more]) => more > 0);
    if (left.length === 0 || waited >= 2000) return Object.fromEntries(left);
    await sleep(20);
  }
}

// Hooks end in the reverse of their order, so this one sees what the file's own have restored.
afterAll(async () => {
  const values = Object.fromEntries(
    Object.entries(replaceable).map(([name, read]) => [name, read()]),
  );
  deepStrictEqual(
    { variables: { ...process.env }, values, listeners: listeners(), running: await leftRunning() },
    { ...state, running: {} },
  );
});
