/** Generated clusters with the catalogs and update graphs of three versions of the platform. */
import { installedOf } from '../../../../catalog/fbc/edge.ts';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import { readUpdateGraph, type UpdateGraphs } from '../../../../catalog/mirror/release/update-graph.ts';
import type { ClusterOperator, PlatformCatalog } from '../../../../catalog/mirror/upgrade/cluster.ts';
import type { UpgradeRequest } from '../../../../catalog/mirror/upgrade/plan-upgrade.ts';
import { sourceOf } from '../../../../catalog/source.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { generator, pick } from '../../../fakes/generator.ts';
import type { Catalog, Entry, Package } from '../../../oracle/repository-state.ts';

export const MINORS = [18, 19, 20] as const;

/** Catalogs by minor version, in the terms of the oracle. */
export type Catalogs = Readonly<Record<number, Catalog>>;

export interface Scene {
  readonly catalogs: Catalogs;
  readonly request: UpgradeRequest;
}

export function generatedScene(seed: number): Promise<Scene> {
  const random = generator(seed * 7919);
  for (let i = 0; i < 5; i++) random();
  const names = Array.from({ length: 3 + Math.floor(random() * 4) }, (_, i) => `operator-${i}`);
  const catalogs = new Map<number, Record<string, Package>>(MINORS.map((minor) => [minor, {}]));
  const installed: { name: string; version: string; channel: string; olm: 'v0' | 'v1' }[] = [];
  for (const name of names) {
    const versions = Array.from({ length: 6 + Math.floor(random() * 6) }, (_, i) => `1.${i}.0`);
    const third = Math.floor(versions.length / 3);
    const isLimited = random() < 0.6;
    const hasOwnChannels = random() < 0.4;
    const how = pick(random, ['replaces', 'replaces', 'skips', 'skipRange'] as const);
    for (const [i, minor] of MINORS.entries()) {
      const [from, to] = [
        Math.max(0, (i - 1) * third),
        Math.min(versions.length, (i + 2) * third - (i < 2 ? 1 : 0)),
      ];
      const some = versions.slice(from, to);
      const channel = hasOwnChannels ? `stable-4.${minor}` : 'stable';
      const limits: Record<string, string> = {};
      if (isLimited)
        for (const version of versions) {
          const last = 18 + Math.floor((versions.indexOf(version) * 3) / versions.length);
          if (last < 20) limits[version] = `4.${last}`;
        }
      const all = catalogs.get(minor);
      if (!all) continue;
      all[name] = {
        defaultChannel: channel,
        channels: { [channel]: some.map((version, at) => entryOf(some, { version, at, how })) },
        rebuilt: [],
        deprecated: random() < 0.2 ? some.slice(1, 2) : [],
        requires: {},
        limits,
      };
    }
    const first = catalogs.get(18)?.[name];
    const [channel = '', entries = []] = Object.entries(first?.channels ?? {})[0] ?? [];
    installed.push({
      name,
      version: pick(random, entries).version,
      channel,
      olm: random() < 0.3 ? 'v1' : 'v0',
    });
  }
  const isShared = random() < 0.5;
  return sceneOf(
    Object.fromEntries(catalogs),
    installed.map(({ name, version, channel, olm }) => ({
      olm,
      package: name,
      channels: olm === 'v0' ? [channel] : [],
      range: '',
      installed: { name: `${name}.v${version}`, version: parseVersion(version) },
      namespace: olm === 'v1' ? '' : isShared ? 'operators' : name,
      name,
      isManual: false,
    })),
  );
}

function entryOf(
  versions: readonly string[],
  { version, at, how }: { version: string; at: number; how: 'replaces' | 'skips' | 'skipRange' },
): Entry {
  const before = versions[at - 1];
  if (before === undefined) return { version };
  const earlier = versions[at - 2];
  const skips = how === 'skips' && earlier !== undefined && at % 2 === 0;
  return {
    version,
    replaces: skips ? earlier : before,
    ...(skips ? { skips: [before] } : {}),
    ...(how === 'skipRange' ? { skipRange: `>=${versions[0]} <${version}` } : {}),
  };
}

