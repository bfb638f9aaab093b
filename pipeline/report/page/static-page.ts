/** A page as one HTML file that runs no scripts and loads nothing. */
import { escapeXml } from '../../text.ts';

interface StaticPage {
  readonly title: string;
  /** HTML of the line under the title. */
  readonly about: string;
  /** CSS of this page alone. */
  readonly style: string;
  /** HTML; empty parts are left out. */
  readonly parts: readonly string[];
}

/** A page without scripts as HTML. */
export function staticPage({ title, about, style, parts }: StaticPage): string {
  const csp = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${csp}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(title)}</title>
<style>${STYLE}
${style}</style>
</head>
<body>
<header><h1>${escapeXml(title)}</h1><p>${about}</p></header>
<main>
${parts.filter((part) => part !== '').join('\n')}
</main>
</body>
</html>
`;
}

/** A section of a page. @param content HTML */
export function part(heading: string, content: string): string {
  return `<section><h2>${escapeXml(heading)}</h2>${content}</section>`;
}

// The page's light and dark colours, and its two columns.

const LIGHT =
  '--ink:#1f2328;--ground:#ffffff;--line:#57606a;--box:#f6f8fa;--edge:#d0d7de;--good:#1a7f37;--bad:#bc4c00;--gone:#cf222e;--dim:#57606a;--link:#0550ae';
const DARK =
  '--ink:#e6edf3;--ground:#0d1117;--line:#8b949e;--box:#161b22;--edge:#30363d;--good:#3fb950;--bad:#f0883e;--gone:#f85149;--dim:#9198a1;--link:#79c0ff';

export const STYLE: string = [
  `:root{color-scheme:light;${LIGHT}}`,
  `@media(prefers-color-scheme:dark){:root{color-scheme:dark;${DARK}}}`,
  `:root[data-theme=light]{color-scheme:light;${LIGHT}}`,
  `:root[data-theme=dark]{color-scheme:dark;${DARK}}`,
  '*{box-sizing:border-box}',
  'body{margin:0;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground)}',
  'header{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center;padding:.6rem 1rem;border-bottom:1px solid var(--edge);background:var(--box)}',
  'h1{font-size:1.1rem;margin:0 auto 0 0}h2{margin:.2rem 0 .6rem}h3{margin:1rem 0 .3rem;font-size:1rem}small{font-weight:400;color:var(--dim)}',
  'select,input,button{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--line);border-radius:6px;padding:.2rem .5rem;max-width:100%}',
  'input[type=search]{width:18rem}button{cursor:pointer}',
  '.columns{display:grid;grid-template-columns:minmax(13rem,18rem) minmax(0,1fr)}',
  'nav{border-right:1px solid var(--edge);padding:.6rem;max-height:calc(100vh - 3.6rem);overflow:auto;position:sticky;top:0}',
  'nav ul{list-style:none;margin:0;padding:0}nav a{display:flex;justify-content:space-between;gap:.5rem;padding:.2rem .5rem;border-radius:6px;text-decoration:none;overflow-wrap:anywhere}',
  'nav a[aria-current]{background:var(--box);font-weight:600}nav p{margin:0 .5rem .3rem;color:var(--dim)}',
  'a{color:var(--link)}main{padding:.8rem 1.2rem;min-width:0}main:focus{outline:none}',
  ':focus-visible{outline:3px solid var(--link);outline-offset:2px}',
  '.badge{color:var(--bad);white-space:nowrap;font-size:.85em}',
  '.path-box{border:1px solid var(--edge);border-radius:8px;padding:.4rem 1rem .6rem;background:var(--box)}',
  '#answer{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:0 1.5rem}#answer>p{grid-column:1/-1}#answer h3{margin:.2rem 0}#answer p{margin:.2rem 0}',
  '.steps{display:flex;flex-wrap:wrap;gap:.3rem;padding:0;margin:.3rem 0;list-style:none}',
  '.steps li{border:1px solid var(--line);border-radius:6px;padding:0 .5rem;font-family:ui-monospace,Menlo,Consolas,monospace;background:var(--ground)}',
  '.steps li:not(:last-child)::after{content:" \\2192"}',
  '.good{color:var(--good);margin:.2rem 0}.warn{color:var(--bad);margin:.2rem 0;font-weight:600}',
  '.picture{overflow-x:auto;border:1px solid var(--edge);border-radius:8px;padding:.3rem}.picture .stop{cursor:pointer}',
  '.picture .stop:focus-visible{outline:none}.picture .stop:focus-visible rect{stroke:var(--link);stroke-width:3.5}',
  '.legend,.where{color:var(--dim);font-size:.9em}',
  '.finding{border-left:4px solid var(--line);padding:.1rem .8rem;margin:.7rem 0;overflow-wrap:anywhere}.finding p{margin:.15rem 0}',
  '.asked{margin:.1rem 0;white-space:pre-wrap}.finding details{margin:.4rem 0}.finding summary{cursor:pointer}',
  '.overview{border-collapse:collapse;margin:.8rem 0 1.4rem}.overview th,.overview td{text-align:left;vertical-align:top;padding:.2rem .9rem .2rem 0;border-bottom:1px solid var(--line)}.overview tr.error strong{color:var(--gone)}',
  '.finding.error{border-color:var(--gone)}.finding.warning{border-color:var(--bad)}',
  'code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.93em;background:var(--box);padding:0 .2em;border-radius:4px}',
  '.fleet summary{cursor:pointer}.fleet-table{border-collapse:collapse;margin:.4rem 0}.fleet-table :is(th,td){text-align:left;padding:.15rem .9rem .15rem 0;border-bottom:1px solid var(--edge)}.fleet-table td{overflow-wrap:anywhere}.fleet-table :is(th,td):last-child{text-align:right}',
  '.jump{position:absolute;left:-99rem}.jump:focus{left:.5rem;top:.5rem;background:var(--ground);padding:.3rem;z-index:2}',
  '@media(max-width:46rem){.columns{grid-template-columns:1fr}nav{position:static;max-height:12rem;border-right:0;border-bottom:1px solid var(--edge)}.overview :is(th,td){padding-right:.5rem;overflow-wrap:anywhere}.overview :is(th,strong,code){overflow-wrap:normal}.overview :is(th,td):nth-child(3){display:none}}',
].join('\n');
