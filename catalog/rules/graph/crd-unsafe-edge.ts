import { safeChange } from '../../crd/advice.ts';
import type { CrdDefinition } from '../../crd/definition.ts';
import { type UnsafeChange, unsafeChanges } from '../../crd/safety.ts';
import { installedOf, shortName } from '../../graph/edge.ts';
import { upgradeOf } from '../../graph/outcome.ts';
import { offerOfBundle } from '../../graph/snapshot.ts';
import { type DefinitionsOf, judgedPackages, type Olm, type World } from '../../graph/world.ts';
import type { Bundle, Channel, Package } from '../../model.ts';
import { entryIn, placeOfEntry, placeOfHead } from '../place.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

/**
 * Definitions are in bundles. For a catalog that holds only the metadata of its bundles,
 * the rule says how much it has not checked.
 */
export const rule: Rule = {
  id: 'graph/crd-unsafe-edge',
  severity: 'error',
  summary:
    'No upgrade that clusters make changes a custom resource definition in a way that existing objects do not survive',
  foresee(world, report) {
    let unchecked: Channel | undefined;
    for (const ofPackage of judgedPackages(world)) {
      const edges = usedEdges(world, ofPackage);
      for (const cause of causesOf(edges, world)) reportCause(ofPackage, cause, report);
      const blind = edges.find(({ from, to }) => !isKnown(from, world) || !isKnown(to, world));
      unchecked ??= blind?.channel;
    }
    if (!unchecked) return;
    const message =
      'not checked: whether custom resources survive the upgrades of this catalog, which does not hold their definitions';
    report(message, placeOfHead(unchecked), { severity: 'info' });
  },
};

interface UsedEdge {
  readonly channel: Channel;
  readonly from: Bundle;
  readonly to: Bundle;
  readonly olm: Olm;
}

/** Unsafe changes of one definition with the upgrades that make all of them. */
interface Cause {
  readonly definition: string;
  readonly changes: UnsafeChange[];
  readonly edges: readonly UsedEdge[];
}

/** One of the changes. */
interface OneChange {
  readonly definition: string;
  readonly change: UnsafeChange;
  readonly edges: UsedEdge[];
}

/** Whether a bundle's definitions can be seen, or it serves none. */
function isKnown(bundle: Bundle, { definitions }: Known): boolean {
  return offerOfBundle(bundle).gvks.length === 0 || definitions(bundle) !== undefined;
}

/** The upgrades that clusters make by themselves. */
function usedEdges({ foresight, olm }: World, ofPackage: Package): UsedEdge[] {
  return [...ofPackage.channels.values()].flatMap((channel) =>
    channel.entries.flatMap(({ name }) => {
      const from = ofPackage.bundles.get(name);
      if (!from || offerOfBundle(from).gvks.length === 0) return [];
      const place = { package: ofPackage.name, channel: channel.name };
      const edges: UsedEdge[] = [];
      // What both generations do is laid to OLM v1, which refuses it.
      for (const generation of [...olm].sort().reverse()) {
        const { next } =
          generation === 'v0'
            ? foresight.v0(place, installedOf(from))
            : foresight.v1({ ...place, channels: [] }, installedOf(from));
        const to = ofPackage.bundles.get(upgradeOf(next)?.to.name ?? '');
        const isNew = to && !edges.some((edge) => edge.to === to);
        if (isNew && offerOfBundle(to).gvks.length > 0) edges.push({ channel, from, to, olm: generation });
      }
      return edges;
    }),
  );
}

interface Known {
  readonly definitions: DefinitionsOf;
}

function causesOf(edges: readonly UsedEdge[], { definitions }: Known): Iterable<Cause> {
  const causes = new Map<string, OneChange>();
  const compared = new Set<string>();
  for (const edge of edges) {
    const pair = `${edge.from.name}\n${edge.to.name}`;
    if (compared.has(pair)) continue;
    compared.add(pair);
    for (const after of definitions(edge.to) ?? []) {
      const before = definitions(edge.from)?.find(({ name }) => name === after.name);
      for (const change of before ? changesBetween(before, after) : []) {
        const key = `${after.name}\n${change.text}`;
        const cause = causes.get(key) ?? { definition: after.name, change, edges: [] };
        cause.edges.push(edge);
        causes.set(key, cause);
      }
    }
  }
  return grouped(causes.values());
}

/** Changes that the same upgrades make are one cause: they are corrected together. */
function grouped(changes: Iterable<OneChange>): Iterable<Cause> {
  const causes = new Map<string, Cause>();
  for (const { definition, change, edges } of changes) {
    const key = JSON.stringify([definition, edges.map(({ from, to }) => [from.name, to.name])]);
    const cause = causes.get(key) ?? { definition, changes: [], edges };
    cause.changes.push(change);
    causes.set(key, cause);
  }
  return causes.values();
}

const between = new WeakMap<CrdDefinition, WeakMap<CrdDefinition, readonly UnsafeChange[]>>();

/** The unsafe changes of one definition into another: the same pairs stand in one catalog after the other. */
function changesBetween(before: CrdDefinition, after: CrdDefinition): readonly UnsafeChange[] {
  if (before === after) return [];
  const known = between.get(before) ?? new WeakMap<CrdDefinition, readonly UnsafeChange[]>();
  between.set(before, known);
  const changes = known.get(after) ?? unsafeChanges(before, after);
  known.set(after, changes);
  return changes;
}

const SHOWN = 3;

function listed(texts: readonly string[]): string {
  const more = texts.length > SHOWN ? `; and ${texts.length - SHOWN} more` : '';
  return `${texts.slice(0, SHOWN).join('; ')}${more}`;
}

function reportCause(ofPackage: Package, { definition, changes, edges }: Cause, report: Report): void {
  const [first] = edges;
  if (!first) return;
  const { name } = ofPackage;
  const roads = edges.map(
    ({ from, to }) => `${shortName(installedOf(from))} → ${shortName(installedOf(to))}`,
  );
  const more = roads.length > SHOWN ? ` and ${roads.length - SHOWN} more` : '';
  const onEdges = `${roads.length === 1 ? 'on the upgrade' : `on ${roads.length} upgrades`} ${roads.slice(0, SHOWN).join(', ')}${more}`;
  const message = `the custom resource definition ${quoted(definition)} of package ${quoted(name)} changes unsafely ${onEdges}: ${listed(changes.map(({ text }) => text))}`;
  const entry = entryIn(first.channel, first.to.name);
  const place = entry ? placeOfEntry(first.channel, entry.index) : placeOfHead(first.channel);
  report(message, place, {
    package: name,
    channel: first.channel.name,
    installed: [...new Set(edges.map(({ from }) => shortName(installedOf(from))))],
    hint: listed([...new Set(changes.map(safeChange))]),
    // Only OLM v1 refuses such an upgrade; OLM v0 makes it, and objects may not survive.
    ...(edges.some(({ olm }) => olm === 'v1') ? {} : { severity: 'warning' }),
  });
}