export async function sceneOf(
  catalogs: Catalogs,
  operators: readonly ClusterOperator[],
  options: { readonly platform?: string; readonly more?: Readonly<Record<number, string>> } = {},
): Promise<Scene> {
  const read: PlatformCatalog[] = [];
  for (const [minor, catalog] of Object.entries(catalogs)) {
    const text = [
      ...Object.entries(catalog).flatMap(([name, one]) => blobsOf(name, one)),
      options.more?.[Number(minor)] ?? '',
    ]
      .filter((one) => one !== '')
      .join('---\n');
    const { blobs } = await load(sourceOf({ 'catalog.yaml': text }));
    read.push({
      name: `v4.${minor}`,
      platform: { major: 4, minor: Number(minor) },
      reference: `quay.io/acme/catalog:v4.${minor}`,
      catalog: catalogOf(blobs),
    });
  }
  return {
    catalogs,
    request: {
      cluster: { name: 'east', platform: parseVersion(options.platform ?? '4.18.2'), operators },
      target: { minor: { major: 4, minor: 20 }, version: undefined },
      catalogs: read,
      graphs: generatedGraphs,
      kind: 'stable',
      today: '2026-11-01',
      cel: undefined,
    },
  };
}

export function installedIn({ request }: Scene, minor: number, bundle: string): ClusterOperator['installed'] {
  for (const { platform, catalog } of request.catalogs) {
    if (platform.minor !== minor) continue;
    for (const { bundles } of catalog.packages.values()) {
      const found = bundles.get(bundle);
      if (found) return installedOf(found);
    }
  }
  throw new Error(`no bundle ${bundle}`);
}

function blobsOf(
  name: string,
  { defaultChannel, channels, limits = {}, deprecated, requires }: Package,
): string[] {
  const bundle = (version: string): string => JSON.stringify(`${name}.v${version}`);
  const versions = [
    ...new Set(Object.values(channels).flatMap((entries) => entries.map((one) => one.version))),
  ];
  return [
    `schema: olm.package\nname: ${name}\ndefaultChannel: ${defaultChannel}\n`,
    ...Object.entries(channels).map(
      ([channel, entries]) =>
        `schema: olm.channel\npackage: ${name}\nname: ${channel}\nentries:\n${entries
          .map(({ version, replaces, skips = [], skipRange }) =>
            [
              `- name: ${bundle(version)}\n`,
              replaces === undefined ? '' : `  replaces: ${bundle(replaces)}\n`,
              skips.length > 0 ? `  skips: [${skips.map(bundle).join(', ')}]\n` : '',
              skipRange === undefined ? '' : `  skipRange: ${JSON.stringify(skipRange)}\n`,
            ].join(''),
          )
          .join('')}`,
    ),
    ...versions.map((version) => {
      const properties = [
        { type: 'olm.package', value: { packageName: name, version } },
        ...(limits[version] === undefined
          ? []
          : [{ type: 'olm.maxOpenShiftVersion', value: limits[version] }]),
        ...(requires[version] === undefined
          ? []
          : [
              {
                type: 'olm.package.required',
                value: { packageName: 'provider', versionRange: requires[version] },
              },
            ]),
      ];
      return `schema: olm.bundle\npackage: ${name}\nname: ${bundle(version)}\nimage: quay.io/acme/${name}:v${version}\nproperties: ${JSON.stringify(properties)}\n`;
    }),
    ...(deprecated.length > 0
      ? [
          `schema: olm.deprecations\npackage: ${name}\nentries:\n${deprecated
            .map((version) => `- reference: {schema: olm.bundle, name: ${bundle(version)}}\n  message: old\n`)
            .join('')}`,
        ]
      : []),
  ];
}

/** Five releases of each minor version; a channel has those of its own version and of the one before. */
const generatedGraphs: UpdateGraphs = async (channel) => {
  const minor = Number(channel.split('.')[1]);
  const versions = [minor - 1, minor].flatMap((one) =>
    [0, 1, 2, 3, 4].map((patch) => ({ minor: one, patch })),
  );
  const nodes = versions.map((one) => ({
    version: `4.${one.minor}.${one.patch}`,
    payload: `quay.io/acme/release@sha256:${String(one.minor).padStart(2, '0')}${String(one.patch).padStart(62, '0')}`,
  }));
  const edges = versions.flatMap((a, i) =>
    versions.flatMap((b, j) => {
      const isPatch = a.minor === b.minor && b.patch > a.patch && b.patch - a.patch <= 2;
      const isMinor = b.minor === a.minor + 1 && a.patch >= 2 && b.patch >= a.patch - 1;
      return isPatch || isMinor ? [[i, j]] : [];
    }),
  );
  const graph = readUpdateGraph(JSON.stringify({ nodes, edges }));
  if (typeof graph === 'string') throw new Error(graph);
  return graph;
};
