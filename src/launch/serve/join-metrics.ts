/** Metrics of several models as one text: each line gets the label `model`. */

/** @param texts by the model's name, in Prometheus' text format; every metric in it has its own lines together */
export function joinMetrics(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const [name, text] of texts) {
    const label = `model=${JSON.stringify(name)}`;
    let family = { head: [] as string[], samples: [] as string[] };
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const metric = /^# (?:HELP|TYPE) (\S+)/u.exec(line)?.[1];
      if (metric !== undefined) {
        family = families.get(metric) ?? { head: [], samples: [] };
        families.set(metric, family);
        if (!family.head.includes(line)) family.head.push(line);
      } else {
        family.samples.push(
          line.replace(/^([\w:]+)(?:\{([^\n]*)\})? (?=\S+$)/u, (_all, own: string, labels = "") =>
            labels === "" ? `${own}{${label}} ` : `${own}{${label},${labels as string}} `,
          ),
        );
      }
    }
  }
  return [...families.values()]
    .flatMap(({ head, samples }) => [...head, ...samples])
    .join("\n")
    .concat("\n");
}
