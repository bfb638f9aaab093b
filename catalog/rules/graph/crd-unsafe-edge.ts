import { isRefusedByV0, safeChange } from '../../crd/safety.ts';
import { installedOf, shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import { hasOlmV1 } from '../../fbc/platform.ts';
import { appendToGroup, groupedBy } from '../../go/grouped.ts';
import { publishedInstallations } from '../../olm/foresight/installation.ts';
import {
  type Change,
  type CrdsOf,
  checkedPackages,
  formerWorld,
  upgradePathOf,
  type World,
} from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import { entryIn, placeOfEntry, placeOfHead } from '../finding-location.ts';
import { installationsBefore, newSteps, stepsFrom } from '../new-steps.ts';
import { bundleOf, type Origin, originsIn } from '../new-upgrades.ts';
import { quoted, type Report, type Rule, reportAs } from '../rule.ts';
import {
  type Cause,
  type CauseChange,
  type ChannelChoice,
  type Counts,
  causesOf,
  choicesFor,
  isKnown,
  isSameChoice,
  pastUpgrades,
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
  checkWorld(world, report) {
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
      // Most catalogs hold no CRDs: what was before is looked at only where something can be compared.
      if (!edges.some(({ from, to }) => crds(from) && crds(to))) continue;
      const reaches = reachedFrom(change, name, edges);
      const isRefused: IsRefused = (changes, refused) =>
        refused.some((edge) => refuses(after, changes, { choices: edge.choices.filter(reaches(edge)) }));
      const earlier = [...earlierEdges(change, name), ...pastUpgrades(before, name, find)];
      for (const cause of causesOf(edges, { crds }, { counts: newsIn(change, name), earlier })) {
        // An upgrade that no cluster can have made its way to is only worth a note.
        const isMade = cause.edges.some(
          (edge) =>
            before.isPublished({ package: name, bundle: edge.from.name }) || edge.choices.some(reaches(edge)),
        );
        reportCause(ofPackage, cause, { report: isMade ? report : reportAs('info', report), isRefused });
      }
    }
  },
};

/** The versions that clusters may have before the change, and after it. */
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

/** OLM v1 refuses every unsafe change, OLM v0 only some. */
function refuses(
  { platform }: World,
  changes: readonly CauseChange[],
  { choices }: Pick<UsedEdge, 'choices'>,
): boolean {
  const isRefused = changes.some(isRefusedByV0);
  const mayHaveOlmV1 = platform === undefined || hasOlmV1(platform);
  return choices.some(({ olm }) => (olm === 'v1' ? mayHaveOlmV1 : isRefused));
}

/** Tells what a change makes new: unsafe upgrades that it adds, and what it changes in the CRDs along existing upgrades. */
function newsIn(change: Change, name: string): Counts {
  const before = formerWorld(change, name);
  const was = before.catalog.packages.get(name);
  const added: Counts = was ? addedTo(was, before, change) : ({ choices }) => choices;
  if (change.before.catalog.packages.has(name)) return added;
  // A catalog that is rendered from the repository's bundles adds no upgrade to those of the bundles.
  return (edge, ...rest) =>
    change.existed(edge.from) && change.existed(edge.to) ? [] : added(edge, ...rest);
}

