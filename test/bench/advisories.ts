/**
 * Advisories over real catalogs: a yanked head, a yanked middle version and a yanked only version of 20 packages each.
 * Prints a table: `node scripts/run.mjs test/bench/advisories.ts CATALOG…`. The packages are the
 * first ones in the order of names; where fewer have a single version, all versions of others are yanked.
 */
import { headOf } from '../../catalog/fbc/channel.ts';
import type { Package } from '../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../catalog/fbc/openshift.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { Advisory } from '../../catalog/olm/advisory/advisory.ts';
import { sizeOf } from '../../catalog/olm/advisory/package-edit.ts';
import { type AdvisoryPlan, planOf } from '../../catalog/olm/advisory/plan.ts';
import { type World, worldOf } from '../../catalog/olm/foresight/world.ts';
import { compareVersions, formatVersion, type Version } from '../../catalog/version/version.ts';
import { catalogPlaces, readCatalogs } from '../../pipeline/catalogs/read-catalogs.ts';

const PACKAGES = 20;

type Kind = 'head' | 'middle' | 'only';

interface Case {
  readonly kind: Kind;
  readonly package: string;
  readonly version: string;
}

const catalogs = await readCatalogs(catalogPlaces(process.argv.slice(2), process.cwd()));
const worlds = await Promise.all(
  catalogs.map(({ name, catalog }) => {
    const platform = minorOfCatalog(name);
    return worldOf({ name, catalog, ...(platform ? { platform } : {}) });
  }),
);
const cases = casesOf(worlds);
console.log(
  `| package | yanked | catalogs | size of the edit | v0: at a head before | after | v1: before | after | without an upgrade path |`,
);
console.log('|---|---|---|---|---|---|---|---|---|');
const start = process.cpuUsage();
const totals = new Map<Kind, number[]>();
const wrong: string[] = [];
for (const one of cases) {
  const plans = worlds.flatMap((world) => {
    const plan = planOf(world, advisoryOf(one));
    return plan.kind === 'not affected' ? [] : [{ world, plan }];
  });
  const row = [
    plans.length,
    sum(plans.map(({ world, plan }) => sizeIn(world, one, plan))),
    ...(['v0', 'v1'] as const).flatMap((olm) => [
      sum(plans.map(({ plan }) => arriving(plan, olm, 'before'))),
      sum(plans.map(({ plan }) => arriving(plan, olm, 'after'))),
    ]),
  ];
  for (const { world, plan } of plans) {
    if (plan.kind === 'impossible') wrong.push(`${world.name} ${one.package} ${one.version}: no edit`);
    for (const lost of plan.proof?.strandedOthers ?? [])
      wrong.push(
        `${world.name} ${one.package} ${one.kind} ${one.version}: ${lost.installed.name} in ${lost.channel || 'no channel'} (${lost.olm}) loses its path: ${lost.missing}`,
      );
  }
  const without = [...new Set(plans.flatMap(({ plan }) => plan.withoutUpgradePath))];
  const text =
    without.length === 0
      ? '–'
      : without.length > 2
        ? `${without.length} versions`
        : without.map(shortOf).join(', ');
  console.log(
    `| ${one.package} | ${one.kind}${one.kind === 'only' ? '' : ` ${one.version}`} | ${row.join(' | ')} | ${text} |`,
  );
  const known = totals.get(one.kind) ?? row.map(() => 0);
  totals.set(one.kind, [...known.map((value, i) => value + (row[i] ?? 0))]);
}
for (const [kind, row] of totals) console.log(`| all | ${kind} | ${row.join(' | ')} | |`);
const { user, system } = process.cpuUsage(start);
console.log(
  `\n${cases.length} advisories over ${worlds.length} catalogs: ${((user + system) / 1e6).toFixed(1)} s CPU`,
);
console.log(wrong.length === 0 ? 'No version without an advisory loses its upgrade path.' : wrong.join('\n'));

function shortOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function sizeIn({ catalog }: World, { package: name }: Case, { edit }: AdvisoryPlan): number {
  const ofPackage = catalog.packages.get(name);
  return ofPackage ? sizeOf(ofPackage, edit) : 0;
}

function arriving({ proof }: AdvisoryPlan, olm: 'v0' | 'v1', when: 'before' | 'after'): number {
  return (proof?.all ?? []).filter((one) => one.olm === olm && one[when].arrives).length;
}

/** Packages as the last catalog has them that has them: 20 with three versions or more, and 20 with only one. */
function casesOf(all: readonly World[]): Case[] {
  const newest = new Map(all.flatMap(({ catalog }) => [...catalog.packages]));
  const packages = [...newest.values()].sort((a, b) => compareText(a.name, b.name));
  const many = packages.flatMap((ofPackage) => {
    const channel = ofPackage.channels.get(ofPackage.defaultChannel);
    const head = channel && headOf(channel);
    const below = channel?.entries.filter(({ name }) => name !== head?.name) ?? [];
    const middle = below[Math.floor(below.length / 2)];
    const versions = [head, middle].flatMap((entry) => {
      const version = entry && ofPackage.bundles.get(entry.name)?.version;
      return version ? formatVersion(version) : [];
    });
    return below.length >= 2 && versions.length === 2 ? [{ name: ofPackage.name, versions }] : [];
  });
  const single = packages.filter((ofPackage) => versionsOf(ofPackage).length === 1);
  const rest = packages.filter((ofPackage) => versionsOf(ofPackage).length > 1);
  const chosen = many.slice(0, PACKAGES);
  return [
    ...chosen.map(({ name, versions: [version = ''] }): Case => ({ kind: 'head', package: name, version })),
    ...chosen.map(
      ({ name, versions: [, version = ''] }): Case => ({ kind: 'middle', package: name, version }),
    ),
    ...[...single, ...rest]
      .slice(0, PACKAGES)
      .map(({ name }): Case => ({ kind: 'only', package: name, version: '>=0.0.0-0' })),
  ];
}

function versionsOf({ bundles }: Package): Version[] {
  return [...bundles.values()].flatMap(({ version }) => version ?? []).sort(compareVersions);
}

function advisoryOf({ package: name, version }: Case): Advisory {
  return {
    id: 'BENCH-1',
    package: name,
    versions: [version],
    reason: { kind: 'withdrawn' },
    action: 'yank',
    message: 'withdrawn',
    allowDowngrade: false,
    withoutUpgradePath: [],
  };
}
