/** The monitor's site: pages without scripts, a feed, badges, patches, and everything as JSON. */
import { compareText } from '../../catalog/go/text.ts';
import { daysBetween, type MonitorEntry, type MonitoredRepository } from '../check/monitor/monitor.ts';
import { publicUrl } from '../secrets.ts';
import { amountText, escapeXml, shortList } from '../text.ts';
import { part, staticPage } from './page/static-page.ts';
import { ruleLink } from './rule-help.ts';

interface Monitored {
  /** When the site was built, ISO 8601. */
  readonly built: string;
  readonly repositories: readonly MonitoredRepository[];
  /** Repositories that could not be checked, each with the reason. */
  readonly failed: readonly { readonly name: string; readonly why: string }[];
}

interface PlacedEntry {
  readonly repository: MonitoredRepository;
  readonly entry: MonitorEntry;
}

/** Entries of the feed, the latest. */
const MOST_FED = 100;
/** Where the site is, for the feed alone: its other links are relative. */
const DEFAULT_URL = 'https://portolan.github.io/monitor/';

const OWN_STYLE = [
  'main{max-width:72rem;margin:0 auto}main,header{overflow-wrap:anywhere}header{display:block;padding:.6rem max(1.2rem,calc((100vw - 72rem)/2 + 1.2rem))}header p{margin:0;color:var(--dim)}',
  'h2{margin:2rem 0 .4rem;font-size:1.3rem;line-height:1.25}h3 small{white-space:nowrap}',
  '.tiles{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.8rem;margin:1rem 0}.tile{border:1px solid var(--edge);border-radius:8px;padding:.5rem .9rem;background:var(--box)}.tile b{display:block;font-size:2rem;line-height:1.2}.tile.stop b{color:var(--gone)}.tile.good b{color:var(--good)}.tile.good{color:inherit;margin:0}',
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--edge)}.number{text-align:right;white-space:nowrap}.day{white-space:nowrap}td{overflow-wrap:anywhere}',
  '.entry{border-left:4px solid var(--good);padding:.1rem .8rem;margin:1rem 0}.entry.stuck{border-color:var(--gone)}.entry p,.entry ul{margin:.25rem 0}.state{font-weight:600}.stuck .state{color:var(--gone)}.repaired .state{color:var(--good)}',
  'pre{background:var(--box);border:1px solid var(--edge);border-radius:8px;padding:.7rem 1rem;overflow-x:auto;font-size:.85em}summary{cursor:pointer}',
  '@media(max-width:46rem){main,header{padding:.6rem}.tiles{grid-template-columns:1fr;gap:.4rem}.tile,.tile b{display:flex;align-items:center;gap:.8rem}th,td{padding-right:.5rem}.wide{display:none}}',
].join('\n');

/** Files of the site by path. @param url where it will be */
export function monitorSite(monitored: Monitored, url: string = DEFAULT_URL): Map<string, string> {
  const { repositories } = monitored;
  const files = new Map([
    ['index.html', indexPage(monitored)],
    ['feed.xml', feed(monitored, publicUrl(url))],
    [
      'monitor.json',
      `${JSON.stringify({ apiVersion: 'portolan/v1alpha1', kind: 'Monitor', ...monitored }, null, 2)}\n`,
    ],
  ]);
  for (const repository of repositories) {
    const at = fileName(repository.name);
    files.set(`${at}.html`, repositoryPage(repository));
    const stuck = repository.entries.filter(({ state }) => state === 'stuck');
    files.set(`badges/${at}.svg`, badge(stuck.length));
    for (const name of repository.packages)
      files.set(
        `badges/${at}/${fileName(name)}.svg`,
        badge(stuck.filter((entry) => entry.package === name).length),
      );
    for (const [i, patch] of repository.entries.flatMap(patchesOf).entries())
      files.set(patchPath(repository, patch, i), patch);
  }
  return files;
}

/**
 * A name as one segment of a path, each name another one. Without its leading dot escaped, `..` would be a
 * folder.
 */
function fileName(name: string): string {
  return encodeURIComponent(name.replace('/', '+')).replaceAll('%2B', '+').replace(/^\./, '%2E');
}

