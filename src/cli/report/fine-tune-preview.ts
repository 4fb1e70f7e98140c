/** Shows what fine-tuning trains on: in colour on a terminal, in double brackets elsewhere. */
import type { FineTunePreview, PreviewRow } from "../../launch/finetune/preview.ts";
import { type Colors, safeText } from "../terminal/terminal.ts";

function rowText({ at, side, tokens, trained, parts }: PreviewRow, colors: Colors): string {
  const name = side === null ? at : `${at} (${side})`;
  const text = parts
    .map((part) => {
      const shown = safeText(part.text);
      if (!colors.isColorSupported) return part.trained ? `⟦${shown}⟧` : shown;
      return part.trained ? colors.green(shown) : colors.dim(shown);
    })
    .join("");
  return `${colors.bold(name)}  ${trained} of ${tokens} tokens are trained on\n${text}\n`;
}

export function formatPreview(
  { rows, examples, tokens, warnings }: FineTunePreview,
  colors: Colors,
): string {
  const legend = colors.isColorSupported
    ? `${colors.green("green")}: trained on, ${colors.dim("dim")}: context`
    : "⟦trained on⟧, the rest is context";
  return [
    ...rows.map((row) => rowText(row, colors)),
    legend,
    `${examples.train} examples to train on, ${examples.val} held out; ${tokens.trained} of ${tokens.all} tokens are trained on, the longest sequence has ${tokens.longest}`,
    ...warnings.map((warning) => `${colors.yellow("warning:")} ${safeText(warning)}`),
    "",
  ].join("\n");
}
