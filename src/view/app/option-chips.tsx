/** Options of a run or a setting that the others do not have. */
import { clipText } from "../episode/visible-text.ts";
import type { DifferingOption } from "./differing-options.ts";

/** Characters of one option's value. */
const maxValue = 40;
const maxOptions = 6;

export function OptionChips({ options }: { options: readonly DifferingOption[] }) {
  return (
    <span class="row">
      {options.slice(0, maxOptions).map(({ key, name, value }) => (
        <span key={key} class="chip" title={`${key} = ${value}`}>
          <span class="dim">{name}</span> {clipText(value, maxValue)}
        </span>
      ))}
      {options.length > maxOptions && (
        <span class="dim small">and {options.length - maxOptions} more</span>
      )}
    </span>
  );
}
