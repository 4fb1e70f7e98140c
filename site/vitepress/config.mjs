/** VitePress, configured by what site/build.ts wrote next to this file. */
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { rewriteLinks } from "./rewrite-links.mjs";

const { pages, sidebar, charts, targets, repository, base } = JSON.parse(
  readFileSync(new URL("site.json", import.meta.url), "utf8"),
);

/** Anchors as GitHub makes them, which the pages' links are written for. */
const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/gu, "-");

export default defineConfig({
  title: "agent-trainer",
  description: "Reinforcement learning for agents in TypeScript",
  lang: "en",
  base,
  srcDir: "pages",
  // Pages again, as files to fetch.
  srcExclude: ["public/**"],
  cleanUrls: true,
  head: [["link", { rel: "icon", href: "data:," }]],
  lastUpdated: false,
  markdown: {
    // The default ones have too little contrast.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: anchorOf },
    config: (md) => rewriteLinks(md, { pages, charts, targets, repository }),
  },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/tutorial" },
      { text: "A recorded run", link: "/recorded-run" },
      { text: "API", link: "/api/" },
      { text: "All pages", link: "/contents" },
    ],
    sidebar,
    ...(repository === "" ? {} : { socialLinks: [{ icon: "github", link: repository }] }),
  },
});
