/** A page as one HTML file that runs no scripts and loads nothing. */
import { escapeXml } from '../../text.ts';
import { STYLE } from './style.ts';

interface StaticPage {
  readonly title: string;
  /** HTML of the line under the title. */
  readonly about: string;
  /** CSS of this page alone. */
  readonly style: string;
  /** HTML; empty parts are left out. */
  readonly parts: readonly string[];
}

/** The page as HTML. */
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
