/**
 * The page: one self-contained file that needs no server and makes no requests. Its content
 * security policy forbids requests, whatever a catalog contains.
 */
import { createHash } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { escapeXml, plainLines } from '../../text.ts';
import { SANKEY_STYLE } from '../pictures/sankey.ts';
import { HOPS_STYLE } from '../pictures/svg.ts';
import type { PageData } from './page-data.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './static-page.ts';

/** The interactive page of a report as HTML, with its script, styles and data in it. */
export function pageText(found: PageData): string {
  // HTML ends a script element at any `</`, even inside a string.
  const json = JSON.stringify(found, shownValue).replaceAll('<', '\\u003c');
  const digest = createHash('sha256').update(SCRIPT).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${digest}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(found.title)}</title>
<style>${STYLE}${HOPS_STYLE}${SANKEY_STYLE}</style>
</head>
<body>
<a class="jump" href="#main">Skip to the package</a>
<header>
<h1>${escapeXml(found.title)}</h1>
<label for="catalog">Catalog</label> <select id="catalog"></select>
<label for="search">Search</label> <input id="search" type="search" placeholder="package, version, channel ( / )">
<button id="theme" type="button">Switch theme</button>
</header>
<div class="columns">
<nav aria-label="Packages"><p id="count" aria-live="polite"></p><ul id="packages"></ul></nav>
<main id="main" tabindex="-1"></main>
</div>
<script type="application/json" id="data">${json}</script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** Names and texts of the data as the page shows them: the script sets them as they are. */
function shownValue(_: string, value: unknown): unknown {
  if (typeof value === 'string') return plainLines(value);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [plainLines(key), one]))
    : value;
}
