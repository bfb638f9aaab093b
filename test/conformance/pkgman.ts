// Package manifests: the catalog and the metadata that they become, and what is said of bad ones.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { annotationsYaml, type BundleLabels, bundleDockerfile } from '../../catalog/bundle/generate.ts';
import { convertToBundles } from '../../catalog/bundle/package-bundles.ts';
import { convertPackage } from '../../catalog/bundle/package-catalog.ts';
import { type PackageFolder, readPackageFolder } from '../../catalog/bundle/package-manifest.ts';
import type { Finding } from '../../catalog/finding.ts';
import { compareText } from '../../catalog/go/text.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';

export async function* cases(golden: string): AsyncIterable<CaseResult> {
  const root = join(golden, 'pkgman');
  for (const name of readdirSync(root).sort()) {
    if (!name.startsWith('_')) yield await isolated(name, () => compare(name, join(root, name)));
  }
}

interface Recorded {
  readonly api: {
    readonly loadError: string | null;
    readonly packageValidation?: readonly { errors: readonly { detail: string }[] }[];
  };
  readonly opmGenerate: Readonly<Record<string, { error: string | null } & Readonly<Record<string, string>>>>;
  readonly sqliteDirectoryLoader?: { readonly loadError?: string };
  readonly pkgmanToBundle: { error: string | null; files?: Readonly<Record<string, string>> };
}

async function compare(name: string, root: string): Promise<CaseResult> {
  const recorded: Recorded = JSON.parse(readFileSync(join(root, 'expect.json'), 'utf8'));
  const folder = await readPackageFolder(directorySource(join(root, 'input')));
  const { json, findings } = convertPackage(folder);
  const bundles = convertToBundles(folder);
  const all = [...folder.findings, ...findings, ...bundles.findings];
  const fbc = join(root, 'expect.fbc.json');
  const differing = [
    (existsSync(fbc) ? readFileSync(fbc, 'utf8') : undefined) === json ? [] : ['catalog'],
    rulesDiffer(recorded, all),
    generatedDiffer(recorded, folder),
    bundlesDiffer(recorded, bundles.files, all),
  ].flat();
  const stated = differing.length > 0 ? statedRow(recorded, folder, differing) : undefined;
  if (differing.length > 0 && stated === undefined) {
    return { name, outcome: 'differ', detail: differing.join(', ') };
  }
  const row = stated ?? chosenRow(recorded);
  return row === undefined ? { name, outcome: 'agree' } : { name, outcome: 'chosen', detail: row };
}

/** The row of docs/bundle-differences.md that tells why ours differs. */
function chosenRow({ api, opmGenerate }: Recorded): string | undefined {
  const errors = Object.values(opmGenerate).map(({ error }) => error ?? '');
  if (errors.some((error) => SIBLING.test(error))) return 'sibling-without-csv';
  return SEVERAL.test(api.loadError ?? '') ? 'several-package-files' : undefined;
}

/** The row of docs/bundle-differences.md for what differs. */
function statedRow(
  recorded: Recorded,
  { findings, versions }: PackageFolder,
  differing: readonly string[],
): string | undefined {
  const { api, pkgmanToBundle, sqliteDirectoryLoader } = recorded;
  const has = (rule: string): boolean =>
    findings.some((finding) => finding.rule === `package-manifest/${rule}`);
  const others = differing.filter((what) => what !== 'catalog');
  if (has('several') && SEVERAL.test(api.loadError ?? '')) return 'several-package-files';
  if (others.length < differing.length) {
    const isRefused = sqliteDirectoryLoader?.loadError !== undefined && REFUSED.some(has);
    if (!isRefused) return undefined;
    if (others.length === 0) return 'permissive-loader';
  }
  if (has('csv-unreadable') && others.every((what) => GENERATED.test(what))) return 'half-read-version';
  const misplaced = Object.values(recorded.opmGenerate).every(({ error }) =>
    NO_PACKAGE_FILE.test(error ?? ''),
  );
  if (misplaced && others.every((what) => /: generated$/.test(what))) return 'package-file-below';
  const refused = pkgmanToBundle.error ?? '';
  if (FOLDER.test(refused) && others.every((what) => what === 'bundles: no finding'))
    return 'folders-not-read';
  if (has('csv-duplicate') && others.every((what) => BUNDLE_FILE.test(what))) return 'duplicate-version';
  const isReadAsText = api.loadError === null && has('csv-unreadable');
  if (isReadAsText && others.every((what) => BUNDLE_FILE.test(what))) return 'scalars-as-text';
  if (!others.every((what) => /^bundle-|^no (?:several|default-unknown)$/.test(what))) return undefined;
  if (versions.some(({ folder }) => folder.includes('/') || folder === '')) return 'nested-version';
  if (/unable to find a csv in bundle directory/.test(pkgmanToBundle.error ?? '')) {
    return 'folder-without-csv';
  }
  const isRead = api.loadError === null || SEVERAL.test(api.loadError);
  const hasMisfit = findings.some(({ message }) => / must be /.test(message));
  return isRead && hasMisfit ? 'scalars-as-text' : undefined;
}