/** Tells for which choices of OLM and channel an upgrade is new, compared with the package before. */
function addedTo(was: Package, before: World, change: Change): Counts {
  const { name } = was;
  const find = bundleOf(change, name);
  const crds: CrdsOf = (bundle) => before.crds(bundle) ?? change.after.crds(bundle);
  const formerBundle = (one: string): Bundle | undefined => was.bundles.get(one) ?? find(one);
  const origins = originsIn(before, name, formerBundle);
  const namesByChannel = new Map([...groupedBy(origins, ({ channel }) => channel)].map(namesOf));
  const edges = usedEdges(before, was, origins);
  const earlier = pastUpgrades(before, name, formerBundle);
  const { unsafe, reported } = unsafeUpgrades(causesOf(edges, { crds }, { earlier }));
  const isBlind = ({ from, to }: UsedEdge): boolean => [from, to].some((one) => !isKnown(one, { crds }));
  const bySource = groupedBy(edges, ({ from }) => from.name);
  const refusedFrom = groupedBy(unsafe, ({ from }) => from.name);
  const formerPaths = formerPathsTo(before, change, name);
  /** Whether somebody comes to the upgrade who did not, and met no such change. */
  const isNewToOthers = (edge: UsedEdge, choice: ChannelChoice, key: string): boolean =>
    formerPaths(edge, choice).some((path) =>
      path.every((from, i) => !reported.has(from, path[i + 1] ?? '', key)),
    );
  return (edge, crd, { text }) => {
    const key = changeKey(crd, text);
    // The same unsafe change on the way to another target does no further harm.
    const alike = (bySource.get(edge.from.name) ?? []).filter(
      (old) =>
        reported.has(old.from.name, old.to.name, key) || (old.to.name === edge.to.name && isBlind(old)),
    );
    // Whom OLM v1 refused the upgrade for one change, it refuses no more for another.
    const refused = (refusedFrom.get(edge.from.name) ?? []).flatMap(({ choices }) =>
      choices.filter(({ olm }) => olm === 'v1'),
    );
    const known = [...alike.flatMap(({ choices }) => choices), ...refused];
    return edge.choices.filter((choice) => {
      // Nobody is in a channel that is new, or gets the bundle there: what others had is known.
      const isThere =
        choice.channel === '' || namesByChannel.get(choice.channel)?.has(edge.from.name) === true;
      const isOld = known.some((old) => (isThere ? isSameChoice(old, choice) : old.olm === choice.olm));
      return !isOld || isNewToOthers(edge, choice, key);
    });
  };
}

/** The upgrades that some causes make unsafe, and what each of them changes. */
function unsafeUpgrades(causes: Iterable<Cause>): {
  readonly unsafe: ReadonlySet<UsedEdge>;
  readonly reported: ReportedChanges;
} {
  const unsafe = new Set<UsedEdge>();
  const reported = new ReportedChanges();
  for (const { crd, changes, edges } of causes)
    for (const edge of edges) {
      unsafe.add(edge);
      for (const { text } of changes) reported.add(edge.from.name, edge.to.name, changeKey(crd, text));
    }
  return { unsafe, reported };
}

function namesOf([channel, origins]: readonly [string, readonly Origin[]]): [string, Set<string>] {
  return [channel, new Set(origins.map(({ bundle }) => bundle.name))];
}

function changeKey(crd: string, text: string): string {
  return JSON.stringify([crd, text]);
}

/** Unsafe changes of upgrades, by the names of their ends: they are asked for as often as there are upgrades and changes. */
class ReportedChanges {
  readonly #byEnds = new Map<string, Map<string, Set<string>>>();

  add(from: string, to: string, key: string): void {
    const ofOrigin = this.#byEnds.get(from) ?? new Map<string, Set<string>>();
    this.#byEnds.set(from, ofOrigin.set(to, (ofOrigin.get(to) ?? new Set()).add(key)));
  }

  has(from: string, to: string, key: string): boolean {
    return this.#byEnds.get(from)?.get(to)?.has(key) === true;
  }
}

/**
 * Finds, for an upgrade that is new to clusters which reach its start by other new upgrades, the paths that those clusters
 * took before: lists of bundle names.
 */
function formerPathsTo(
  before: World,
  change: Change,
  name: string,
): (edge: UsedEdge, choice: ChannelChoice) => readonly (readonly string[])[] {
  const keyOf = ({ olm, channel }: ChannelChoice, from: string, to: string): string =>
    JSON.stringify([olm, channel, from, to]);
  const steps = newSteps({ before, after: change.after }, installationsBefore(change, name)).filter(
    ({ newTo, installed }) => newTo.name !== installed.name,
  );
  const byEdge = groupedBy(steps, (step) => keyOf(step, step.installed.name, step.to.name));
  return ({ from, to }, choice) =>
    (byEdge.get(keyOf(choice, from.name, to.name)) ?? []).flatMap(({ newTo, ...step }) => {
      const start = { ...step, installed: newTo };
      const following = { ...start, onlyChannel: start.channel !== '' };
      // A cluster that got an error before is not worse off.
      if (upgradePathOf(before.foresight, following, newTo).next.kind === 'fails') return [];
      return [[newTo.name, ...[...stepsFrom(before, start)].map((bundle) => bundle.name)]];
    });
}

