/**
 * Fixtures of rules: what they hold is judged as the product would judge it. A fixture is a catalog of one file,
 * `<name>.base.yaml` and `<name>.head.yaml` for a change, or `<name>.txtar` with the files of a bundle or of a
 * folder of package manifests.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { inspectedBundle } from '../../catalog/bundle/inspect.ts';
import { readOperatorFolder } from '../../catalog/bundle/operator-folder.ts';
import { type DescribedFragment, fragmentIn } from '../../catalog/fbc/fragment.ts';
import { load } from '../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../catalog/fbc/model.ts';
import { tryParseMinor } from '../../catalog/fbc/openshift.ts';
import type { Finding, Severity } from '../../catalog/finding.ts';
import {
  changeOf,
  type Olm,
  publicationsIn,
  type WorldOptions,
  worldOf,
} from '../../catalog/olm/foresight/world.ts';
import type { Lookup } from '../../catalog/references/lookup.ts';
import { referenceSites } from '../../catalog/references/site.ts';
import { checkCatalog } from '../../catalog/rules/check-catalog.ts';
import { RULES } from '../../catalog/rules/index.ts';
import {
  type Rule,
  runComparison,
  runForesight,
  runFragmentChecks,
  runInspection,
  runOperatorChecks,
  runResolved,
} from '../../catalog/rules/rule.ts';
import { sourceOf } from '../../catalog/source.ts';
import { tryParseVersion } from '../../catalog/version/version.ts';
import { bundleFiles } from './bundle-fixture.ts';
import { FOLDER_KINDS } from './folder-kinds.ts';

/** The fixtures of a rule, by name: the file that stands for each. */
export function fixturesIn(folder: string): { states: string[]; changes: string[]; archives: string[] } {
  const files = readdirSync(folder).filter((file) => /\.(?:yaml|json|txtar)$/.test(file));
  return {
    states: files.filter((file) => !/\.txtar$|\.(?:base|head|companion|following)\./.test(file)),
    changes: files.filter((file) => file.endsWith('.base.yaml')),
    archives: files.filter((file) => file.endsWith('.txtar')),
  };
}

const IDS = new Set(RULES.map(({ id }) => id));

/** What a fixture says that must be found. */
export interface Expected {
  readonly line: number;
  readonly rule: string;
  /** Part of the message. */
  readonly message: string;
}

export interface PlacedExpectation extends Expected {
  readonly file: string;
}

/** What is expected of a catalog's file. */
export function expectations(path: string, text: string): Expected[] {
  const separate = `${path}.expected`;
  if (!existsSync(separate)) return expectationsIn(text);
  return readFileSync(separate, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [number = '', rule = '', ...message] = line.split(': ');
      return { line: Number(number), rule, message: message.join(': ') };
    });
}

function expectationsIn(text: string): Expected[] {
  return text.split('\n').flatMap((line, i) => {
    const [, rule = '', message = ''] = /# ([a-z0-9-]+\/[a-z0-9-]+): (.*)$/.exec(line) ?? [];
    return IDS.has(rule) ? [{ line: i + 1, rule, message }] : [];
  });
}

