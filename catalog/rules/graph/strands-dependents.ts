import { headsOf } from '../../fbc/channel.ts';
import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import { installationsOf } from '../../olm/foresight/installation.ts';
import type { Change, World } from '../../olm/foresight/world.ts';
import { isMet, provides } from '../../olm/resolve/provider.ts';
import { type Requirement, RequirementError } from '../../olm/resolve/requirement.ts';
import { readRequirements, requiringBundles } from '../../olm/resolve/unreadable.ts';
import { placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/strands-dependents',
  severity: 'error',
  summary: 'Reports changes that make dependencies of other packages unavailable under OLM v0',
  reads: ['catalogs', 'history'],
  compare(change, report) {
    if (!change.after.olm.has('v0')) return;
    const touched = change.packages.flatMap((name) => change.before.catalog.packages.get(name) ?? []);
    const providersOf = onceByText((requirement) => touched.filter((one) => provides(one, requirement)));
    for (const dependent of change.after.catalog.packages.values()) {
      const losses = lossesOf(change, dependent, providersOf);
      for (const group of grouped(losses, ({ requirement }) => requirement.text))
        reportLosses(change, dependent, { group, report });
    }
  },
};

/** A bundle whose requirement was satisfied before the change, and is not any more. */
interface Loss {
  readonly bundle: Bundle;
  readonly requirement: Requirement;
  /** The package that satisfied it. */
  readonly provider: string;
}

/** A function that looks once for what has the same text. */
function onceByText<T>(find: (requirement: Requirement) => T): (requirement: Requirement) => T {
  const known = new Map<string, T>();
  return (requirement) => {
    const found = known.get(requirement.text) ?? find(requirement);
    known.set(requirement.text, found);
    return found;
  };
}

/** @param providersOf the packages that change and satisfied a requirement before */
function lossesOf(
  { before, after }: Change,
  dependent: Package,
  providersOf: (requirement: Requirement) => readonly Package[],
): Loss[] {
  const was = before.catalog.packages.get(dependent.name);
  return [...requiringBundles(dependent)].flatMap((bundle) => {
    if (!was?.bundles.has(bundle.name)) return [];
    return requirementsIn(bundle, after).flatMap((requirement) => {
      if (isMet(after.foresight.scope, requirement)) return [];
      const provider = providersOf(requirement).find(({ name }) => name !== dependent.name);
      return provider ? [{ bundle, requirement, provider: provider.name }] : [];
    });
  });
}

/** The requirements of a bundle. Another rule reports those that cannot be parsed. */
function requirementsIn({ properties }: Bundle, { foresight }: World): Requirement[] {
  return readRequirements(foresight.scope, properties).flatMap(({ read }) =>
    read instanceof RequirementError ? [] : [read],
  );
}

type Sides = Pick<Change, 'before' | 'after'>;

function reportLosses(
  { before, after }: Sides,
  dependent: Package,
  { group, report }: { readonly group: readonly Loss[]; readonly report: Report },
): void {
  const [first] = group;
  if (!first) return;
  const { provider, requirement } = first;
  const location = placeOfPackage(after, provider) ?? placeOfPackage(before, provider);
  if (!location) return;
  const bundles = group.map(({ bundle }) => bundle);
  const versions = versionsOf(bundles.map(installedOf));
  const isNeeded = bundles.some((bundle) => isMissed({ before, after }, dependent, bundle));
  const one = versions.length === 1;
  const where = after.hasCompanions ? 'no catalog of the clusters' : 'nothing in this catalog';
  const message = `package ${quoted(dependent.name)}: ${listed(versions)} ${one ? 'requires' : 'require'} an operator ${requirement.text}, which package ${quoted(provider)} provided before and ${where} provides now: OLM v0 cannot install ${one ? 'it' : 'them'} and skips upgrades to ${one ? 'it' : 'them'} without an error`;
  report(message, location, {
    package: provider,
    subject: `${dependent.name} ${requirement.text}`,
    severity: isNeeded ? 'error' : 'warning',
    hint: `keep the dependency in package ${quoted(provider)} until ${quoted(dependent.name)} no longer requires it`,
  });
}

/** Whether clusters miss a bundle that they no longer can install: as the head of a channel, or as their only next step. */
function isMissed({ before, after }: Sides, { name, channels }: Package, bundle: Bundle): boolean {
  if ([...channels.values()].some((channel) => headsOf(channel).some((head) => head.name === bundle.name)))
    return true;
  return installationsOf(before, name).some(({ channel, installed }) => {
    const place = { package: name, channel };
    const isLost = after.foresight.v0(place, installed).next.kind !== 'upgrade';
    return isLost && leadsTo(before, place, { installed, bundle });
  });
}

function leadsTo(
  { foresight }: World,
  place: { readonly package: string; readonly channel: string },
  { installed, bundle }: { readonly installed: Installed; readonly bundle: Bundle },
): boolean {
  const { next } = foresight.v0(place, installed);
  return next.kind === 'upgrade' && next.to.name === bundle.name;
}