/** The patches of a merge's fixes, each once. */
function patchesOf({ lost }: MonitorEntry): string[] {
  return [...new Set(lost.flatMap(({ fix }) => fix?.patch ?? []))];
}

/** Where a patch is on the site. Callers that link to it do not know its position, so it is looked for. */
function patchPath({ name, entries }: MonitoredRepository, patch: string, position?: number): string {
  const i = position ?? entries.flatMap(patchesOf).indexOf(patch);
  return `patches/${fileName(name)}/${i + 1}.patch`;
}

/** The entries of all repositories, those of the latest merges first. */
function newestFirst(repositories: readonly MonitoredRepository[]): PlacedEntry[] {
  return repositories
    .flatMap((repository) => repository.entries.map((entry) => ({ repository, entry })))
    .sort((a, b) => compareText(b.entry.merge.date, a.entry.merge.date));
}

/** The page of all repositories. */
function indexPage({ built, repositories, failed }: Monitored): string {
  const all = newestFirst(repositories);
  const stuck = all.filter(({ entry }) => entry.state === 'stuck');
  const merges = repositories.reduce((sum, one) => sum + one.merges, 0);
  return staticPage({
    title: 'Upgrade monitor of public operator catalogs',
    about: `Which merges took the upgrade path from installed versions, and who is stuck since. ${escapeXml(built.slice(0, 16).replace('T', ' '))} UTC · <a href="feed.xml">Atom feed</a> · <a href="monitor.json">JSON</a>`,
    style: OWN_STYLE,
    parts: [
      tiles(stuck.length, all.length - stuck.length, merges),
      part('Stuck today', stuck.length === 0 ? '<p>Nobody.</p>' : entryTable(stuck)),
      part('Repositories', repositoryTable(repositories)),
      repairsPart(all),
      failed.length === 0
        ? ''
        : part('Not checked', list(failed.map(({ name, why }) => `${escapeXml(name)}: ${escapeXml(why)}`))),
      part('How certain this is', CERTAINTY),
    ],
  });
}

const CERTAINTY = [
  '<p>An entry is a merge before which installed versions could upgrade to the head of a channel, and after which they cannot. Two calculations agree on each: rules that compare the catalog before and after the merge, and the resolution of each version by a reimplementation of OLM v0 and v1. Findings on which they differ are left out and counted.</p>',
  '<p>Not known: whether anybody has the version, and which commits became catalogs on clusters. Where a repository has no policy, its layout was inferred from its files. Manifests that are in no catalog were not read.</p>',
  '<p>Is an entry wrong or intended? One line in the list of the monitor removes it. Only git was used, and nothing was posted anywhere.</p>',
].join('');

/** The numbers at the top of a page. */
function tiles(stuck: number, repaired: number, merges: number): string {
  const tile = (count: number, style: string, text: string): string =>
    `<div class="tile ${style}"><b>${count}</b>${text}</div>`;
  return `<div class="tiles">${[
    tile(
      stuck,
      stuck > 0 ? 'stop' : 'good',
      stuck === 1 ? 'merge left somebody stuck' : 'merges left somebody stuck',
    ),
    tile(repaired, 'good', 'repaired since'),
    tile(merges, '', merges === 1 ? 'merge checked' : 'merges checked'),
  ].join('')}</div>`;
}

/** A table of merges that left somebody stuck. */
function entryTable(all: readonly PlacedEntry[]): string {
  const rows = all.map(({ repository, entry }) => {
    const { merge, lost } = entry;
    const versions = [...new Set(lost.filter(({ repaired }) => !repaired).flatMap((one) => one.versions))];
    return [
      escapeXml(merge.date),
      `<a href="${entryLink(repository, entry)}">${escapeXml(entry.package)}</a>`,
      escapeXml(shortList(versions)),
      escapeXml(repository.name),
      String(entry.days),
    ];
  });
  return table(['Since', 'Package', 'Versions', 'Repository', 'Days'], rows);
}

/** A table of repositories. */
function repositoryTable(repositories: readonly MonitoredRepository[]): string {
  const rows = repositories.map((one) => {
    const stuck = one.entries.filter(({ state }) => state === 'stuck').length;
    return [
      `<a href="${link(one)}.html">${escapeXml(one.name)}</a>`,
      String(stuck),
      String(one.entries.length - stuck),
      String(one.merges),
      `${escapeXml(one.from)} to ${escapeXml(one.to)}`,
    ];
  });
  return table(['Repository', 'Stuck', 'Repaired', 'Merges', 'Checked'], rows);
}

