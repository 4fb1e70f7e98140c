/** Style of the exported page. Colors have a contrast of at least 4.5 : 1 on their background. */
export const pageStyle: string = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--box:#f6f8fa;--good:#116329;--bad:#a40e26;--accent:#0550ae}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#30363d;--box:#161b22;--good:#56d364;--bad:#ff7b72;--accent:#79c0ff}}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}td,th{text-align:left;padding:.2rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}
a{color:var(--accent)}.dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}figure{margin:0}
svg{width:100%;background:var(--box);border:1px solid var(--line)}polyline{fill:none;stroke:var(--accent);stroke-width:1.5}figcaption{font-size:.8rem;color:var(--dim)}
details{margin:.4rem 0}summary{cursor:pointer}article{border-top:2px solid var(--line);margin-top:1.5rem;padding-top:.5rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;margin:.2rem 0;padding:.5rem;background:var(--box);border-left:3px solid var(--line);font:13px/1.45 ui-monospace,monospace}
.assistant{border-left-color:var(--good)}.user{border-left-color:var(--accent)}.error,.break{border-left-color:var(--bad)}
.role{font-size:.8rem;color:var(--dim);margin-top:.6rem}.banner{padding:.4rem .6rem;border:1px solid var(--line);border-left-width:4px}.banner.bad{border-left-color:var(--bad)}.banner.good{border-left-color:var(--good)}
`.replaceAll("\n", "");
