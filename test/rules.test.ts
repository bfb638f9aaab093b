import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inspect, inspectedBundle } from '../catalog/bundle/inspect.ts';
import { convertToBundles } from '../catalog/bundle/package-bundles.ts';
import { convertPackage } from '../catalog/bundle/package-catalog.ts';
import { readPackageFolder } from '../catalog/bundle/package-manifest.ts';
import type { Finding } from '../catalog/finding.ts';
import { tryParseMinor } from '../catalog/graph/openshift.ts';
import { changeOf, type Olm, type WorldOptions, worldOf } from '../catalog/graph/world.ts';
import { judge } from '../catalog/judge.ts';
import { load } from '../catalog/load.ts';
import { type Catalog, catalogOf } from '../catalog/model.ts';
import type { Lookup } from '../catalog/references/lookup.ts';
import { referenceSites } from '../catalog/references/site.ts';
import { RULES } from '../catalog/rules/index.ts';
import { runComparison, runForesight, runResolved } from '../catalog/rules/rule.ts';
import { sourceOf } from '../catalog/source.ts';
import { tryParseVersion } from '../catalog/version.ts';
import { bundleFiles } from './fakes/bundle-fixture.ts';
import { membersOf } from './fakes/txtar.ts';

/**
 * Each fixture is a catalog of one file, or `<name>.base.yaml` and `<name>.head.yaml`
 * for a change. On a line with a defect stands, as a comment, the rule and a part of its
 * message; `<fixture>.expected` says so for files that cannot hold comments. Findings of
 * the folder's rule, and of every rule that is expected at all, must be exactly the
 * expected ones. A line `# world: {…}` says what surrounds the catalog, a line
 * `# registries: {…}` what registries say of its references.
 * `<name>.txtar` holds the files of a folder of package manifests, or of a bundle.
 */
const ROOT = 'test/rules';
const IDS = new Set(RULES.map(({ id }) => id));

interface Expected {
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

describe.each(RULES.map(({ id }) => id).filter((id) => existsSync(join(ROOT, id))))('%s', (id) => {
  const folder = join(ROOT, id);
  const files = readdirSync(folder).filter((file) => /\.(?:yaml|json|txtar)$/.test(file));
  const states = files.filter((file) => !/\.txtar$|\.(?:base|head|companion|following)\./.test(file));
  const changes = files.filter((file) => file.endsWith('.base.yaml'));

  test.each(states)('%s', async (file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const { findings } = await judge(sourceOf({ [file]: text }), RULES);
    const foreseen = runForesight(await worldOf(await optionsIn(folder, file)), RULES);
    const resolved = await resolvedIn(folder, file);
    expectExactly(id, expectations(join(folder, file), text), [...findings, ...foreseen, ...resolved]);
  });

  test.each(files.filter((file) => file.endsWith('.txtar')))('%s', async (file) => {
    const members = membersOf(readFileSync(join(folder, file), 'utf8'));
    const expected = [...members].flatMap(([path, text]) => memberExpectations(path, text));
    const files = new Map([...members].filter(([path]) => !path.endsWith('expected') && path !== 'options'));
    const found = await judgeFiles(files, members.get('options'));
    const watched = new Set([id, ...expected.map(({ rule }) => rule)]);
    const shownFindings = found.filter(({ rule }) => watched.has(rule));
    const match = (e: PlacedExpectation): string => {
      const same = shownFindings.find(
        (f) =>
          f.rule === e.rule &&
          f.location.file === e.file &&
          f.location.line === e.line &&
          f.message.includes(e.message),
      );
      return same ? placed(same) : `${e.file}:${e.line}: ${e.rule}: …${e.message}…`;
    };
    expect(shownFindings.map(placed).sort()).toEqual(expected.map(match).sort());
  });

  test.each(changes)('%s', async (base) => {
    const head = base.replace('.base.', '.head.');
    const expected = [base, head].flatMap((file) =>
      expectations(join(folder, file), readFileSync(join(folder, file), 'utf8')),
    );
    const options = await optionsIn(folder, head);
    const before = { ...options, catalog: await catalogIn(join(folder, base)) };
    expectExactly(id, expected, runComparison(await changeOf(before, options), RULES));
  });
});

interface PlacedExpectation extends Expected {
  readonly file: string;
}

/** What is expected of one file of a folder; `.expected` says so for files that cannot hold comments. */
function memberExpectations(path: string, text: string): PlacedExpectation[] {
  if (!path.endsWith('expected')) return expectationsIn(text).map((e) => ({ ...e, file: path }));
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [, file = '', number = '', rule = '', message = ''] =
        /^(.*?):(\d+): (\S+): (.*)$/.exec(line) ?? [];
      return { file, line: Number(number), rule, message };
    });
}

function placed({ location, ...finding }: Finding): string {
  return `${location.file}:${shown({ location, ...finding })}`;
}