/** For each package: how many of its merges were repaired, and after how many days. */
function repairsPart(all: readonly PlacedEntry[]): string {
  const repaired = all.filter(({ entry }) => entry.state === 'repaired');
  if (repaired.length === 0) return '';
  const names = [...new Set(repaired.map(({ entry }) => entry.package))].sort();
  const rows = names.map((name) => {
    const days = repaired.filter(({ entry }) => entry.package === name).map(({ entry }) => entry.days);
    return [escapeXml(name), String(days.length), String(median(days)), String(Math.max(...days))];
  });
  return part('How long repairs took', table(['Package', 'Repairs', 'Median days', 'Most days'], rows));
}

/** The median; of an even number of values the lower one of the two in the middle. */
function median(days: readonly number[]): number {
  return [...days].sort((a, b) => a - b)[Math.floor((days.length - 1) / 2)] ?? 0;
}

/** The page of one repository. */
function repositoryPage(repository: MonitoredRepository): string {
  const { name, entries, from, to, merges, unconfirmed, removed, unchecked, tip } = repository;
  const stuck = entries.filter(({ state }) => state === 'stuck').length;
  const notes = [
    `${amountText(unconfirmed, 'finding')} left out, because the two calculations differ`,
    `${removed} ${removed === 1 ? 'entry' : 'entries'} removed by hand`,
    ...unchecked.map(({ what, why }) => `not checked: ${what}: ${why}`),
  ];
  return staticPage({
    title: name,
    about: `${amountText(merges, 'merge')} checked, ${escapeXml(from)} to ${escapeXml(to)}, up to commit ${commitLink(name, tip)} · <a href="index.html">all repositories</a> · <a href="badges/${link(repository)}.svg">badge</a>`,
    style: OWN_STYLE,
    parts: [
      tiles(stuck, entries.length - stuck, merges),
      part(
        'Merges after which installed versions had no upgrade path',
        entries.length === 0
          ? '<p>None.</p>'
          : entries.map((entry, i) => entryPart(repository, entry, i)).join(''),
      ),
      part('What else there is to say', list(notes.map(escapeXml))),
      part('How certain this is', CERTAINTY),
    ],
  });
}

/** What one merge took from whom, and since when it is repaired. */
function entryPart(repository: MonitoredRepository, entry: MonitorEntry, i: number): string {
  const { merge, state, days, rules, messages, lost } = entry;
  const { commit, date, subject, pullRequest } = merge;
  const request =
    pullRequest === undefined
      ? ''
      : ` · <a href="https://github.com/${escapeXml(repository.name)}/pull/${pullRequest}">pull request #${pullRequest}</a>`;
  const status =
    state === 'stuck' ? `stuck for ${amountText(days, 'day')}` : `repaired after ${amountText(days, 'day')}`;
  // Rules and messages are not pairs: the links stand once, before the first message.
  const messageItems = messages.map(
    (message, at) => `${at === 0 ? rules.map(ruleLink).join(' ') : ''} ${escapeXml(message)}`,
  );
  return `<article class="entry ${state}" id="e${i + 1}"><h3>${escapeXml(entry.package)} <small>${escapeXml(date)}</small></h3><p><span class="state">${status}</span> · ${commitLink(repository.name, commit)}${request}<br>${escapeXml(subject)}</p>${list(lost.map((one) => lostText(repository, date, one)))}<details><summary>What the rules report</summary>${list(messageItems)}</details></article>`;
}

/** What became of installations that lost their upgrade path, as HTML. */
function lostText(
  repository: MonitoredRepository,
  since: string,
  lost: MonitorEntry['lost'][number],
): string {
  const { olm, channel, versions, catalogs, repaired, fix } = lost;
  const who = `${shortList(versions)}${channel === undefined ? '' : ` in channel ${channel}`}, OLM ${olm}, ${shortList(catalogs, 'catalogs')}`;
  if (repaired)
    return `${escapeXml(who)}: repaired by ${commitLink(repository.name, repaired.commit)} on ${escapeXml(repaired.date)}, after ${amountText(daysBetween(since, repaired.date), 'day')}`;
  if (!fix) return `${escapeXml(who)}: stuck; no edit of one channel helps`;
  if (fix.patch === undefined) return `${escapeXml(who)}: stuck; smallest fix: ${escapeXml(fix.text)}`;
  const patch = fix.patch.split('\n').map(escapeXml).join('\n');
  return `${escapeXml(who)}: stuck<details><summary>smallest fix: ${escapeXml(fix.text)}</summary><pre>${patch}</pre><a href="${patchPath(repository, fix.patch)}">as a patch</a></details>`;
}

