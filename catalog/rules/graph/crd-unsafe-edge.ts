import { safeChange } from '../../crd/advice.ts';
import { installedOf, shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import { hasOlmV1 } from '../../fbc/platform.ts';
import { publishedInstallations } from '../../olm/foresight/installation.ts';
import {
  type Change,
  type CrdsOf,
  checkedPackages,
  formerWorld,
  type Olm,
  upgradePathOf,
  type World,
} from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import { entryIn, placeOfEntry, placeOfHead } from '../finding-location.ts';
import { bundleOf, type Origin, originsIn } from '../origins.ts';
import { quoted, type Report, type Rule } from '../rule.ts';
import {
  type Cause,
  type CauseChange,
  type Counts,
  causesOf,
  isKnown,
  pastEdges,
  type UsedEdge,
  usedEdges,
} from '../unsafe-edges.ts';

/**
 * CRDs are in bundles. For a catalog that holds only the metadata of its bundles,
 * the rule says how much it has not checked.
 */
export const rule: Rule = {
  id: 'graph/crd-unsafe-edge',
  severity: 'error',
  summary: 'Reports upgrades that change a CRD in a way that breaks existing objects',
  aboutBundles: true,
  reads: ['catalogs', 'history', 'manifests'],
  comparisonTellsNews: true,
  foresee(world, report) {
    let unchecked: Channel | undefined;
    const isRefused: IsRefused = (changes, edges) => edges.some((edge) => refuses(world, changes, edge));
    for (const ofPackage of checkedPackages(world)) {
      const edges = usedEdges(world, ofPackage);
      for (const cause of causesOf(edges, world)) reportCause(ofPackage, cause, { report, isRefused });
      const blind = edges.find(({ from, to }) => !isKnown(from, world) || !isKnown(to, world));
      unchecked ??= blind?.channel;
    }
    if (!unchecked) return;
    const message =
      'not checked: whether custom resources survive the upgrades of this catalog, because the catalog does not contain the CRDs';
    report(message, placeOfHead(unchecked), { severity: 'info' });
  },
  compare(change, report) {
    const { before, after } = change;
    for (const name of change.packages) {
      const ofPackage = after.catalog.packages.get(name);
      if (!ofPackage) continue;
      const find = bundleOf(change, name);
      const crds: CrdsOf = (bundle) => after.crds(bundle) ?? before.crds(bundle);
      const edges = usedEdges(after, ofPackage, originsOf(change, name));
      const reaches = reachedFrom(change, name, edges);
      const isRefused: IsRefused = (changes, refused) =>
        refused.some((edge) => refuses(after, changes, { ...edge, olm: edge.olm.filter(reaches(edge)) }));
      const earlier = [...earlierEdges(change, name), ...pastEdges(before, name, find)];
      for (const cause of causesOf(edges, { crds }, { counts: newsIn(change, name), earlier })) {
        const isMade = cause.edges.some(
          (edge) =>
            before.isPublished({ package: name, bundle: edge.from.name }) || edge.olm.some(reaches(edge)),
        );
        reportCause(ofPackage, cause, { report: isMade ? report : asNote(report), isRefused });
      }
    }
  },
};

/** What clusters may have before the change, and after it. */
function originsOf(change: Change, name: string): Origin[] {
  const find = bundleOf(change, name);
  const origins = [change.after, change.before].flatMap((world) => originsIn(world, name, find));
  const keyOf = ({ channel, bundle }: Origin): string => JSON.stringify([channel, bundle.name]);
  return [...new Map(origins.map((origin) => [keyOf(origin), origin])).values()];
}

/** Upgrades of the state before, there and where clusters come from. */
function earlierEdges(change: Change, name: string): UsedEdge[] {
  const find = bundleOf(change, name);
  return [change.before, ...change.before.preceding].flatMap((world) => {
    const ofPackage = world.catalog.packages.get(name);
    const edges = ofPackage ? usedEdges(world, ofPackage, originsIn(world, name, find)) : [];
    // A bundle is the same one on both sides.
    return edges.map((edge) => ({ ...edge, to: find(edge.to.name) ?? edge.to }));
  });
}

/** OLM v1 refuses every unsafe change, OLM v0 only that a stored version goes: all else it makes. */
function refuses(
  { platform }: World,
  changes: readonly CauseChange[],
  { olm }: Pick<UsedEdge, 'olm'>,
): boolean {
  const byV1 = olm.includes('v1') && (!platform || hasOlmV1(platform));
  return byV1 || (olm.includes('v0') && changes.some(({ check }) => check === 'storedVersionRemoval'));
}

/** Reports unsafe upgrades that a change adds, and what it changes in the CRDs along existing upgrades. */
function newsIn(change: Change, name: string): Counts {
  const before = formerWorld(change, name);
  const was = before.catalog.packages.get(name);
  const added: Counts = was ? addedTo(was, before, change) : ({ olm }) => olm;
  if (change.before.catalog.packages.has(name)) return added;
  // Whoever writes the bundles of a repository as a catalog adds no upgrade to those that the bundles had.
  return (edge, ...rest) =>
    change.existed(edge.from) && change.existed(edge.to) ? [] : added(edge, ...rest);
}

/** What is new to a package as it was before. */
function addedTo(was: Package, before: World, change: Change): Counts {
  const { name } = was;
  const find = bundleOf(change, name);
  const crds: CrdsOf = (bundle) => before.crds(bundle) ?? change.after.crds(bundle);
  const isOld = (one: string): Bundle | undefined => was.bundles.get(one) ?? find(one);
  const edges = usedEdges(before, was, originsIn(before, name, isOld));
  const earlier = pastEdges(before, name, isOld);
  const texts = new Set<string>();
  const keyOf = (of: UsedEdge, ...rest: string[]): string =>
    JSON.stringify([of.from.name, of.to.name, ...rest]);
  for (const { crd, changes, edges: its } of causesOf(edges, { crds }, { earlier }))
    for (const edge of its) for (const { text } of changes) texts.add(keyOf(edge, crd, text));
  const isBlind = ({ from, to }: UsedEdge): boolean => [from, to].some((one) => !isKnown(one, { crds }));
  return (edge, crd, { text }) => {
    const earlierOnes = edges.filter(({ from }) => from.name === edge.from.name);
    const same = earlierOnes.filter(({ to }) => to.name === edge.to.name);
    const hasIn = (some: readonly UsedEdge[], olm: Olm): boolean =>
      some.some((old) => old.olm.includes(olm) && isMadeIn(was, old, edge));
    // The same unsafe change on the way to another target harms nobody anew.
    const alike = earlierOnes.filter((old) => texts.has(keyOf(old, crd, text)));
    const isNew = edge.olm.filter(
      (olm) =>
        (!hasIn(same, olm) && !hasIn(alike, olm)) ||
        (olm === 'v1' && isNewAlone(was, edge, [...same, ...alike])),
    );
    if (same.length === 0) return isNew;
    const isAlike = same.some((old) => isBlind(old) || texts.has(keyOf(old, crd, text)));
    return isNew.length > 0 || isAlike ? isNew : edge.olm;
  };
}

/** Whether extensions that selected the channel alone made none of some older upgrades. */
function isNewAlone(was: Package, { channel, from, isAlone }: UsedEdge, older: readonly UsedEdge[]): boolean {
  const wasThere = entryIn(was.channels.get(channel.name), from.name) !== undefined;
  return isAlone && wasThere && !older.some((old) => old.isAlone && old.channel.name === channel.name);
}

/** Whether who was in an upgrade's channel made an older upgrade: under OLM v0 they make those of their own only. */
function isMadeIn(was: Package, old: UsedEdge, { channel, from, olm }: UsedEdge): boolean {
  if (!olm.includes('v0') || old.channel.name === channel.name) return true;
  return entryIn(was.channels.get(channel.name), from.name) === undefined;
}

/** Tells which upgrades lie on the path of anything published that was installed before a change. */
function reachedFrom(
  { before, after }: Change,
  name: string,
  edges: readonly UsedEdge[],
): (edge: UsedEdge) => (olm: Olm) => boolean {
  const reached = new Map<string, Set<string>>();
  const place = (olm: Olm, channel: string): string => (olm === 'v1' ? olm : `${olm} ${channel}`);
  const installations = [before, ...before.preceding].flatMap((one) => publishedInstallations(one, name));
  for (const { channel, installed } of installations) {
    for (const olm of after.olm) {
      const { next } = upgradePathOf(after.foresight, { package: name, channel, olm }, installed);
      const names = reached.get(place(olm, channel)) ?? new Set();
      names.add(installed.name).add(upgradeOf(next)?.to.name ?? installed.name);
      reached.set(place(olm, channel), names);
    }
  }
  const onward = new Map<string, Map<string, string[]>>();
  for (const { channel, from, to, olm } of edges) {
    for (const generation of olm) {
      const key = place(generation, channel.name);
      const steps = onward.get(key) ?? new Map<string, string[]>();
      onward.set(key, steps.set(from.name, [...(steps.get(from.name) ?? []), to.name]));
    }
  }
  for (const [key, names] of reached) {
    // What is added while a set is gone through is gone through as well.
    for (const one of names) for (const to of onward.get(key)?.get(one) ?? []) names.add(to);
  }
  return ({ channel, from }) =>
    (olm) =>
      reached.get(place(olm, channel.name))?.has(from.name) === true;
}

/** No cluster upgrades from a version that was never published and is on no upgrade path. */
function asNote(report: Report): Report {
  return (message, location, details) => report(message, location, { ...details, severity: 'info' });
}

const SHOWN = 3;

function listed(texts: readonly string[]): string {
  const more = texts.length > SHOWN ? `; and ${texts.length - SHOWN} more` : '';
  return `${texts.slice(0, SHOWN).join('; ')}${more}`;
}

/** Tells whether clusters are refused an upgrade for the changes. */
type IsRefused = (changes: readonly CauseChange[], edges: readonly UsedEdge[]) => boolean;

function reportCause(
  ofPackage: Package,
  { crd, changes, edges }: Cause,
  { report, isRefused }: { readonly report: Report; readonly isRefused: IsRefused },
): void {
  const [first] = edges;
  if (!first) return;
  const { name } = ofPackage;
  const upgrades = edges.map(
    ({ from, to }) => `${shortName(installedOf(from))} → ${shortName(installedOf(to))}`,
  );
  const more = upgrades.length > SHOWN ? ` and ${upgrades.length - SHOWN} more` : '';
  const onEdges = `${upgrades.length === 1 ? 'on the upgrade' : `on ${upgrades.length} upgrades`} ${upgrades.slice(0, SHOWN).join(', ')}${more}`;
  const message = `the CRD ${quoted(crd)} of package ${quoted(name)} changes unsafely ${onEdges}: ${listed(changes.map(textOf))}`;
  const entry = entryIn(first.channel, first.to.name);
  const place = entry ? placeOfEntry(first.channel, entry.index) : placeOfHead(first.channel);
  report(message, place, {
    package: name,
    channel: first.channel.name,
    subject: JSON.stringify([crd, edges.map(({ from, to }) => [from.name, to.name])]),
    installed: [...new Set(edges.map(({ from }) => shortName(installedOf(from))))],
    hint: listed([...new Set(changes.map(safeChange))]),
    ...(isRefused(changes, edges) ? {} : { severity: 'warning' }),
  });
}

function textOf({ text, why }: CauseChange): string {
  return why === undefined ? text : `${text} (${why})`;
}
