import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { episodeMarkdown } from "../../src/view/episode/markdown.ts";
import { viewEpisode } from "../../src/view/episode/view-episode.ts";
import { visibleText } from "../../src/view/episode/visible-text.ts";
import { exportHtml } from "../../src/view/html/export-html.ts";
import { findByName } from "../../src/view/index/query.ts";
import { indexPath } from "../../src/view/index/schema.ts";
import { RunIndex } from "../../src/view/index/run-index.ts";
import { addEpisodes, madeEpisode, newRunFolder } from "./view-run.ts";

const hostile = [
  "</pre><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "<style>body{display:none}</style><!--",
  "&lt;b&gt; ${7*7} {{7*7}}",
  "a\u202Eb\u2066c \u001B[31mred\u001B]8;;http://evil\u0007 \u0000 \u200B",
  "`````` ``` # heading",
];

it("shows what hides or reorders text", () => {
  expect(visibleText("a\u202Eb\u001B[31m\u0000\u200B\tc\n")).toBe("a⟨U+202E⟩b␛[31m␀⟨U+200B⟩\tc\n");
  expect(visibleText("👩\u200D🔬 日本 עברית")).toBe("👩\u200D🔬 日本 עברית");
});

it("exports a file without scripts, network or a tag of a model", async () => {
  const folder = newRunFolder();
  addEpisodes(
    folder,
    "000001.jsonl",
    hostile.map((text, i) => ({ id: `1/${text}/${i}`, task: text, responses: [text] })),
  );
  using index = new RunIndex(folder);
  await index.extend();
  const { text, episodes } = await exportHtml(folder, index);
  expect(episodes).toBe(hostile.length);
  const tags = new Set([...text.matchAll(/<([a-z!][a-z0-9]*)/giu)].map(([, tag]) => tag));
  for (const tag of ["script", "img", "iframe", "object", "link", "base"])
    expect(tags).not.toContain(tag);
  expect(text.match(/<style/gu)).toHaveLength(1);
  expect(text).toContain("default-src 'none'");
  expect(text).toContain("&lt;script&gt;alert(1)");
  expect(text).toContain("&amp;lt;b&amp;gt; ${7*7} {{7*7}}");
  // oxlint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u0000-\u0008\u000E-\u001F\u202A-\u202E\u2066-\u2069]/u);
  expect(text).not.toMatch(/(?:src|href)="(?!#)/u);
});

it("exports what is wrong with the run, and what it was configured with, as text", async () => {
  const folder = newRunFolder();
  const config = join(folder, "config.resolved.yaml");
  appendFileSync(config, 'rollout:\n  n: "<script>8"\n');
  const dropped = { "reward/mean": 0, "groups/count": 8, "groups/dropped/uniform_groups": 8 };
  const lines = Array.from({ length: 12 }, (_, i) => ({ step: i + 1, phase: "train", ...dropped }));
  writeFileSync(
    join(folder, "metrics.jsonl"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  using index = new RunIndex(folder);
  await index.extend();
  const { text } = await exportHtml(folder, index);
  expect(text).toContain("no reward variance</strong>: every group was dropped");
  expect(text).toContain("<code>rollout.n=&quot;&lt;script&gt;8&quot;</code>");
});

it("keeps an export of 200 episodes of very long texts and many calls below 5 MB", async () => {
  const folder = newRunFolder();
  const long = `<b>${"word ".repeat(200_000)}`;
  addEpisodes(folder, "000001.jsonl", [
    { id: "1/long/0", responses: [long] },
    { id: "1/many/0", responses: Array.from({ length: 150 }, (_, i) => `${i} ${"y".repeat(999)}`) },
  ]);
  for (let i = 0; i < 20; i++)
    addEpisodes(
      folder,
      "000002.jsonl",
      Array.from({ length: 10 }, (_, k) => ({
        id: `2/${i}/${k}`,
        responses: ["z".repeat(60_000)],
      })),
    );
  using index = new RunIndex(folder);
  await index.extend();
  const all = await exportHtml(folder, index, {}, 200);
  expect(all).toMatchObject({ episodes: 200, shortened: 200 });
  expect(Buffer.byteLength(all.text)).toBeLessThan(5_000_000);
  const { text } = await exportHtml(folder, index, { step: 1 });
  expect(text).toContain("150 calls, too long for this file");
  expect(text).toContain("more characters");
});

it("fences Markdown so that no text ends its fence", async () => {
  const folder = newRunFolder();
  const made = { id: "1/a/0", responses: [hostile[5]!] };
  addEpisodes(folder, "000001.jsonl", [made]);
  using index = new RunIndex(folder);
  await index.extend();
  const row = findByName(index.db, "1/a/0")!;
  const text = episodeMarkdown(viewEpisode(madeEpisode(made), row));
  expect(text).toContain("```````\n`````` ``` # heading\n```````");
});

it("leaves alone what has the index's name and is a folder or a link", async () => {
  const [first, second] = [newRunFolder(), newRunFolder()];
  mkdirSync(join(first, "index.db"));
  const elsewhere = join(second, "mine.sqlite");
  writeFileSync(elsewhere, "not an index");
  symlinkSync(elsewhere, join(second, "index.db"));
  for (const folder of [first, second]) {
    expect(indexPath(folder)).not.toContain(folder);
    addEpisodes(folder, "000001.jsonl", [{ id: "1/a/0", task: "a", responses: ["x"] }]);
    using index = new RunIndex(folder);
    await index.extend();
    expect(index.state().episodes).toBe(1);
  }
  expect(readFileSync(elsewhere, "utf8")).toBe("not an index");
});
