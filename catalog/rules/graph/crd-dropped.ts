import { shortName } from '../../fbc/edge.ts';
import { hasOlmV1 } from '../../fbc/platform.ts';
import { parseJson } from '../../json.ts';
import type { Olm } from '../../olm/foresight/world.ts';
import { gvkText, offerOf } from '../../olm/resolve/requirement.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { grouped, listed } from '../message-text.ts';
import { type NewUpgrade, newUpgrades, placeOfEdge, type Side, upgradesText } from '../new-upgrades.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * OLM v1 applies a bundle as one release: what the new version lacks is deleted, a CRD with all of its
 * objects. OLM v0 leaves CRDs and objects behind, which nothing updates any more.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/applier/provider.go
 */
export const rule: Rule = {
  id: 'graph/crd-dropped',
  severity: 'error',
  summary: 'Reports upgrades that drop CRDs that the previous version owned',
  reads: ['catalogs', 'history', 'manifests'],
  compare(change, report) {
    for (const name of change.packages) {
      const dropping = newUpgrades(change, name).flatMap((edge) => {
        const lost = newlyDropped(edge);
        return lost.length > 0 ? [{ edge, lost }] : [];
      });
      const key = ({ edge, lost }: Dropping): string => JSON.stringify([edge.to.bundle.name, edge.olm, lost]);
      for (const group of grouped(dropping, key)) {
        const [first] = group;
        if (!first) continue;
        const { lost, edge } = first;
        const edges = group.map((one) => one.edge);
        const olm = edge.olm.filter((one) => one === 'v0' || hasOlmV1(change.after.platform ?? LATEST));
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
  },
};

/** Where the platform is unknown, OLM v1 may be there. */
const LATEST = { major: 4, minor: 20 };

interface Dropping {
  readonly edge: NewUpgrade;
  /** Names of CRDs, or kinds where names are unknown. */
  readonly lost: readonly string[];
}

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

/** What an upgrade drops, but for what it dropped before the change as well. */
function newlyDropped({ from, to, formerTo }: NewUpgrade): readonly string[] {
  const before = new Set(formerTo ? droppedOn({ from, to: formerTo }) : []);
  return droppedOn({ from, to }).filter((name) => !before.has(name));
}

function droppedOn({ from, to }: Pick<NewUpgrade, 'from' | 'to'>): readonly string[] {
  const [before, after] = [from.manifests.csv, to.manifests.csv];
  if (!before || !after) return droppedKinds(from, to);
  const kept = new Set([
    ...after.ownedCrds,
    ...after.requiredCrds,
    ...(to.world.crds(to.bundle) ?? []).map(({ name }) => name),
  ]);
  return before.ownedCrds.filter((name) => !kept.has(name)).map(quoted);
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