/** Judges a bundle, or a folder of package manifests: such a folder has a package file or a version's folder. */
async function judgeFiles(files: ReadonlyMap<string, string>, options = '{}'): Promise<readonly Finding[]> {
  if (![...files.keys()].some((path) => /package\.yaml$|^\d/.test(path))) {
    const bundle = Object.fromEntries(bundleFiles(files));
    const gzipLength = (bytes: Uint8Array): number => gzipSync(bytes).length;
    const { platforms, ...rest } = JSON.parse(options);
    const asked = platforms ? { platforms: new Map(Object.entries<string[]>(platforms)) } : {};
    const inspected = await inspectedBundle(sourceOf(bundle), { gzipLength, ...rest, ...asked });
    return inspect(inspected, RULES);
  }
  const folder = await readPackageFolder(sourceOf(Object.fromEntries(files)));
  return [...folder.findings, ...convertPackage(folder).findings, ...convertToBundles(folder).findings];
}

function expectExactly(id: string, expected: readonly Expected[], all: readonly Finding[]): void {
  const watched = new Set([id, ...expected.map(({ rule }) => rule)]);
  const found = all.filter(({ rule }) => watched.has(rule));
  expect(found.map(shown).sort()).toEqual(expected.map((e) => matching(e, found)).sort());
}

async function catalogIn(path: string): Promise<Catalog> {
  const { blobs } = await load(sourceOf({ [path]: readFileSync(path) }));
  return catalogOf(blobs);
}

/** What a `# world:` line may say. */
interface WrittenWorld {
  readonly name?: string;
  readonly platform?: string;
  readonly olm?: readonly Olm[];
  readonly asOf?: string;
  readonly companions?: readonly string[];
  readonly following?: readonly {
    readonly name: string;
    readonly platform?: string;
    readonly file: string;
  }[];
  readonly published?: Readonly<
    Record<string, readonly { channel: string; name: string; version: string; last?: string }[]>
  >;
}

async function optionsIn(folder: string, file: string): Promise<WorldOptions> {
  const [, line = '{}'] = /^# world: (.*)$/m.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
  const written: WrittenWorld = JSON.parse(line);
  const platform = tryParseMinor(written.platform ?? '');
  const companions = await Promise.all(
    (written.companions ?? []).map(async (name) => [name, await catalogIn(join(folder, name))] as const),
  );
  const following = (written.following ?? []).map(async ({ name, file: next, platform: its = '' }) => {
    const minor = tryParseMinor(its);
    const catalog = await catalogIn(join(folder, next));
    return worldOf({ name, catalog, ...(minor ? { platform: minor } : {}) });
  });
  const published = Object.entries(written.published ?? {}).map(
    ([name, bundles]) =>
      [
        name,
        bundles.map(({ version, ...rest }) => ({ ...rest, version: tryParseVersion(version) })),
      ] as const,
  );
  return {
    name: written.name ?? 'catalog',
    catalog: await catalogIn(join(folder, file)),
    ...(written.olm ? { olm: written.olm } : {}),
    ...(written.asOf ? { asOf: written.asOf } : {}),
    ...(platform ? { platform } : {}),
    companions: new Map(companions),
    following: await Promise.all(following),
    published: new Map(published),
  };
}

/** What a `# registries:` line may say: answers by reference, and what was locked. */
interface WrittenRegistries {
  readonly lookups: Readonly<Record<string, Lookup>>;
  readonly lock?: Readonly<Record<string, string>>;
}

async function resolvedIn(folder: string, file: string): Promise<readonly Finding[]> {
  const text = readFileSync(join(folder, file), 'utf8');
  const [, line] = /^# registries: (.*)$/m.exec(text) ?? [];
  if (line === undefined) return [];
  const written: WrittenRegistries = JSON.parse(line);
  const { sites, supports } = await referenceSites(sourceOf({ [file]: text }), { supports: true });
  return runResolved(
    {
      sites,
      supports,
      lookups: new Map(Object.entries(written.lookups)),
      lock: written.lock ? { digests: new Map(Object.entries(written.lock)) } : undefined,
    },
    RULES,
  );
}

function expectations(path: string, text: string): Expected[] {
  const separate = `${path}.expected`;
  if (existsSync(separate)) {
    return readFileSync(separate, 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const [number = '', rule = '', ...message] = line.split(': ');
        return { line: Number(number), rule, message: message.join(': ') };
      });
  }
  return expectationsIn(text);
}

function expectationsIn(text: string): Expected[] {
  return text.split('\n').flatMap((line, i) => {
    const [, rule = '', message = ''] = /# ([a-z0-9-]+\/[a-z0-9-]+): (.*)$/.exec(line) ?? [];
    return IDS.has(rule) ? [{ line: i + 1, rule, message }] : [];
  });
}

function shown({ location, rule, message }: Finding): string {
  return `${location.line}: ${rule}: ${message}`;
}

/** What was found in place of an expectation, or the expectation itself, so that a difference reads well. */
function matching({ line, rule, message }: Expected, found: readonly Finding[]): string {
  const match = found.find((f) => f.rule === rule && f.location.line === line && f.message.includes(message));
  return match ? shown(match) : `${line}: ${rule}: …${message}…`;
}