/** The Atom feed of the newest entries. */
function feed({ built, repositories }: Monitored, url: string): string {
  const items = newestFirst(repositories)
    .slice(0, MOST_FED)
    .map(({ repository, entry }) => {
      const { merge, state, lost } = entry;
      const versions = shortList([...new Set(lost.flatMap((one) => one.versions))]);
      return [
        '<entry>',
        `<id>urn:portolan:monitor:${escapeXml(encodeURIComponent(repository.name))}:${merge.commit}:${escapeXml(encodeURIComponent(entry.package))}</id>`,
        `<title>${escapeXml(`${entry.package}: ${versions} lost the upgrade path${state === 'repaired' ? ' (repaired)' : ''}`)}</title>`,
        `<updated>${escapeXml(merge.date)}T00:00:00Z</updated>`,
        `<link href="${escapeXml(new URL(entryLink(repository, entry), url).href)}"/>`,
        `<summary>${escapeXml(`${repository.name}, ${merge.date}, ${merge.subject}: ${entry.messages[0] ?? ''}`)}</summary>`,
        '</entry>',
      ].join('\n');
    });
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${escapeXml(url)}</id>`,
    '<title>Upgrade monitor of public operator catalogs</title>',
    '<author><name>Portolan</name></author>',
    `<updated>${escapeXml(built)}</updated>`,
    `<link rel="self" href="${escapeXml(new URL('feed.xml', url).href)}"/>`,
    ...items,
    '</feed>',
    '',
  ].join('\n');
}

/** A badge: `upgrades: 2 stuck`. */
function badge(stuck: number): string {
  const value = stuck === 0 ? 'nobody stuck' : `${stuck} stuck`;
  const color = stuck === 0 ? '#1a7f37' : '#cf222e';
  // Estimated widths of the two texts: SVG cannot measure them.
  const [left, right] = [62, stuck === 0 ? 84 : 10 + 7 * value.length];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="upgrades: ${value}"><title>upgrades: ${value}</title><rect width="${left}" height="20" fill="#24292f"/><rect x="${left}" width="${right}" height="20" fill="${color}"/><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="${left / 2}" y="14">upgrades</text><text x="${left + right / 2}" y="14">${value}</text></g></svg>\n`;
}

/** A repository's file name as a URL, which escapes the `%` that the name itself may have. */
function link({ name }: MonitoredRepository): string {
  return encodeURI(fileName(name));
}

function entryLink(repository: MonitoredRepository, entry: MonitorEntry): string {
  return `${link(repository)}.html#e${repository.entries.indexOf(entry) + 1}`;
}

function commitLink(name: string, commit: string): string {
  return `<a href="https://github.com/${escapeXml(name)}/commit/${commit}">${commit.slice(0, 12)}</a>`;
}

function list(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}

/** The columns that are numbers, days, or only shown where there is room. */
const COLUMNS: Readonly<Record<string, string>> = {
  Since: 'day',
  Repository: 'wide',
  Checked: 'wide',
  ...Object.fromEntries(
    ['Stuck', 'Repaired', 'Merges', 'Days', 'Repairs', 'Median days', 'Most days'].map((name) => [
      name,
      'number',
    ]),
  ),
};

/** An HTML table. @param rows cells as HTML */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  // The first column names the row, and is always shown.
  const styleOf = (i: number): string =>
    i === 0 && heads[0] === 'Repository' ? '' : (COLUMNS[heads[i] ?? ''] ?? '');
  const head = heads.map((name, i) => `<th scope="col" class="${styleOf(i)}">${name}</th>`);
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, i) => `<td class="${styleOf(i)}">${cell}</td>`).join('')}</tr>`,
  );
  return `<table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}
