/** `ADDON COUNT SEED`: runs so many operations with random shapes; prints the names of those that it knows not. */
import { loadAddon } from "../../src/engine/native/load-native.ts";
import { selfTest } from "../../src/engine/native/self-test.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { Program } from "../../src/engine/tensor/program.ts";
import { createRandom } from "../../src/util/random.ts";
import { FuzzInputs } from "./fuzz-inputs.ts";
import { fuzzedOperations } from "./fuzzed-operations.ts";

const [path, count, seed] = process.argv.slice(2) as [string, string, string];
const native = loadAddon(path);
for (const set of native.instructionSets) {
  const failure = selfTest(native, set);
  if (failure !== null) throw new Error(`${set.name}: ${failure}`);
}

const operations = [...fuzzedOperations.keys()];
const names = native.instructionSets[0]!.operations.map(({ name }) => name);
const known = new Set([...fuzzedOperations.values()].flat());
for (let index = 0; index < Number(count); index++) {
  const random = createRandom(Number(seed) + index);
  const instructionSet = native.instructionSets[index % native.instructionSets.length]!.name;
  const device = new Device({ native, instructionSet, threads: 1 + (index % 3) });
  const operation = operations[Math.floor(random() * operations.length)]!;
  // Where the sanitizer ends the process, this is its last line.
  if (process.env["VERBOSE"]) console.error(index, instructionSet, fuzzedOperations.get(operation));
  const program = new Program(device);
  operation(program, new FuzzInputs(device, random));
  program.runNow();
}
console.log(
  JSON.stringify({ runs: Number(count), unknown: names.filter((name) => !known.has(name)) }),
);