/** What is expected of one file of a folder; `.expected` says so for files that cannot hold comments. */
export function memberExpectations(path: string, text: string): PlacedExpectation[] {
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

/** What was found in fixtures as they are, by their paths: several tests look at it. */
const judged = new Map<string, Promise<Finding[]>>();

function judgedOnce(path: string, judge: () => Promise<Finding[]>): Promise<Finding[]> {
  const known = judged.get(path) ?? judge();
  judged.set(path, known);
  return known;
}

/** Judges a catalog by itself, on clusters, and with what registries say; with another text as if it was in the file. */
export function judgeState(
  folder: string,
  file: string,
  text?: string,
  rules: readonly Rule[] = RULES,
): Promise<Finding[]> {
  const judge = (): Promise<Finding[]> => stateFindings(folder, file, text, rules);
  return text === undefined && rules === RULES ? judgedOnce(join(folder, file), judge) : judge();
}

async function stateFindings(
  folder: string,
  file: string,
  text: string | undefined,
  rules: readonly Rule[],
): Promise<Finding[]> {
  const written = text ?? readFileSync(join(folder, file), 'utf8');
  const { findings } = await checkCatalog(sourceOf({ [file]: written }), rules);
  const foreseen = runForesight(await worldOf(await optionsIn(folder, file, written)), rules, severityOf);
  return [...findings, ...foreseen, ...(await resolvedIn(file, written))];
}

/** Judges a change, by the file of its base; with another text as if it was the head. */
export function judgeChange(
  folder: string,
  base: string,
  text?: string,
  rules: readonly Rule[] = RULES,
): Promise<Finding[]> {
  const judge = (): Promise<Finding[]> => changeFindings(folder, base, text, rules);
  return text === undefined && rules === RULES ? judgedOnce(join(folder, base), judge) : judge();
}

async function changeFindings(
  folder: string,
  base: string,
  text: string | undefined,
  rules: readonly Rule[],
): Promise<Finding[]> {
  const head = base.replace('.base.', '.head.');
  const options = await optionsIn(folder, head, text ?? readFileSync(join(folder, head), 'utf8'));
  const was = readFileSync(join(folder, base), 'utf8');
  // What surrounds a catalog is the same before and after, unless the base says otherwise.
  const before = /^# world: /m.test(was)
    ? await optionsIn(folder, base, was)
    : await optionsIn(folder, base, was, readFileSync(join(folder, head), 'utf8'));
  return runComparison(await changeOf(before, options), rules);
}

/** Judges the files of an archive. */
export async function judgeArchive(members: ReadonlyMap<string, string>): Promise<readonly Finding[]> {
  return judgeFiles(archivedFiles(members), members.get('options'));
}

/** The files of an archive: of a bundle, or of a folder of package manifests. */
export function archivedFiles(members: ReadonlyMap<string, string>): Map<string, string> {
  const files = new Map([...members].filter(([path]) => !path.endsWith('expected') && path !== 'options'));
  return FOLDER_KINDS.some(({ has }) => has(files)) || isOperator(files) || files.has(DOCKERFILE)
    ? files
    : bundleFiles(files);
}

/** Whether the files are those of an operator's folder. */
function isOperator(files: ReadonlyMap<string, string>): boolean {
  return [...files.keys()].some((path) => path.startsWith(OPERATOR));
}

const OPERATOR = 'operators/etcd/';

/** What `options` of an operator's folder may say. */
interface WrittenOperator {
  readonly organization?: string;
  /** The folders that a change brings; all without it. */
  readonly changed?: readonly string[];
}

async function judgeOperator(files: ReadonlyMap<string, string>, options: string): Promise<Finding[]> {
  const { organization, changed }: WrittenOperator = JSON.parse(options);
  const inside = [...files].map(([path, text]) => [path.slice(OPERATOR.length), text] as const);
  const operator = await readOperatorFolder(sourceOf(Object.fromEntries(inside)), {
    path: OPERATOR.slice(0, -1),
    organization,
    ...(changed ? { isChanged: (folder: string) => changed.includes(folder) } : {}),
  });
  return runOperatorChecks(operator, RULES, severityOf);
}

const DOCKERFILE = 'fragment.Dockerfile';

/** The Dockerfile before a change. */
const BEFORE = 'before.Dockerfile';

/** Files of a repository with the Dockerfile of a catalog. */
function judgeFragment(files: ReadonlyMap<string, string>): Finding[] {
  const read = (name: string): DescribedFragment | undefined =>
    fragmentIn(DOCKERFILE, files.get(name) ?? '', { files: [...files.keys()].sort() });
  const fragment = read(DOCKERFILE);
  if (!fragment) return [];
  const catalogsOf = ({ files: copied = [] }: DescribedFragment): string[] =>
    copied.map(({ source }) => source.split('/')[1] ?? '');
  const before = read(BEFORE);
  const had = before && catalogsOf(before);
  const isLost = (name: string): boolean =>
    fragment.files !== undefined && !catalogsOf(fragment).includes(name);
  const change = before &&
    had && {
      change: {
        base: before.base,
        labels: before.labels,
        served: before.served,
        had,
        lost: had.filter(isLost),
      },
    };
  const packages = [...files]
    .filter(([, text]) => text.includes('schema: olm.package'))
    .map(([path]) => path);
  const hasPackage = fragment.files?.some(({ source }) => packages.includes(source));
  return runFragmentChecks({ ...fragment, ...change, hasPackage }, RULES, severityOf);
}

/** Rules run in their fixtures, whether or not a policy has to name them. */
function severityOf({ severity }: Rule): Severity {
  return severity;
}

/** Judges the files of a bundle, of an operator's folder, or of a folder of package manifests. */
export async function judgeFiles(
  files: ReadonlyMap<string, string>,
  options = '{}',
): Promise<readonly Finding[]> {
  if (isOperator(files)) return judgeOperator(files, options);
  if (files.has(DOCKERFILE)) return judgeFragment(files);
  const source = sourceOf(Object.fromEntries(files));
  const kind = FOLDER_KINDS.find(({ has }) => has(files));
  if (kind) return kind.judge(source);
  const gzipLength = (bytes: Uint8Array): number => gzipSync(bytes).length;
  const { platforms, ...rest } = JSON.parse(options);
  const asked = platforms ? { platforms: new Map(Object.entries<string[]>(platforms)) } : {};
  return runInspection(await inspectedBundle(source, { gzipLength, ...rest, ...asked }), RULES, severityOf);
}

async function catalogIn(path: string, text = readFileSync(path, 'utf8')): Promise<Catalog> {
  const { blobs } = await load(sourceOf({ [path]: text }));
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
  /** What other catalogs of the repository have, before the change and after it. */
  readonly elsewhere?: readonly { readonly name: string; readonly file: string }[];
  /** Catalogs of the platform's previous versions. */
  readonly preceding?: readonly { readonly name: string; readonly file: string }[];
  /** The catalogs that clusters come from, where this one is new. */
  readonly predecessors?: readonly { readonly name: string; readonly file: string }[];
  readonly rebuildsHeads?: boolean;
  readonly bundleRegistries?: readonly (readonly string[])[];
  /** Whether `published` has everything that clusters may have. */
  readonly publishedIsAll?: boolean;
  readonly published?: Readonly<
    Record<
      string,
      readonly { channel: string; name: string; version: string; last?: string; image?: string }[]
    >
  >;
}

/** @param around the text that says what surrounds the catalog */
async function optionsIn(
  folder: string,
  file: string,
  text: string,
  around: string = text,
): Promise<WorldOptions> {
  const [, line = '{}'] = /^# world: (.*)$/m.exec(around) ?? [];
  const written: WrittenWorld = JSON.parse(line);
  const predecessors = (written.predecessors ?? []).map(async ({ name, file: previous }) => ({
    name,
    catalog: await catalogIn(join(folder, previous)),
  }));
  const platform = tryParseMinor(written.platform ?? '');
  const companions = await Promise.all(
    (written.companions ?? []).map(async (name) => [name, await catalogIn(join(folder, name))] as const),
  );
  const following = (written.following ?? []).map(async ({ name, file: next, platform: its = '' }) => {
    const minor = tryParseMinor(its);
    const catalog = await catalogIn(join(folder, next));
    return worldOf({ name, catalog, ...(minor ? { platform: minor } : {}) });
  });
  const preceding = (written.preceding ?? []).map(async ({ name, file: previous }) =>
    worldOf({ name, catalog: await catalogIn(join(folder, previous)) }),
  );
  const elsewhere = await Promise.all(
    (written.elsewhere ?? []).map(async ({ name, file: other }) => ({
      name,
      catalog: await catalogIn(join(folder, other)),
      published: new Map(),
    })),
  );
  const published = Object.entries(written.published ?? {}).map(
    ([name, bundles]) =>
      [
        name,
        bundles.map(({ version, ...rest }) => ({ ...rest, version: tryParseVersion(version) })),
      ] as const,
  );
  const own = {
    name: written.name ?? 'catalog',
    catalog: await catalogIn(join(folder, file), text),
    published: new Map(published),
  };
  return {
    ...own,
    ...(written.olm ? { olm: written.olm } : {}),
    ...(written.asOf ? { asOf: written.asOf } : {}),
    ...(platform ? { platform } : {}),
    companions: new Map(companions),
    following: await Promise.all(following),
    preceding: await Promise.all(preceding),
    predecessors: await Promise.all(predecessors),
    ...(elsewhere.length > 0 ? { publications: publicationsIn([own, ...elsewhere]) } : {}),
    ...(written.rebuildsHeads ? { rebuildsHeads: true } : {}),
    ...(written.bundleRegistries ? { bundleRegistries: written.bundleRegistries } : {}),
    ...(written.publishedIsAll ? { publishedIsAll: true } : {}),
  };
}

/** What a `# registries:` line may say: answers by reference, and what was locked. */
interface WrittenRegistries {
  readonly lookups: Readonly<Record<string, Lookup>>;
  readonly lock?: Readonly<Record<string, string>>;
}

async function resolvedIn(file: string, text: string): Promise<readonly Finding[]> {
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
    severityOf,
  );
}
