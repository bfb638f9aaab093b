/** Turns the documents of the repository into the pages of the site. Pure: takes texts, gives texts. */
import { posix } from 'node:path';

/** A page of the site: its path below the site's root, and its Markdown. */
export interface SitePage {
  readonly path: string;
  readonly text: string;
}

/** Where links to files lead that are no page of the site, such as `https://github.com/o/r/blob/main`. */
export interface Target {
  readonly sources: string;
  /** Documents by path from the root of the repository. */
  readonly documents: ReadonlyMap<string, string>;
}

/** Documents outside of `docs/` that are pages of the site. */
const OUTSIDE: Readonly<Record<string, string>> = {
  'SECURITY.md': 'security.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
};

/** The documents of a repository that may be pages, by a function that lists a folder. */
export function documentFiles(list: (folder: string) => readonly string[]): string[] {
  return ['.', 'docs', 'docs/adr'].flatMap((folder) =>
    list(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => posix.join(folder, name)),
  );
}

/** The pages of the site: one for each document, rule group and command. */
export function sitePages(target: Target): SitePage[] {
  return [...target.documents].flatMap(([file, text]) => {
    const path = pageOf(file);
    if (path === undefined) return [];
    let pages: readonly SitePage[] = [{ path, text }];
    if (file === 'docs/rules.md') pages = rulePages(text);
    if (file === 'docs/cli.md') pages = commandPages(text, target.documents);
    return pages.map((page) => ({ path: page.path, text: relinked(page, file, target) }));
  });
}

/** The page of a document, by its path in the repository; undefined for what is no page. */
export function pageOf(file: string): string | undefined {
  if (file === 'docs/rules.md') return 'rules/index.md';
  if (file === 'docs/cli.md') return 'commands/index.md';
  return OUTSIDE[file] ?? /^docs\/((?:adr\/)?[^/]+\.md)$/.exec(file)?.[1];
}

