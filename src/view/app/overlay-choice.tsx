/** What the text of the responses is coloured by. */
import { overlays } from "./token-quantities.ts";

interface OverlayProps {
  /** Empty for none. */
  readonly overlay: string;
  readonly onChoose: (overlay: string) => void;
}

export function OverlayChoice({ overlay, onChoose }: OverlayProps) {
  return (
    <label class="row small">
      Colour the text by
      <select value={overlay} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">nothing</option>
        {overlays.map(([name]) => (
          <option key={name} value={name} selected={name === overlay}>
            {name}
          </option>
        ))}
      </select>
      {overlay !== "" && (
        <span class="legend" aria-hidden="true">
          {(overlay === "advantage"
            ? ["less3", "less1", "heat0", "more1", "more3"]
            : ["heat0", "heat1", "heat2", "heat3", "heat4", "heat5"]
          ).map((heat) => (
            <i key={heat} class={heat} />
          ))}
          {overlay === "advantage" ? "below to above the group" : legends[overlay]}
        </span>
      )}
    </label>
  );
}

const legends: Readonly<Record<string, string>> = {
  "log-probability": "likely to unlikely",
  entropy: "certain to open",
  "importance ratio": "as sampled to far from it",
};
