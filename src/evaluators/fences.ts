/** Fenced blocks in what a model wrote, read as CommonMark has them. */

/** A block between fences. */
export interface FencedBlock {
  /** What follows the opening fence in its line. */
  readonly info: string;
  readonly text: string;
  /** Whether there is nothing but white space around it. */
  readonly isAlone: boolean;
}

interface OpenBlock {
  readonly info: string;
  readonly fence: string;
  readonly indent: number;
  readonly first: number;
}

const opening = /^([ \t]*)(`{3,}|~{3,})(.*)$/u;

function openedBy(line: string, at: number): OpenBlock | null {
  const [, indent = "", fence = "", info = ""] = opening.exec(line) ?? [];
  // What has backticks behind backticks is code within a line.
  if (fence === "" || (fence.startsWith("`") && info.includes("`"))) return null;
  return { info: info.trim(), fence, indent: indent.length, first: at + 1 };
}

/** A fence of at least the same length alone in its line, which is not indented like code. */
function closes({ fence, indent }: OpenBlock, line: string): boolean {
  const text = line.trimStart();
  if (!text.startsWith(fence) || line.length - text.length > indent + 3) return false;
  return [...text.trimEnd()].every((char) => char === fence[0]);
}

/** Without the indentation that the opening fence has. */
function unindented(line: string, indent: number): string {
  let at = 0;
  while (at < indent && (line[at] === " " || line[at] === "\t")) at++;
  return line.slice(at);
}

/** In order; a block that is not closed reaches to the end. */
export function fencedBlocks(text: string): readonly FencedBlock[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/u, ""));
  const isBlank = (from: number, to: number): boolean =>
    lines.slice(from, to).every((line) => line.trim() === "");
  const blocks: FencedBlock[] = [];
  let open: OpenBlock | null = null;
  const take = ({ info, indent, first }: OpenBlock, end: number): void => {
    const body = lines.slice(first, end).map((line) => unindented(line, indent));
    const isAlone = blocks.length === 0 && isBlank(0, first - 1) && isBlank(end + 1, lines.length);
    blocks.push({ info, text: body.join("\n"), isAlone });
  };
  for (const [at, line] of lines.entries()) {
    if (open === null) open = openedBy(line, at);
    else if (closes(open, line)) {
      take(open, at);
      open = null;
    }
  }
  if (open !== null) take(open, lines.length);
  return blocks;
}
