/**
 * The best upgrade graph of a package: the channels and edges with the fewest entries by which both resolvers take every
 * cluster to the newest allowed version. Whatever is suggested was tried with the resolvers; what would strand somebody
 * who has an upgrade path today is not suggested.
 */

import { headOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Bundle, Package, Property } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';
import { isUnstable } from '../../names.ts';
import { compareVersions } from '../../version/version.ts';
import { foresightWith } from '../foresight/fix-trial.ts';
import { compareInstalled } from '../foresight/installation.ts';
import { type Following, upgradePathOf, type World } from '../foresight/world.ts';
import { upgradeOf } from '../resolve/outcome.ts';
import { REQUIRING, RequirementError, requirementOf } from '../resolve/requirement.ts';
import { offerOfBundle } from '../resolve/snapshot.ts';
import { ChannelPlanner } from './channel-planner.ts';
import { type GraphPolicy, keepsChannels } from './policy.ts';
import { type SearchBudget, searchBudget } from './shortest-chain.ts';
import { packageOf, type SuggestedChannel } from './suggested-channel.ts';

export interface Suggestion {
  readonly package: string;
  /** Empty where the package has none yet. */
  readonly defaultChannel: string;
  readonly channels: readonly SuggestedChannel[];
  /** Names of bundles that no suggested channel has: they leave the catalog together with the entries. */
  readonly dropped: readonly string[];
  /** Installations without an upgrade path to a head. */
  readonly stranded: { readonly today: readonly Installation[]; readonly suggested: readonly Installation[] };
  /** Upgrades that clusters make with the suggestion, and that no entry of today has. */
  readonly newUpgrades: readonly NewUpgrade[];
}

/** An installation, and how it gets its upgrades. */
export interface Installation extends Following {
  readonly installed: Installed;
}

interface NewUpgrade {
  readonly from: Installed;
  readonly to: Installed;
}

/**
 * Suggests the upgrade graph of a package of a catalog.
 *
 * @param budget what finding the shortest chains of its channels may cost
 */
export function suggestGraph(
  world: World,
  ofPackage: Package,
  policy: GraphPolicy,
  budget: SearchBudget = searchBudget(),
): Suggestion {
  const planner = new ChannelPlanner(world, ofPackage, policy, budget);
  const input: SuggestionInput = { world, ofPackage, policy, planner };
  let plans = planner.plans(new Set());
  const required = requiredOfOthers(world, ofPackage, packageOf(ofPackage, plans));
  if (required.size > 0) plans = planner.plans(required);
  // Each round gives up a channel, so this ends. New channels have none of today to fall back to.
  for (;;) {
    const { suggestion, worse } = tryPlans(input, plans);
    if (worse.length === 0 || !keepsChannels(policy)) return suggestion;
    plans = withoutWorse(input, plans, worse);
  }
}

/** The suggested channels before any trial: test them with both resolvers before use. */
export function untriedChannels(world: World, ofPackage: Package, policy: GraphPolicy): SuggestedChannel[] {
  return new ChannelPlanner(world, ofPackage, policy, searchBudget()).plans(new Set());
}

interface SuggestionInput {
  readonly world: World;
  readonly ofPackage: Package;
  readonly policy: GraphPolicy;
  readonly planner: ChannelPlanner;
}

/** The plans, with today's channel for each in which somebody would lose an upgrade path. */
function withoutWorse(
  { planner }: SuggestionInput,
  plans: readonly SuggestedChannel[],
  worse: readonly Installation[],
): SuggestedChannel[] {
  const names = new Set(worse.flatMap(({ channel }) => (channel === '' ? [] : [channel])));
  const changed = plans.filter(({ why }) => why === undefined);
  const undone = changed.filter(({ name }) => names.has(name));
  // An extension without channels sees all of them: then none differs from the others.
  const back = new Set((undone.length > 0 ? undone : changed).map(({ name }) => name));
  return plans.map((plan) => {
    if (!back.has(plan.name)) return plan;
    const example = worse.find(({ channel }) => channel === plan.name) ?? worse[0];
    const why = `installed ${example?.installed.name} would lose its upgrade path under OLM ${example?.olm}`;
    return planner.asToday(plan.name, why);
  });
}

interface Trial {
  readonly suggestion: Suggestion;
  /** Installations that have an upgrade path today and would lose it. */
  readonly worse: readonly Installation[];
}

/** Simulates the planned channels under both OLMs. */
function tryPlans(input: SuggestionInput, plans: readonly SuggestedChannel[]): Trial {
  const { world, ofPackage, policy, planner } = input;
  const suggested = packageOf(ofPackage, plans);
  const after = foresightWith(world, suggested.name, suggested);
  const before = world.foresight;
  const stranded = { today: [] as Installation[], suggested: [] as Installation[] };
  const worse: Installation[] = [];
  const newUpgrades = new Map<string, NewUpgrade>();
  for (const one of installations(input, plans)) {
    const was = upgradePathOf(before, one, one.installed);
    const is = upgradePathOf(after, one, one.installed);
    const existed = keepsChannels(policy) || ofPackage.channels.has(one.channel);
    if (existed && !was.arrives) stranded.today.push(one);
    if (!is.arrives) stranded.suggested.push(one);
    if (was.arrives && !is.arrives && !isBeyond(input, one, plans)) worse.push(one);
    const to = upgradeOf(is.next)?.to;
    if (to && !planner.follows(one.installed, to.name))
      newUpgrades.set(JSON.stringify([one.installed.name, to.name]), { from: one.installed, to });
  }
  const suggestion = {
    package: ofPackage.name,
    defaultChannel: defaultChannel(ofPackage, plans),
    channels: plans,
    dropped: [...ofPackage.bundles.keys()].filter((name) => !suggested.bundles.has(name)).sort(compareText),
    stranded,
    newUpgrades: [...newUpgrades.values()].sort((a, b) => compareInstalled(a.from, b.from)),
  };
  return { suggestion, worse };
}

