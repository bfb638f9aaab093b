// npm run site [-- --base PATH --name VERSION --versions PATH --sources URL --out DIR]: builds the documentation site with the playground.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { GROUPS } from './navigation.ts';
import { documentFiles, pageOf, type SitePage, sitePages, titleOf } from './pages.ts';

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '/portolan/' },
    name: { type: 'string', default: 'main' },
    versions: { type: 'string' },
    sources: { type: 'string', default: 'https://github.com/portolan/portolan/blob/main' },
    out: { type: 'string', default: 'site/dist' },
  },
});
const PAGES = 'site/pages';
const HOME_PICTURE = '/pictures/terminal-short.svg';

const documents = new Map(documentFiles(readdirSync).map((file) => [file, readFileSync(file, 'utf8')]));
const pages = sitePages({ sources: values.sources, documents });
rmSync(PAGES, { recursive: true, force: true });
for (const { path, text } of [...pages, { path: 'index.md', text: readFileSync('site/index.md', 'utf8') }])
  write(join(PAGES, path), text);
cpSync('docs/pictures', join(PAGES, 'pictures'), { recursive: true });
// The home page names its picture by its address.
cpSync(`docs${HOME_PICTURE}`, join(PAGES, 'public', HOME_PICTURE));
write(
  join(PAGES, 'site.json'),
  JSON.stringify({
    base: values.base,
    version: values.name,
    versions: values.versions ?? `${values.base}versions.json`,
    sidebar: sidebar(pages),
  }),
);
if (values.versions === undefined)
  write(join(PAGES, 'public', 'versions.json'), JSON.stringify([{ name: values.name, base: values.base }]));
install();
execFileSync(process.execPath, ['scripts/playground.mjs', join(PAGES, 'public', 'try.html'), '--site'], {
  stdio: 'inherit',
});
execFileSync(
  process.execPath,
  ['node_modules/vitepress/bin/vitepress.js', 'build', '--outDir', resolve(values.out)],
  { cwd: 'site', stdio: 'inherit' },
);

/** The sidebar of each part of the site: the groups of pages, or every command, rule group or decision. */
function sidebar(all: readonly SitePage[]): object {
  const item = ({ path, text }: SitePage): object => ({
    // The group says the rest.
    text: titleOf(text)
      .replace(/^(?:portolan|Rules:) /, '')
      .replace(/^Start: (.)/, (_, first) => first.toUpperCase()),
    link: `/${path.replace(/\.md$/, '.html')}`,
  });
  const below = (folder: string): object[] =>
    all.filter(({ path }) => path.startsWith(folder) && !path.endsWith('/index.md')).map(item);
  const part = (text: string, folder: string): object[] => [{ text, items: below(folder) }];
  const groups = GROUPS.map(({ title, pages: names }) => ({
    text: title,
    items: names.flatMap((name) => all.filter(({ path }) => path === pageOf(name)).map(item)),
  }));
  return {
    '/': groups,
    '/commands/': part('Commands', 'commands/'),
    '/rules/': part('Rules', 'rules/'),
    '/adr/': part('Decisions', 'adr/'),
  };
}

/** Installs the generator, if it is not there as the lock file says. */
function install(): void {
  const lock = readFileSync('site/package-lock.json', 'utf8');
  const mark = 'site/node_modules/.installed-lock.json';
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  execFileSync('npm', ['ci', '--silent', '--ignore-scripts'], { cwd: 'site', stdio: 'inherit' });
  writeFileSync(mark, lock);
}

/** Writes a file, with the folders above it. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
