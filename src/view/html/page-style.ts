/** Style of the exported page: the sheets that the served page begins with, and what only this one has. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const shared = ["tokens.css", "base.css", "conversation.css"] as const;

/** Next to the built page, or where that is built from. */
const folders = ["../assets/", "../app/style/"];

const own = `
body{max-width:70rem;margin:0 auto;padding:var(--s4)}
section,article{margin-top:var(--s4)}
article{border-top:1px solid var(--line);padding-top:var(--s4)}
article .outcome{margin:var(--s2) 0}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:var(--s4)}
.panel>h2{margin-bottom:var(--s2)}section>h3{margin:var(--s3) 0 var(--s1);color:var(--fg)}.overview{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:var(--s4)}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:var(--s4)}
.sides pre{padding-left:var(--s3);border-left:2px solid var(--line)}
svg{width:100%;height:auto}svg .curve{fill:none;stroke:var(--line1);stroke-width:1.75}svg .band{fill:var(--line1);opacity:.16}
svg .point{fill:var(--line2)}svg .best{fill:none;stroke:var(--fg);stroke-width:1.5}svg .grid{stroke:var(--line)}svg text{fill:var(--dim);font:11px var(--font)}
${Array.from({ length: 9 }, (_, i) => `.q${i}{fill:var(--seq${i})}`).join("")}.learned{stroke:var(--fg);stroke-width:2;vector-effect:non-scaling-stroke}
.map{width:100%}.map td:nth-child(2){width:60%}.map td{padding:1px var(--s2) 1px 0;border:0}.map svg{display:block;height:1rem;min-width:14rem}.map th{padding:1px var(--s3) 1px 0;border:0}
.list{width:100%;font:var(--small)}.scroll{overflow-x:auto}figcaption{font:var(--small);color:var(--dim)}li{margin:var(--s1) 0}
`;

let made: string | undefined;

function read(name: string): string {
  const paths = folders.map((folder) => fileURLToPath(new URL(folder + name, import.meta.url)));
  return readFileSync(paths.find((path) => existsSync(path)) ?? paths[0] ?? "", "utf8");
}

/** Without comments, on one line. */
export function pageStyle(): string {
  made ??= [...shared.map(read), own]
    .join("\n")
    .replaceAll(/\/\*.*?\*\//gsu, "")
    .replaceAll(/\s+/gu, " ");
  return made;
}
