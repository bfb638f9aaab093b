import { shortName } from '../../fbc/edge.ts';
import { hasOlmV1 } from '../../fbc/platform.ts';
import { parseJson } from '../../json.ts';
import type { Change, Olm } from '../../olm/foresight/world.ts';
import { gvkText, offerOf } from '../../olm/resolve/requirement.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { grouped, listed } from '../message-text.ts';
import { type NewUpgrade, newUpgrades, placeOfEdge, type Side, upgradesText } from '../new-upgrades.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

/**
 * OLM v1 applies a bundle as one release: what the new version lacks is deleted, a CRD with all of its
 * objects. OLM v0 leaves CRDs and objects behind, which nothing updates any more.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/applier/provider.go
 */
export const rule: Rule = {
  id: 'graph/crd-dropped',
  severity: 'error',
  summary:
    'Reports upgrades that drop CRDs that the previous version owned, or stop serving versions of them',
  reads: ['catalogs', 'history', 'manifests'],
  compare(change, report) {
    for (const name of change.packages) {
      const edges = newUpgrades(change, name);
      reportDropped({ change, name, edges, report });
      reportUnserved({ change, name, edges, report });
    }
  },
};

interface Checked {
  readonly change: Change;
  /** Of the package. */
  readonly name: string;
  readonly edges: readonly NewUpgrade[];
  readonly report: Report;
}

function reportDropped({ change, name, edges: upgrades, report }: Checked): void {
  for (const { edges, edge, lost, olm: all } of losing(upgrades, droppedOn)) {
    const olm = all.filter((one) => one === 'v0' || hasOlmV1(change.after.platform ?? LATEST));
    if (olm.length === 0) continue;
    const message = `${upgradesText(edges)} of package ${quoted(name)} ${edges.length === 1 ? 'removes' : 'remove'} ${lost.length === 1 ? 'an owned CRD' : 'owned CRDs'}, ${listed(lost)}: ${effectOf(olm, lost.length)}`;
    report(message, placeOfEdge(change, edge), {
      package: name,
      channel: edge.channel,
      installed: edges.map(({ from }) => shortName(from.bundle)),
      severity: olm.includes('v1') ? 'error' : 'warning',
      hint: `keep the CRD in ${shortName(edge.to.bundle)} until its objects are migrated`,
    });
  }
}

/** No OLM refuses such an upgrade, and no object is lost; but who uses the version gets errors from then on. */
function reportUnserved({ change, name, edges: all, report }: Checked): void {
  for (const { edges, edge, lost } of losing(all, unservedOn)) {
    const message = `${upgradesText(edges)} of package ${quoted(name)} ${edges.length === 1 ? 'stops' : 'stop'} serving ${listed(lost)}: requests for ${lost.length === 1 ? 'it' : 'them'} fail`;
    report(message, placeOfEdge(change, edge), {
      package: name,
      channel: edge.channel,
      subject: JSON.stringify(lost),
      installed: edges.map(({ from }) => shortName(from.bundle)),
      severity: 'warning',
      hint: `serve it in ${shortName(edge.to.bundle)} until nothing uses it`,
    });
  }
}

interface Loss {
  /** The upgrades to one bundle that lose the same. */
  readonly edges: readonly NewUpgrade[];
  /** The first of them. */
  readonly edge: NewUpgrade;
  readonly lost: readonly string[];
  /** The generations of OLM under which that is new. */
  readonly olm: readonly Olm[];
}

type Between = Pick<NewUpgrade, 'from' | 'to'>;

type LostOn = (between: Between) => readonly string[];

/** What upgrades lose, but for what those who make them lost on their way before the change as well. */
function losing(edges: readonly NewUpgrade[], lostOn: LostOn): Loss[] {
  const all = edges.flatMap((edge) => {
    const { lost, olm } = newlyLost(edge, lostOn);
    return lost.length > 0 ? [{ edge, lost, olm }] : [];
  });
  const key = ({ edge, lost, olm }: (typeof all)[number]): string =>
    JSON.stringify([edge.to.bundle.name, olm, lost]);
  return grouped(all, key).flatMap((group) => {
    const [first] = group;
    return first ? [{ ...first, edges: group.map(({ edge }) => edge) }] : [];
  });
}

function newlyLost({ from, to, former }: NewUpgrade, lostOn: LostOn): Pick<Loss, 'lost' | 'olm'> {
  const all = lostOn({ from, to });
  if (all.length === 0) return { lost: [], olm: [] };
  const news = former.map(({ olm, path }) => {
    const before = new Set(
      path().flatMap((side, i, sides) => lostOn({ from: sides[i - 1] ?? side, to: side })),
    );
    return { olm, lost: all.filter((one) => !before.has(one)) };
  });
  const lost = all.filter((one) => news.some((of) => of.lost.includes(one)));
  const olm = news.flatMap((of) => (of.lost.length > 0 ? [of.olm] : []));
  return { lost, olm: [...new Set(olm)].sort() };
}

/** Where the platform is unknown, OLM v1 may be there. */
const LATEST = { major: 4, minor: 20 };

function effectOf(olm: readonly Olm[], count: number): string {
  const them = count === 1 ? 'it' : 'them';
  const effects = {
    v0: `OLM v0 leaves ${them} without an owner`,
    v1: `OLM v1 deletes ${them} with all objects`,
  };
  return [...olm]
    .reverse()
    .map((generation) => effects[generation])
    .join(', ');
}

/** Names of CRDs, or kinds where names are unknown. */
function droppedOn({ from, to }: Between): readonly string[] {
  const [before, after] = [from.manifests.csv, to.manifests.csv];
  if (!before || !after) return droppedKinds(from, to);
  const kept = new Set([
    ...after.ownedCrds,
    ...after.requiredCrds.map(({ name }) => name),
    ...(to.world.crds(to.bundle) ?? []).map(({ name }) => name),
  ]);
  return before.ownedCrds.filter((name) => !kept.has(name)).map(quoted);
}

/** Versions of CRDs that both bundles have. The loss of a version that stores objects is an unsafe change of the CRD. */
function unservedOn({ from, to }: Between): readonly string[] {
  const after = new Map((to.world.crds(to.bundle) ?? []).map((crd) => [crd.name, crd.versions]));
  return (from.world.crds(from.bundle) ?? []).flatMap(({ name, versions, storedVersions }) => {
    const kept = after.get(name) ?? versions;
    return versions
      .filter((version) => version.served && !kept.some((one) => one.served && one.name === version.name))
      .filter(
        (version) => kept.some((one) => one.name === version.name) || !storedVersions.includes(version.name),
      )
      .map((version) => `${version.name} of ${quoted(name)}`);
  });
}

/** Kinds of which the bundle no longer provides or requires any version. */
function droppedKinds(from: Side, to: Side): readonly string[] {
  const after = new Set([...offerOfBundle(to.bundle).gvks, ...requiredBy(to)].map(withoutVersion));
  return offerOfBundle(from.bundle)
    .gvks.filter((gvk) => !after.has(withoutVersion(gvk)))
    .map(gvkText);
}

function requiredBy({ bundle }: Side): readonly string[] {
  const asked = bundle.properties.filter(({ type }) => type === 'olm.gvk.required');
  return offerOf(
    asked.map(({ value }) => ({ type: 'olm.gvk', value })),
    { package: '', version: undefined },
  ).gvks;
}

function withoutVersion(gvk: string): string {
  const [group, , kind] = parseJson(gvk) as [string, string, string];
  return JSON.stringify([group, kind]);
}
