/** A warning as a terminal shows it: its first word in color, broken between words. */
import { type Colors, safeText } from "./terminal.ts";
import { wrapText } from "./wrap-text.ts";

export function warningText(message: string, colors: Colors, columns: number | undefined): string {
  const lines = wrapText(`warning: ${safeText(message)}`, columns, 2);
  return lines.replace("warning:", colors.yellow("warning:"));
}
