/** Breaks lines between words, where a terminal would break them anywhere. */

const commandLine = /^\s*\$ /u;

function wrapLine(line: string, columns: number, hanging: number): string {
  const isCommand = commandLine.test(line);
  // What is copied must stay one command.
  const end = isCommand ? " \\" : "";
  const own = /^\s*/u.exec(line)?.[0] ?? "";
  const indent = own + " ".repeat(isCommand ? 4 : hanging);
  const room = columns - end.length;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const from = lines.length === 0 ? own.length : indent.length;
    const before = rest.lastIndexOf(" ", room);
    // A word that is longer than a line stays whole.
    const at = before > from ? before : rest.indexOf(" ", Math.max(from, room));
    if (at < 0) break;
    lines.push(rest.slice(0, at).trimEnd() + end);
    rest = indent + rest.slice(at).trimStart();
  }
  return [...lines, rest].join("\n");
}

/**
 * Each line of the text in lines of at most `columns`, of which the later ones begin with the same indentation and
 * `hanging` more. Unchanged without a terminal.
 */
export function wrapText(text: string, columns: number | undefined, hanging = 0): string {
  if (columns === undefined || columns < 20) return text;
  return text
    .split("\n")
    .map((line) => (line.length > columns ? wrapLine(line, columns, hanging) : line))
    .join("\n");
}