/**
 * Tells which upgrades clusters already made before the change: those on the path of something published that resolved.
 */
function reachedFrom(
  { before, after }: Change,
  name: string,
  edges: readonly UsedEdge[],
): (edge: UsedEdge) => (choice: ChannelChoice) => boolean {
  let found: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return ({ from }) =>
    (choice) => {
      // Most changes of a catalog change no CRD.
      found ??= reachedByChoice({ before, after }, name, edges);
      return found.get(choiceKey(choice))?.has(from.name) === true;
    };
}

function choiceKey({ olm, channel }: ChannelChoice): string {
  return `${olm} ${channel}`;
}

/** The bundles on the upgrade paths of what was published and resolved, by OLM version and channel. */
function reachedByChoice(
  { before, after }: Pick<Change, 'before' | 'after'>,
  name: string,
  edges: readonly UsedEdge[],
): Map<string, Set<string>> {
  const reached = new Map<string, Set<string>>();
  const installations = [before, ...before.preceding].flatMap((one) => publishedInstallations(one, name));
  const former = formerWorld({ before }, name);
  for (const { channel, installed } of installations) {
    for (const choice of choicesFor(after, channel)) {
      const following = { package: name, ...choice, onlyChannel: choice.channel !== '' };
      if (upgradePathOf(former.foresight, following, installed).next.kind === 'fails') continue;
      const { next } = upgradePathOf(after.foresight, following, installed);
      const names = reached.get(choiceKey(choice)) ?? new Set();
      names.add(installed.name).add(upgradeOf(next)?.to.name ?? installed.name);
      reached.set(choiceKey(choice), names);
    }
  }
  const onward = new Map<string, Map<string, string[]>>();
  for (const { from, to, choices } of edges) {
    for (const choice of choices) {
      const steps = onward.get(choiceKey(choice)) ?? new Map<string, string[]>();
      appendToGroup(steps, from.name, to.name);
      onward.set(choiceKey(choice), steps);
    }
  }
  for (const [key, names] of reached) {
    // A set's iteration includes members that are added meanwhile.
    for (const one of names) for (const to of onward.get(key)?.get(one) ?? []) names.add(to);
  }
  return reached;
}

/** Changes and upgrades that a message names. */
const SHOWN = 3;

function shownTexts(texts: readonly string[]): string {
  const more = texts.length > SHOWN ? `; and ${texts.length - SHOWN} more` : '';
  return `${texts.slice(0, SHOWN).join('; ')}${more}`;
}

/** Tells whether clusters are refused an upgrade for the changes. */
type IsRefused = (changes: readonly CauseChange[], edges: readonly UsedEdge[]) => boolean;

/** Reports unsafe changes of a CRD with the upgrades that make them, at the entry of the first. */
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
  const message = `the CRD ${quoted(crd)} of package ${quoted(name)} changes unsafely ${onEdges}: ${shownTexts(changes.map(textOf))}`;
  // What a policy allows in one channel it does not allow in the others.
  const channels = new Set(
    edges.flatMap(({ channel, choices }) => [
      channel.name,
      ...choices.flatMap((choice) => choice.channel || []),
    ]),
  );
  const entry = entryIn(first.channel, first.to.name);
  const place = entry ? placeOfEntry(first.channel, entry.index) : placeOfHead(first.channel);
  report(message, place, {
    package: name,
    ...(channels.size === 1 ? { channel: first.channel.name } : {}),
    subject: JSON.stringify([crd, edges.map(({ from, to }) => [from.name, to.name])]),
    installed: [...new Set(edges.map(({ from }) => shortName(installedOf(from))))],
    hint: shownTexts([...new Set(changes.map(safeChange))]),
    ...(isRefused(changes, edges) ? {} : { severity: 'warning' }),
  });
}

function textOf({ text, why }: CauseChange): string {
  return why === undefined ? text : `${text} (${why})`;
}