/** What OLM's loader reports, and what it then leaves out of the catalog. */
const REFUSED = ['csv-duplicate', 'csv-unreadable', 'owned-missing'];
const GENERATED = /: (?:annotations\.yaml|bundle\.Dockerfile)$/;
const NO_PACKAGE_FILE = /valid PackageManifest YAML file not found|no ClusterServiceVersion/;
const FOLDER = /bundle manifests dir contains directory|unable to find a csv in bundle directory \S*\/\.\w+$/;
const BUNDLE_FILE = /^bundle-|: (?:annotations\.yaml|bundle\.Dockerfile|generated)$/;

/** Of several package files, opm takes the first by name. */
const SEVERAL = /multiple package manifest files found in directory/;
/** opm gives up on a bundle because the folder beside it holds none. */
const SIBLING = /error getting CSVs from bundles in the package directory, no ClusterServiceVersion/;

/** What is said of a package by the real validators, and the rule that says it here. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/packageName empty$/, 'name'],
  [/\) channels empty$/, 'channels-empty'],
  [/default channel is empty but more than one channel exists$/, 'default-missing'],
  [/channel \d+ name is empty$/, 'channel-name'],
  [/currentCSV is empty$/, 'current-empty'],
  [/duplicate package manifest channel name/, 'channel-duplicate'],
  [/not found in the list of declared channels$/, 'default-unknown'],
  [/^multiple package manifest files found/, 'several'],
  [/^could not decode contents of file/, 'unreadable'],
  [/contains multiple CSVs/, 'two-csvs'],
];

function rulesDiffer({ api }: Recorded, findings: readonly Finding[]): string[] {
  const said = (api.packageValidation ?? []).flatMap(({ errors }) => errors.map(({ detail }) => detail));
  const all = api.loadError === null ? said : [...said, ...api.loadError.split(/^\[|, |\]$/)];
  return all.flatMap((detail) => {
    const rule = RULES.find(([pattern]) => pattern.test(detail))?.[1];
    if (rule === undefined) return api.loadError?.includes(detail) ? [] : [`no rule for: ${detail}`];
    return findings.some((finding) => finding.rule === `package-manifest/${rule}`) ? [] : [`no ${rule}`];
  });
}

function generatedDiffer({ api, opmGenerate }: Recorded, folder: PackageFolder): string[] {
  if (SEVERAL.test(api.loadError ?? '')) return [];
  return Object.entries(opmGenerate).flatMap(([name, { error, ...files }]) => {
    const ours = generated(folder, name);
    // Where the folder without one was to hold the head of a channel, ours finds no channel either.
    if (error !== null && SIBLING.test(error)) return [];
    if (error !== null) return ours ? [`${name}: generated`] : [];
    return Object.entries(files).flatMap(([file, text]) =>
      ours?.[file] === text ? [] : [`${name}: ${file}`],
    );
  });
}

function generated(folder: PackageFolder, name: string): Record<string, string> | undefined {
  const [version, second] = folder.versions.filter((each) => each.folder === name);
  const { manifest } = folder;
  if (!version || second || !manifest || manifest.name === '') return undefined;
  if (folder.findings.some(({ rule }) => rule === 'package-manifest/two-csvs')) return undefined;
  const channels = channelsReaching(folder, version.name);
  if (channels.join(',') === '') return undefined;
  const [only] = manifest.channels;
  const labels: BundleLabels = {
    mediaType: 'registry+v1',
    package: manifest.name,
    channels,
    defaultChannel: manifest.defaultChannel || (manifest.channels.length === 1 ? (only?.name ?? '') : ''),
  };
  const folders = { manifests: 'out/manifests', metadata: 'out/metadata' };
  return {
    'annotations.yaml': annotationsYaml(labels),
    'bundle.Dockerfile': bundleDockerfile(labels, folders),
  };
}

function bundlesDiffer(
  { pkgmanToBundle: { error, files = {} } }: Recorded,
  ours: ReadonlyMap<string, { text: string } | { from: string }>,
  findings: readonly Finding[],
): string[] {
  // operator-sdk panics without a package file, and writes nothing.
  const written = Object.entries(files);
  if (error !== null && written.length === 0) return findings.length > 0 ? [] : ['bundles: no finding'];
  const differing = written.filter(([path, text]) => {
    const file = ours.get(path);
    return !file || ('text' in file ? file.text : '(copied)') !== text;
  });
  const added = written.length === 0 ? [] : [...ours.keys()].filter((path) => files[path] === undefined);
  return [...differing.map(([path]) => path), ...added];
}

/** The channels of a package that reach a version from their heads, by name. */
function channelsReaching({ manifest, versions }: PackageFolder, name: string): string[] {
  const before = new Map(versions.map(({ name: of, replaces, skips }) => [of, [...skips, replaces]]));
  // Of two channels of one name, opm takes the last.
  const heads = new Map((manifest?.channels ?? []).map((channel) => [channel.name, channel.currentCsv]));
  return [...heads]
    .flatMap(([channel, head]) => (reaches(head, name, before) ? [channel] : []))
    .sort(compareText);
}

function reaches(head: string, wanted: string, before: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set([head]);
  for (const at of seen) for (const next of before.get(at) ?? []) seen.add(next);
  return wanted !== '' && seen.has(wanted);
}
