// The site's generator: reads what `npm run site` wrote to `pages/`.
import { readFileSync } from 'node:fs';

const { base, version, versions, sidebar } = JSON.parse(readFileSync('pages/site.json', 'utf8'));

/** A compass needle. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#0b5c7a"/><path d="M16 4l5 12-5 12-5-12z" fill="#fff"/></svg>';

const ICON_ADDRESS = `data:image/svg+xml,${encodeURIComponent(ICON)}`;

export default {
  title: 'Portolan',
  description: 'GitOps catalog pipeline for Operator Lifecycle Manager',
  lang: 'en',
  base,
  srcDir: 'pages',
  metaChunk: true,
  head: [['link', { rel: 'icon', href: ICON_ADDRESS }]],
  // The home page has no main landmark of its own.
  transformHtml: (html) =>
    html.replace('<div class="VPContent is-home"', '<div role="main" class="VPContent is-home"'),
  lastUpdated: false,
  // test/site.test.ts follows every link of the built pages, with its anchor.
  ignoreDeadLinks: true,
  markdown: {
    // What GitHub shows as text stays text.
    attrs: { disable: true },
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: literal,
  },
  themeConfig: {
    version,
    versions,
    sidebar,
    logo: { src: ICON_ADDRESS, alt: '' },
    nav: [
      { text: 'Docs', link: '/start-maintainer.html', activeMatch: '^/(?!commands/|rules/|install|$)[^/]+$' },
      { text: 'Install', link: '/install.html' },
      { text: 'Commands', link: '/commands/index.html', activeMatch: '/commands/' },
      { text: 'Rules', link: '/rules/index.html', activeMatch: '/rules/' },
      { text: 'Playground', link: '/try.html', target: '_self' },
      { component: 'VersionSwitch' },
    ],
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        _render: searched,
        // Pages with all words that were typed, those with them in a heading first.
        miniSearch: {
          searchOptions: { combineWith: 'AND', prefix: true, boost: { title: 4, text: 2, titles: 1 } },
        },
        translations: { button: { buttonText: 'Search', buttonAriaLabel: 'Search' } },
      },
    },
    socialLinks: [
      { icon: 'github', link: 'https://github.com/portolan/portolan', ariaLabel: 'Sources on GitHub' },
    ],
    externalLinkIcon: true,
  },
};

/** Anchors as GitHub makes them, so that links work there and here; those of rules as findings link to them. */
function slugify(text) {
  if (/^[a-z0-9-]+\/[a-z0-9-]+$/.test(text)) return text.replace('/', '-');
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Renders Markdown as GitHub does: no emoji from `:words:`, and no templates in `{{braces}}`. */
function literal(markdown) {
  markdown.disable('emoji');
  for (const rule of ['text', 'code_inline', 'html_inline']) {
    const render = markdown.renderer.rules[rule];
    markdown.renderer.rules[rule] = (...tokens) => render(...tokens).replaceAll('{{', '&#123;&#123;');
  }
}

/** What the search finds: pages for users. */
function searched(source, env, markdown) {
  if (/^(?:adr\/|changelog)/.test(env.relativePath)) return '';
  return markdown.render(source, env);
}
