import { expect, it } from "vitest";
import { Circuit } from "./circuit.ts";

function open(): { circuit: Circuit; pass: (ms: number) => void } {
  let now = 0;
  const circuit = new Circuit({ failuresToOpen: 3, reopenAfterMs: 100 }, () => now);
  for (let i = 0; i < 3; i++) {
    expect(circuit.state).toBe("closed");
    circuit.begin();
    circuit.fail();
  }
  return { circuit, pass: (ms) => (now += ms) };
}

it("opens after failures in a row, not after as many in all", () => {
  const circuit = new Circuit({ failuresToOpen: 2, reopenAfterMs: 100 }, () => 0);
  circuit.fail();
  circuit.succeed();
  circuit.fail();
  expect(circuit.state).toBe("closed");
  circuit.fail();
  expect(circuit.state).toBe("open");
});

it("lets one call try, and closes when that succeeds", () => {
  const { circuit, pass } = open();
  expect([circuit.admits, circuit.waitMs]).toEqual([false, 100]);
  pass(100);
  expect([circuit.state, circuit.admits]).toEqual(["half-open", true]);
  circuit.begin();
  expect(circuit.admits).toBe(false);
  circuit.succeed();
  expect([circuit.state, circuit.admits]).toEqual(["closed", true]);
});

it("waits twice as long after every trial that fails, up to a minute, and forgets that on success", () => {
  const { circuit, pass } = open();
  const waits: number[] = [];
  for (let i = 0; i < 11; i++) {
    waits.push(circuit.waitMs);
    pass(circuit.waitMs);
    circuit.begin();
    circuit.fail();
  }
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000]);
  pass(circuit.waitMs);
  circuit.begin();
  circuit.succeed();
  for (let i = 0; i < 3; i++) circuit.fail();
  expect(circuit.waitMs).toBe(100);
});

it("lets another call try when a trial said nothing about the worker", () => {
  const { circuit, pass } = open();
  pass(100);
  circuit.begin();
  circuit.cancel();
  expect([circuit.state, circuit.admits]).toEqual(["half-open", true]);
});
