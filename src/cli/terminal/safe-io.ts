/**
 * The border to the terminal: of what a command writes, only the sequences that this program uses itself reach it,
 * colors and the rewriting of a line. Any other control character is shown as JSON would write it, which does not
 * change what JSON means.
 */
import type { CliIo } from "./io.ts";
import type { TextStream } from "./terminal.ts";

// oxlint-disable-next-line no-control-regex
const own = /^(?:\u001B\[(?:\d{1,3}(?:;\d{1,3})*m|2K)|\r\u001B\[2K|\r\n)$/u;
// oxlint-disable-next-line no-control-regex
const controls = /\r?\u001B\[[\d;]{1,16}[mK]|\r\n|(?![\n\t])\p{Cc}/gu;

/** As one line of JSON has it: `\u009b`. */
const escaped = (text: string): string =>
  text.replaceAll(
    /(?![\n\t])\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export const terminalText = (text: string): string =>
  text.replaceAll(controls, (found) => (own.test(found) ? found : escaped(found)));

const safeStream = (stream: TextStream): TextStream => ({
  write: (text) => stream.write(terminalText(text)),
  get isTTY() {
    return stream.isTTY;
  },
  get columns() {
    return stream.columns;
  },
});

export const safeIo = ({ stdout, stderr }: CliIo): CliIo => ({
  stdout: safeStream(stdout),
  stderr: safeStream(stderr),
});
