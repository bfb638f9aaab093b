/**
 * Releases that a bot made by hand of `release-config.yaml`, made again and compared: every commit `Add PACKAGE VERSION
 * to FBC` of a community repository, on top of its parent, with the image that it wrote.
 *
 *   node scripts/run.mjs test/bench/releases.ts REPOSITORY [EVERY] [MATCHING]
 */
import { execFileSync } from 'node:child_process';
import { load } from '../../catalog/fbc/load.ts';
import type { Blobs } from '../../catalog/fbc/model.ts';
import { sourceOf } from '../../catalog/source.ts';
import { releasedTexts } from '../../pipeline/catalogs/release/release.ts';
import { treeRepository } from '../../pipeline/catalogs/release/release-repository.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { readSettings } from '../../pipeline/settings.ts';

const [directory = '.', every = '1', matching = '.'] = process.argv.slice(2);
const git = (...parameters: readonly string[]): string =>
  execFileSync('git', ['-C', directory, ...parameters], { encoding: 'utf8', maxBuffer: 1 << 28 });

const commits = git('log', '--first-parent', '--format=%H %s', '--grep=^Add .* to FBC')
  .split('\n')
  .flatMap((line) => {
    const [, id = '', name = '', version = ''] = /^(\w+) Add (\S+) (\S+) to FBC/.exec(line) ?? [];
    return id === '' || !new RegExp(matching).test(name) ? [] : [{ id, name, version }];
  })
  .filter((_, i) => i % Number(every) === 0);

const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
const repository = await openRepository(directory, { searchPath: process.env['PATH'] });
const started = process.cpuUsage();
for (const commit of commits) {
  try {
    await compare(commit);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    const why = error.message.replaceAll(/"[^"]*"|\b[0-9a-f]{40}\b|operators\/\S+/g, '…').slice(0, 90);
    count(`not made: ${why}`);
    if (error.code !== 'not-found')
      console.log(`${commit.id.slice(0, 9)} ${commit.name} ${commit.version}: ${error.message}`);
  }
}
const { user, system } = process.cpuUsage(started);
await repository.close();
for (const [what, times] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`${times}\t${what}`);
console.log(`${commits.length} commits, ${((user + system) / 1e6).toFixed(1)} s of processor time`);

async function compare({ id, name, version }: (typeof commits)[number]): Promise<void> {
  const [before, after] = [
    treeRepository(repository.objects, git('rev-parse', `${id}^`).trim()),
    treeRepository(repository.objects, id),
  ];
  const paths = git('diff', '--name-only', `${id}^`, id).split('\n').filter(Boolean);
  const templates = paths.filter((path) => path.includes('/catalog-templates/'));
  const image = newImage(
    await Promise.all(templates.map(async (path) => [await before.text(path), await after.text(path)])),
  );
  if (image === undefined) return count('not compared: the commit adds no image');
  const refuse = (host: string): never => {
    throw new PipelineError('not-allowed', `it needs an image of ${host}`);
  };
  const request = { package: name, version, image, rendering: { directory: '/', registry: refuse } };
  const { texts, findings } = await releasedTexts(before, request);
  if (findings[0]) return count(`finding: ${findings[0].rule}`);
  const changed = new Map<string, string>();
  for (const [path, text] of texts) if ((await before.text(path)) !== text) changed.set(path, text);
  count([...changed.keys()].sort().join() === [...paths].sort().join() ? 'the same files' : 'other files');
  for (const [path, text] of changed) {
    const real = await after.text(path);
    const kind = path.includes('/catalog-templates/') ? 'template' : 'catalog';
    if (real === undefined) count(`${kind}: theirs has none`);
    else if (real === text) count(`${kind}: the same bytes`);
    else if (await isAlike(kind, real, text)) count(`${kind}: the same content`);
    else {
      count(`${kind}: differs`);
      console.log(`${id.slice(0, 9)} ${path} differs`);
    }
  }
}

function newImage(templates: readonly (readonly (string | undefined)[])[]): string | undefined {
  const imagesIn = (text = ''): string[] =>
    [...text.matchAll(/\bimage:\s*["']?([^\s"',}]+)/gi)].map(([, one = '']) => one);
  for (const [before, after] of templates) {
    const known = new Set(imagesIn(before));
    const fresh = imagesIn(after).find((one) => !known.has(one));
    if (fresh !== undefined) return fresh;
  }
  return undefined;
}

async function isAlike(kind: string, a: string, b: string): Promise<boolean> {
  if (kind === 'template') return contentOf(a) === contentOf(b);
  const [one, other] = await Promise.all(
    [a, b].map(async (text) => (await load(sourceOf({ 'catalog.yaml': text }))).blobs),
  );
  return one !== undefined && other !== undefined && graphOf(one) === graphOf(other);
}

function contentOf(text: string): string {
  return JSON.stringify(sorted(readSettings('template', Buffer.from(text)).settings?.value));
}

/** Packages, channels with their edges, bundles with their images and the kinds of their properties. */
function graphOf({ packages, channels, bundles }: Blobs): string {
  return JSON.stringify([
    packages.map((one) => one.defaultChannel),
    channels.map(({ name, entries }) => [
      name,
      entries.map((entry) => [entry.name, entry.replaces, entry.skips, entry.skipRange]),
    ]),
    bundles.map(({ name, image, properties }) => [name, image, properties.map(({ type }) => type).sort()]),
  ]);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
