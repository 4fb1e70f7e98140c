/** Rules that all schemas of a machine share: a character of a string, white space. */
import type { Machine } from "../machine.ts";
import { anyCharacter } from "../strings/emit.ts";

/** Spaces that a line break may be followed by. */
const indent = 20;

export class SharedRules {
  readonly character: number;
  readonly space: number;

  constructor(machine: Machine) {
    this.character = anyCharacter(machine);
    this.space = machine.rule((from) => {
      const end = machine.state();
      machine.jump(from, end);
      machine.jump(machine.text(from, " "), end);
      let at = machine.text(from, "\n");
      for (let i = 0; i < indent; i++) {
        machine.jump(at, end);
        const next = machine.text(at, " ");
        machine.edge(at, 9, 9, next);
        at = next;
      }
      machine.jump(at, end);
      return end;
    });
  }
}
