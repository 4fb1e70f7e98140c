/**
 * A plugin of markdown-it: links of a page lead where its files are on the site, and pictures of curves
 * become charts. A file that only the repository has is linked there, or plain text without its address.
 */
export function rewriteLinks(md, { pages, charts, targets, repository }) {
  md.core.ruler.push("site-links", ({ tokens, env }) => {
    const page = pages[env.relativePath];
    if (page === undefined) return;
    for (const { children } of tokens) if (children !== null) rewrite(children, targets[page]);
  });

  function rewrite(tokens, targetsOfPage) {
    const closings = [];
    for (const token of tokens) {
      if (token.type === "image") rewriteImage(token, targetsOfPage);
      else if (token.type === "link_open") closings.push(rewriteLink(token, targetsOfPage));
      else if (token.type === "link_close") token.tag = closings.pop();
    }
  }

  /** Ends with the tag that it has now. */
  function rewriteLink(token, targetsOfPage) {
    const target = targetsOfPage[token.attrGet("href")];
    if (target === undefined || target.type === "elsewhere") return token.tag;
    if (target.type !== "repository") token.attrSet("href", target.href);
    else if (repository !== "") token.attrSet("href", `${repository}/blob/main/${target.path}`);
    else {
      token.tag = "span";
      token.attrs = [["title", `${target.path} in the repository`]];
    }
    return token.tag;
  }

  function rewriteImage(token, targetsOfPage) {
    const target = targetsOfPage[token.attrGet("src")];
    if (target?.type !== "file") return;
    token.attrSet("src", target.href);
    const chart = charts[target.href];
    if (chart !== undefined) token.meta = { chart };
  }

  const image = md.renderer.rules.image;
  md.renderer.rules.image = (tokens, index, ...rest) => {
    const picture = image(tokens, index, ...rest);
    const { meta, content } = tokens[index];
    if (!meta?.chart) return picture;
    const label = md.utils.escapeHtml(content);
    return `<LiveChart name="${meta.chart}" label="${label}">${picture}</LiveChart>`;
  };
}