/** One page for each group of rules, and a page that lists all of them. */
export function rulePages(text: string): SitePage[] {
  const [intro = '', ...groups] = withoutNote(text).split(/^## /m);
  const pages = groups.map((group) => rulePage(group));
  const rows = pages.flatMap(({ rules, path }) =>
    rules.map(
      ({ id, severity, summary }) =>
        `| <a id="${anchor(id)}"></a>[\`${id}\`](${posix.basename(path)}#${anchor(id)}) | ${severity} | ${summary} |`,
    ),
  );
  const list = ['## Groups', '', '| group | rules |', '|---|---|']
    .concat(
      pages.map(({ title, rules, path }) => `| [${title}](${posix.basename(path)}) | ${rules.length} |`),
    )
    .concat(['', '## All rules', '', '| rule | severity | what must hold |', '|---|---|---|', ...rows, '']);
  return [
    // Its links are those of `docs/`.
    { path: 'rules/index.md', text: intro.replaceAll('](', '](../') + list.join('\n') },
    ...pages.map(({ path, text: page }) => ({ path, text: page })),
  ];
}

interface RuleLine {
  readonly id: string;
  readonly severity: string;
  readonly summary: string;
}

/** The page of one group, and the rules on it. */
function rulePage(group: string): SitePage & { readonly title: string; readonly rules: RuleLine[] } {
  const [title = '', ...lines] = group.split('\n');
  const path = `rules/${title.toLowerCase().replaceAll(' ', '-')}.md`;
  // The site makes the same anchors of the headings.
  const body = lines
    .join('\n')
    .replaceAll(/^### <a id="[^"]+"><\/a>/gm, '## ')
    .replace(/^Source: /m, '[Source](index.md): ');
  const sections = /^## `([^`]+)`\n\n([\w ]+): (.*)\.$/gm;
  const rows = /^\| <a id="[^"]+"><\/a>`([^`]+)` \| (\w+) \| (.*) \|$/gm;
  const rules = [...body.matchAll(sections), ...body.matchAll(rows)].map(
    ([, id = '', severity = '', summary = '']) => ({ id, severity, summary }),
  );
  const head = title.includes(' ') ? `# Rules: ${title.toLowerCase()}` : `# Rules: ${title}`;
  const about =
    'To repair a failed pull request, see [Start: authors](../start-author.md). In examples, the rule reports the lines with `-`, and accepts those with `+`; where a change comes first, it reports the change, and accepts it with the fix. A [policy](../policy.md) can change the severity of each rule (`rules`), or waive it for a package until a date (`waivers`).';
  return { path, title, rules, text: [head, '', about, '', body.trim(), ''].join('\n') };
}

/** One page for each command, and a page that lists them by group. */
export function commandPages(text: string, documents: ReadonlyMap<string, string> = new Map()): SitePage[] {
  const [intro = '', ...groups] = withoutNote(text).split(/^## /m);
  const pages = groups.flatMap((group) => group.split(/^### /m).slice(1)).map((one) => commandPage(one));
  const known = new Map(pages.map((page) => [page.words, page]));
  const list = groups.map((group) => {
    const [title = '', ...commands] = group.split(/^### /m);
    const rows = commands.flatMap((one) => {
      const page = known.get(wordsOf(one));
      return page ? [`| [\`portolan ${page.words}\`](${posix.basename(page.path)}) | ${page.summary} |`] : [];
    });
    return [`## ${title.trim()}`, '', '| command | what it does |', '|---|---|', ...rows, ''].join('\n');
  });
  return [
    { path: 'commands/index.md', text: `${intro}${list.join('\n')}` },
    ...pages.map((page) => ({ path: page.path, text: page.text + guides(page.words, documents) })),
  ];
}

/** The words of a command: the first line of its part, without the program. */
function wordsOf(part: string): string {
  return (part.split('\n')[0] ?? '').replace(/^portolan /, '');
}

/** The page of one command. */
function commandPage(part: string): SitePage & { readonly words: string; readonly summary: string } {
  const [title = '', ...lines] = part.split('\n');
  const words = wordsOf(part);
  // The help starts with its usage; the summary is the first line after it.
  const [summary = ''] = lines.filter((line) => line !== '' && !/^(?:```|Usage:| )/.test(line));
  const text = [`# ${title}`, '', ...helpBlocks(lines).map(helpMarkdown), ''].join('\n');
  return { path: `commands/${words.replaceAll(' ', '-')}.md`, words, summary, text };
}

/** The parts of a command's help between empty lines. */
function helpBlocks(lines: readonly string[]): string[] {
  const help = lines
    .join('\n')
    .replaceAll(/^```.*$/gm, '')
    .trim();
  return help.split(/\n{2,}/);
}

/** A part of a help as Markdown: options as a list, examples as code, and text that fits narrow screens. */
function helpMarkdown(block: string): string {
  const [first = '', ...rest] = block.split('\n');
  const fenced = (lines: readonly string[]): string => ['```', ...lines, '```', ''].join('\n');
  if (first.startsWith('Usage: ')) return fenced([first, ...rest]);
  // `  -o, --out DIR   directory to write to`: two spaces at least before the description.
  const options = rest.map((line) => /^ +(-\S.*?) {2,}(\S.*)$/.exec(line));
  if (first === 'Options:' && options.every((option) => option !== null))
    return [
      '## Options',
      '',
      ...options.map(([, name, text = '']) => `- \`${name}\`: ${escaped(text)}`),
      '',
    ].join('\n');
  if (first === 'Examples:') {
    const written = rest.map((line) => line.replace(/^ {2}/, ''));
    return ['## Examples', '', fenced(written)].join('\n');
  }
  return [first, ...rest].some((line) => line.startsWith(' '))
    ? fenced([first, ...rest])
    : `${escaped(block)}\n`;
}

/** Text that is nothing else in Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|]/g, '\\$&').replaceAll(/^(\s*)([-+#]|\d+\.)(?= )/gm, '$1\\$2');
}

/** Links to the pages that use a command; empty if there are none. */
function guides(words: string, documents: ReadonlyMap<string, string>): string {
  const use = new RegExp(`portolan ${words}(?![\\w-])`);
  const found = [...documents].filter(
    ([file, text]) => /^docs\/[^/]+\.md$/.test(file) && !/\/(?:cli|rules)\.md$/.test(file) && use.test(text),
  );
  if (found.length === 0) return '';
  const links = found.map(([file, text]) => `- [${titleOf(text)}](../${posix.basename(file)})`);
  return ['', '## Pages that use it', '', ...links, ''].join('\n');
}

/** The first heading of a page. */
export function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

/** A page whose links lead to pages of the site, or to the sources. */
function relinked({ path, text }: SitePage, file: string, { sources, documents }: Target): string {
  // The lists of rules and commands link to pages that were made here.
  const made = file === 'docs/rules.md' || file === 'docs/cli.md';
  const rules = made ? text : withRuleLinks(text, file, documents.get('docs/rules.md') ?? '');
  return outsideCode(rules, (part) =>
    part.replaceAll(/\]\(([^)\s#]*)(#[^)\s]*)?\)/g, (link: string, to: string, hash = '') => {
      // Within the page, or with a scheme, such as `https:`.
      if (to === '' || /^[a-z]+:/.test(to) || made) return link;
      const repository = posix.normalize(posix.join(posix.dirname(file), to));
      // Pictures are copied to where the documents look for them.
      if (/\.(?:png|svg)$/.test(to)) return link;
      const page = documents.has(repository) ? pageOf(repository) : undefined;
      if (page === undefined) return `](${sources}/${repository}${hash})`;
      // A rule is on the page of its group.
      const kind = page === 'rules/index.md' ? ruleGroup(hash, documents.get(repository) ?? '') : undefined;
      return `](${posix.relative(posix.dirname(path), kind ?? page)}${hash})`;
    }),
  );
}

/** A page on which the id of each rule is a link, where it stands alone in text: not in a heading, nor in a link. */
function withRuleLinks(text: string, file: string, rules: string): string {
  const known = new Set([...rules.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id));
  const list = posix.relative(posix.dirname(file), 'docs/rules.md');
  return text.replaceAll(
    /(^ *```[\s\S]*?^ *```$)|(^#.*$)|(\[[^\]\n]*\]\([^)\n]*\))|`([a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9-]+)`/gm,
    (all: string, _code, _heading, _link, id: string | undefined) =>
      id !== undefined && known.has(anchor(id)) ? `[${all}](${list}#${anchor(id)})` : all,
  );
}

/** The page of the group that has a rule's anchor; undefined without one. */
function ruleGroup(hash: string, rules: string): string | undefined {
  const groups = rules.split(/^## /m).slice(1).map(rulePage);
  return groups.find((group) => group.rules.some(({ id }) => `#${anchor(id)}` === hash))?.path;
}

/** Changes what is not code: neither blocks nor spans. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/(^ *```[\s\S]*?^ *```$|``[^\n]*?``|`[^`\n]*`)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

/** A generated document without the comment that says so. */
function withoutNote(text: string): string {
  return text.replace(/^<!--.*-->\n/, '');
}

/** The anchor of a rule: ids have a slash. */
function anchor(id: string): string {
  return id.replace('/', '-');
}
