/** The upgrade graph of an operator's bundle directories, as operator-pipelines builds it from ClusterServiceVersions. */
import { memberObject, memberText, memberTexts } from '../../bundle/inspect.ts';
import type { OperatorBundle, OperatorFolder } from '../../bundle/operator-folder.ts';
import type { Location } from '../../finding.ts';
import { compareText } from '../../go/text.ts';
import { satisfies } from '../../version/satisfies.ts';
import { compareVersions, tryParseRange, tryParseVersion } from '../../version/version.ts';
import { settingOf } from './settings.ts';

/** The bundles that can follow each bundle; what nothing follows is missing. */
type Followers = ReadonlyMap<OperatorBundle, ReadonlySet<OperatorBundle>>;

/** Every channel that a bundle names, also as its default. */
export function channelsOf(bundles: readonly OperatorBundle[]): string[] {
  const all = bundles.flatMap(({ channels, defaultChannel }) => [
    ...channels,
    ...(defaultChannel === undefined ? [] : [defaultChannel]),
  ]);
  return [...new Set(all)].sort(compareText);
}

/** Bundles of a channel, the lowest version first. */
export function bundlesIn({ bundles }: OperatorFolder, channel: string): OperatorBundle[] {
  return bundles.filter(({ channels }) => channels.includes(channel)).sort(compareBundles);
}

/** Compares bundles by operator, then by version; versions that are not semantic are compared as texts. */
function compareBundles(a: OperatorBundle, b: OperatorBundle): number {
  const [x, y] = [a.name ?? NAMELESS, b.name ?? NAMELESS];
  if (x.operator !== y.operator) return compareText(x.operator, y.operator);
  const [v, w] = [tryParseVersion(x.version), tryParseVersion(y.version)];
  return v && w ? compareVersions(v, w) : compareText(x.version, y.version);
}

const NAMELESS = { operator: '', version: '' };

/** How bundles follow each other by `updateGraph`; undefined for a value that operator-pipelines refuses. */
export function graphMode({ config }: OperatorFolder): 'replaces' | 'semver' | undefined {
  const written = settingOf(config, 'updateGraph') ?? 'replaces-mode';
  if (written === 'semver-mode') return 'semver';
  return written === 'replaces-mode' ? 'replaces' : undefined;
}

/** The bundles of an operator's channel, each with those that may follow it directly. */
export function followersIn(operator: OperatorFolder, channel: string): Followers {
  const inside = bundlesIn(operator, channel);
  if (graphMode(operator) === 'semver')
    return new Map(
      inside.flatMap((bundle, i) => {
        const next = inside[i + 1];
        return next ? [[bundle, new Set([next])] as const] : [];
      }),
    );
  return replacesGraph(inside);
}

/** Upgrades by `replaces`, `skips` and `skipRange`. Names count by their version alone, as in operator-pipelines. */
function replacesGraph(inside: readonly OperatorBundle[]): Followers {
  const followers = new Map<OperatorBundle, Set<OperatorBundle>>();
  const byVersion = new Map(inside.map((bundle) => [bundle.name?.version, bundle]));
  const add = (from: OperatorBundle | undefined, to: OperatorBundle): void => {
    if (from) followers.set(from, (followers.get(from) ?? new Set()).add(to));
  };
  for (const bundle of inside) {
    const written = skipRangeOf(bundle);
    const range = written === '' ? undefined : tryParseRange(written);
    for (const other of range ? inside : []) {
      const version = tryParseVersion(other.name?.version ?? '');
      if (range && version && satisfies(version, range)) add(other, bundle);
    }
    for (const name of replacedNames(bundle)) add(byVersion.get(versionIn(name)), bundle);
  }
  return followers;
}

/** The bundles that a ClusterServiceVersion replaces or skips. */
export function replacedNames({ csv }: OperatorBundle): string[] {
  const spec = memberObject(csv, 'spec');
  const replaces = spec['replaces'];
  return [...memberTexts(spec, 'skips'), ...(typeof replaces === 'string' ? [replaces] : [])];
}

export function skipRangeOf({ csv }: OperatorBundle): string {
  return memberText(memberObject(csv, 'metadata', 'annotations'), 'olm.skipRange');
}

function versionIn(name: string): string {
  return name.slice(name.indexOf('.') + 1).replace(/^v+/, '');
}

/** An edge that closes a cycle; undefined if there is none. */
export function loopIn(
  followers: Followers,
): { readonly from: OperatorBundle; readonly to: OperatorBundle } | undefined {
  const done = new Set<OperatorBundle>();
  for (const start of followers.keys()) {
    // Use an explicit stack: a graph may be deeper than the call stack.
    const onPath = new Set<OperatorBundle>();
    const stack: { bundle: OperatorBundle; next: OperatorBundle[] }[] = [];
    const enter = (bundle: OperatorBundle): void => {
      onPath.add(bundle);
      stack.push({ bundle, next: [...(followers.get(bundle) ?? [])] });
    };
    if (!done.has(start)) enter(start);
    for (let at = stack.at(-1); at; at = stack.at(-1)) {
      const to = at.next.pop();
      if (to && onPath.has(to)) return { from: at.bundle, to };
      if (to && !done.has(to)) enter(to);
      if (to) continue;
      done.add(at.bundle);
      onPath.delete(at.bundle);
      stack.pop();
    }
  }
  return undefined;
}

/** The place of a bundle's edges. */
export function edgesPlace({ csvFile, folder }: OperatorBundle, { path }: OperatorFolder): Location {
  return csvFile?.locate('spec') ?? { file: `${path}/${folder}/manifests`, line: 1, column: 1 };
}
