/** The message and fix for installations that have no upgrade path under OLM v0. */
import { headOf } from '../fbc/channel.ts';
import { type Installed, shortName } from '../fbc/edge.ts';
import type { Severity } from '../finding.ts';
import { onceFor } from '../go/once.ts';
import { shellWord } from '../names.ts';
import { correctionOf, fixFor } from '../olm/foresight/fix.ts';
import type { UpgradePath } from '../olm/foresight/foresight.ts';
import { compareInstalled } from '../olm/foresight/installation.ts';
import type { World } from '../olm/foresight/world.ts';
import { AS_TODAY } from '../olm/suggest/policy.ts';
import { type SearchBudget, searchBudget } from '../olm/suggest/shortest-chain.ts';
import {
  installationKey,
  rescuedInstallations,
  type Suggestion,
  suggestGraph,
} from '../olm/suggest/suggestion.ts';
import { channelIn, placeOfEntry, placeOfHead } from './finding-location.ts';
import { channelText, grouped, listed, versionsOf } from './message-text.ts';
import type { Report } from './rule.ts';

export interface Stranded {
  readonly package: string;
  readonly channel: string;
  readonly installed: Installed;
  readonly path: UpgradePath;
  readonly severity?: Severity;
}

interface StrandedReport {
  /** What is no longer possible, such as `cannot reach`. */
  readonly verb: string;
  /** From where removed entries may be restored. */
  readonly past?: World;
}

/** Groups for which a fix is looked for: each takes several trials of its whole channel. */
const FIXED = 12;

/** Reports installations whose upgrade paths end short of the head, one finding for each reason. */
export function reportStranded(
  world: World,
  all: readonly Stranded[],
  { report, ...options }: StrandedReport & { readonly report: Report },
): void {
  const key = ({ package: name, channel, path: { last } }: Stranded): string =>
    JSON.stringify([name, channel, last.kind === 'circle' ? '' : [last.reason.code, last.reason.text]]);
  for (const [i, group] of grouped(all, key).entries()) {
    reportGroup(world, group, { report, ...options, wantsFix: world.isCurrent && i < FIXED });
  }
}

/**
 * Reports installations that cannot reach the head for one reason, with the smallest fix at the place that it changes.
 */
function reportGroup(
  world: World,
  group: readonly Stranded[],
  { report, verb, past, wantsFix }: StrandedReport & { readonly report: Report; readonly wantsFix: boolean },
): void {
  const [first] = group;
  const channel = first && channelIn(world, first.package, first.channel);
  if (!first || !channel) return;
  const installed = group.map((one) => one.installed).sort(compareInstalled);
  const versions = versionsOf(installed);
  const head = headOf(channel);
  const headBundle = head && world.catalog.packages.get(first.package)?.bundles.get(head.name);
  const headText = headBundle ? `, ${shortName(headBundle)},` : '';
  const stuck = { package: first.package, channel: first.channel, olm: 'v0' as const, installed };
  const fix = wantsFix ? fixFor(world, stuck, past) : undefined;
  const place = fix && fix.index >= 0 ? placeOfEntry(channel, fix.index) : placeOfHead(channel);
  const message = `under OLM v0 ${listed(versions)} ${verb} the head${headText} of ${channelText(first.channel, first.package)}: ${whyText(group)}`;
  report(message, place, {
    package: first.package,
    channel: first.channel,
    installed: versions,
    ...(first.severity ? { severity: first.severity } : {}),
    // The smallest change first, then what the reason tells; a new graph is only proposed for the groups that are tried.
    hint: fix?.text ?? helpFor(first.path) ?? (wantsFix ? graphHelp(world, group) : undefined) ?? SKIP,
    ...correctionOf(channel, fix),
  });
}

const suggestions = new WeakMap<World, Map<string, Suggestion | undefined>>();
/** One budget for all packages of a world: hundreds may be stranded together. */
const budgetOf = onceFor<World, SearchBudget>(() => searchBudget());

/** The graph that keeps all entries of a package, as suggest-graph finds it: it tries each with both resolvers. */
function suggestionFor(world: World, name: string): Suggestion | undefined {
  const known = suggestions.get(world) ?? new Map<string, Suggestion | undefined>();
  suggestions.set(world, known);
  const ofPackage = world.catalog.packages.get(name);
  const found = known.has(name)
    ? known.get(name)
    : ofPackage && suggestGraph(world, ofPackage, { ...AS_TODAY, keep: 'all' }, budgetOf(world));
  known.set(name, found);
  return found;
}

/** Whom a suggestion helps: each group of a package asks. */
const rescuedBy = onceFor(
  (suggestion: Suggestion): ReadonlySet<string> =>
    new Set(rescuedInstallations(suggestion).map(installationKey)),
);

/** A command whose edges give all of a group an upgrade path; undefined where it knows none. */
function graphHelp(world: World, group: readonly Stranded[]): string | undefined {
  const [first] = group;
  const suggestion = first && suggestionFor(world, first.package);
  if (!first || !suggestion) return undefined;
  const helped = rescuedBy(suggestion);
  const isHelped = ({ channel, installed }: Stranded): boolean =>
    helped.has(installationKey({ olm: 'v0', channel, installed }));
  if (!group.every(isHelped)) return undefined;
  return `write the edges that this prints: portolan suggest-graph --package ${shellWord(first.package)} --keep all --diff DIR`;
}

/** The fix if no change of the entries is known. */
const SKIP = 'skip them in the entry of the next version, and tell users how to upgrade';

/** The fix if OLM v0 finds no order of the entries, or cannot install the next one. */
function helpFor({ last }: UpgradePath): string | undefined {
  if (last.kind === 'circle') return undefined;
  switch (last.reason.code) {
    case 'no-order':
      return 'an entry below the head replaces one above it: remove that replaces';
    case 'successor-blocked':
      return 'publish what the next bundle requires first, or correct its requirements';
    default:
      return undefined;
  }
}

/** Why the upgrade paths of some installations end: the reason that all of them have, and where they end. */
function whyText(group: readonly Stranded[]): string {
  const [first] = group;
  if (!first) return '';
  const { last } = first.path;
  if (last.kind === 'circle') return `the upgrade path goes in a circle at ${shortName(first.path.end)}`;
  const ends = versionsOf(group.filter(({ path }) => path.hops > 0).map(({ path }) => path.end));
  const stop = ends.length > 0 ? `the upgrade path ends at ${listed(ends)} because ` : '';
  const whole =
    last.reason.code === 'no-order' ? ', so OLM v0 resolves nothing in namespaces that subscribe to it' : '';
  return stop + last.reason.text + whole;
}