/** Whether nothing is known that can follow an installation: it is to be avoided, and no head is known to be as high. */
function isBeyond(
  { ofPackage, policy }: SuggestionInput,
  { channel, installed }: Installation,
  plans: readonly SuggestedChannel[],
): boolean {
  if (!policy.avoid.has(installed.name)) return false;
  const heads = plans
    .filter(({ name }) => channel === '' || name === channel)
    .map(({ entries }) => entries.at(-1)?.name ?? '');
  const versions = heads.map((name) => ofPackage.bundles.get(name)?.version);
  return versions.every(
    (version) => !version || !installed.version || compareVersions(version, installed.version) < 0,
  );
}

/** Today's default channel if it stays, else `stable`, else the newest by number; empty without channels. */
function defaultChannel({ defaultChannel: today }: Package, plans: readonly SuggestedChannel[]): string {
  if (plans.some(({ name }) => name === today)) return today;
  // Of channels by number the last is the newest. One with pre-releases is for those who ask for it.
  const released = plans.filter(({ name }) => !isUnstable(name));
  return (
    released.find(({ name }) => name === 'stable')?.name ?? (released.at(-1) ?? plans.at(-1))?.name ?? ''
  );
}

/** Every installation that clusters may have, with each way to get upgrades, also from channels that go. */
function installations(
  { world: { olm }, ofPackage, policy, planner }: SuggestionInput,
  plans: readonly SuggestedChannel[],
): Installation[] {
  const { name: packageName, channels, bundles } = ofPackage;
  const suggested = plans.flatMap(({ name: channel }) =>
    planner.installedIn(channel).map((installed) => ({ package: packageName, channel, installed })),
  );
  const gone = keepsChannels(policy)
    ? []
    : [...channels.values()].flatMap(({ name: channel, entries }) =>
        entries
          .flatMap(({ name }) => bundles.get(name) ?? [])
          .map((installed) => ({ package: packageName, channel, installed })),
      );
  const placed = [...suggested, ...gone];
  const all = [...new Map(placed.map(({ installed }) => [installed.name, installed])).values()];
  return [
    ...(olm.has('v0') ? placed.map((one) => ({ ...one, olm: 'v0' as const })) : []),
    ...(olm.has('v1')
      ? [
          ...placed.map((one) => ({ ...one, olm: 'v1' as const, onlyChannel: true })),
          ...all.map((installed) => ({ package: packageName, channel: '', installed, olm: 'v1' as const })),
        ]
      : []),
  ];
}

/** Installations that are stranded today, and no longer with the suggestion. */
export function rescuedInstallations({ stranded }: Suggestion): Installation[] {
  const left = new Set(stranded.suggested.map(installationKey));
  return stranded.today.filter((one) => !left.has(installationKey(one)));
}

/** An installation of a package, and the way it gets its upgrades, as one text. */
export function installationKey({
  olm,
  channel,
  installed,
}: Pick<Installation, 'olm' | 'channel' | 'installed'>): string {
  return JSON.stringify([olm, channel, installed.name]);
}

/**
 * Names of bundles that must stay for other packages: for each requirement that the package meets today and would no
 * longer meet, the newest bundle that meets it.
 */
function requiredOfOthers({ catalog, foresight }: World, today: Package, suggested: Package): Set<string> {
  const required = new Set<string>();
  const had = [...today.bundles.values()].sort(compareInstalled).reverse();
  const has = [...suggested.bundles.values()];
  for (const property of requirementsIn(
    [...catalog.packages.values()].filter(({ name }) => name !== today.name),
  )) {
    const holds = meetsProperty(property, foresight.scope.cel);
    const newest = had.find(holds);
    if (newest && !has.some(holds)) required.add(newest.name);
  }
  return required;
}

/** The requirements of bundles in packages that OLM can install from, each once. */
function requirementsIn(packages: readonly Package[]): Property[] {
  const all = packages
    .filter((one) => [...one.channels.values()].some((channel) => headOf(channel) !== undefined))
    .flatMap(({ bundles }) => [...bundles.values()].flatMap(({ properties }) => properties))
    .filter(({ type }) => REQUIRING.has(type));
  return [
    ...new Map(all.map((property) => [JSON.stringify([property.type, property.value]), property])).values(),
  ];
}

/** Tells which bundles meet a requirement that another bundle has as a property. */
function meetsProperty(
  property: Property,
  cel: World['foresight']['scope']['cel'],
): (bundle: Bundle) => boolean {
  try {
    const { holds } = requirementOf(property, cel);
    return (bundle) => holds(offerOfBundle(bundle));
  } catch (error) {
    // No bundle meets a requirement that OLM cannot read.
    if (error instanceof RequirementError) return () => false;
    throw error;
  }
}
