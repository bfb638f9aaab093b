/** What an advisory does to clusters, for terminals and for pull requests. */
import { shortName } from '../../catalog/fbc/edge.ts';
import { appendToGroup, groupedBy } from '../../catalog/go/grouped.ts';
import { compareText } from '../../catalog/go/text.ts';
import { parseJson } from '../../catalog/json.ts';
import type { ProvedInstallation } from '../../catalog/olm/advisory/proof.ts';
import { compareInstalled } from '../../catalog/olm/foresight/installation.ts';
import { type PathSummary, summarizePath } from '../../catalog/olm/foresight/upgrade-impact.ts';
import type { CatalogPlan } from '../check/advisories/advisories.ts';
import type { TemplatePlan } from '../check/advisories/advisory-templates.ts';
import type { StoredAdvisory } from '../policy/advisories.ts';
import { shortList } from '../text.ts';
import { withinBudget } from './budget.ts';
import { COMMENT_BYTES, codeSpan, escapedMarkdown } from './markdown.ts';

/** Installations for which the same changes. */
interface ProofRow {
  readonly olm: 'v0' | 'v1';
  /** Empty for extensions that select no channel. */
  readonly channels: readonly string[];
  /** Versions, the lowest first. */
  readonly installed: readonly string[];
  readonly before: string;
  readonly after: string;
  /** Whether they are left without an upgrade path. */
  readonly isWithout: boolean;
}

/** How many installations end at a head; one for each channel and version, and each OLM. */
interface ProofCount {
  readonly olm: 'v0' | 'v1';
  readonly installations: number;
  readonly before: number;
  readonly after: number;
  readonly without: number;
}

/** The installations whose upgrade path changes, those that are left without one first. */
export function proofRows(plan: CatalogPlan): ProofRow[] {
  return rowsOf(plan, (one) => [pathText(one, 'before'), pathText(one, 'after')]);
}

/**
 * The proof's rows for people. Of an installation that only ends at another version they say the ends, so that all with
 * the same ends are one row. An end is '' where there is no further step.
 */
function shortRows(plan: CatalogPlan): ProofRow[] {
  return rowsOf(plan, (one) => {
    const [before, after] = [summarizePath(one.before), summarizePath(one.after)];
    const isSameNext = before.kind === 'upgrade' && after.kind === 'upgrade' && before.next === after.next;
    return isSameNext && before.end !== after.end && before.end !== '' && after.end !== ''
      ? [endText(before), endText(after)]
      : [pathText(one, 'before'), pathText(one, 'after')];
  });
}

/**
 * The rows of a proof: installations with the same texts are one row.
 *
 * @param textsOf the texts before and after; equal ones are left out
 */
function rowsOf(
  { plan: { proof } }: CatalogPlan,
  textsOf: (one: ProvedInstallation) => readonly [string, string],
): ProofRow[] {
  const changed = (proof?.all ?? []).filter((one) => {
    const [before, after] = textsOf(one);
    return before !== after || one.missing !== undefined;
  });
  const groups = groupedBy(changed, (one) =>
    JSON.stringify([one.olm, one.channel, ...textsOf(one), one.missing !== undefined]),
  );
  const rows = new Map<string, ProofRow>();
  for (const all of groups.values()) {
    const [one] = all as [ProvedInstallation];
    const installed = all.map((each) => each.installed).sort(compareInstalled);
    const versions = installed.map(shortName);
    const [before, after] = textsOf(one);
    const row = {
      olm: one.olm,
      installed: versions,
      before,
      after,
      isWithout: one.missing !== undefined,
    };
    // Channels with the same row are listed in one; extensions that select none have one of their own.
    const key = JSON.stringify([row, one.channel === '']);
    const channels = one.channel === '' ? [] : [...(rows.get(key)?.channels ?? []), one.channel];
    rows.set(key, { ...row, channels: channels.sort(compareText) });
  }
  return [...rows.values()].sort(
    (a, b) =>
      Number(b.isWithout) - Number(a.isWithout) ||
      compareText(a.olm, b.olm) ||
      compareText(a.channels.join(), b.channels.join()),
  );
}

/** For each OLM: how many installations reach a head before and after the edit, and how many lose their upgrade path. */
export function proofCounts({ plan: { proof } }: CatalogPlan): ProofCount[] {
  return (['v0', 'v1'] as const).flatMap((olm) => {
    const all = (proof?.all ?? []).filter((one) => one.olm === olm);
    if (all.length === 0) return [];
    return {
      olm,
      installations: all.length,
      before: all.filter(({ before }) => before.arrives).length,
      after: all.filter(({ after }) => after.arrives).length,
      without: all.filter(({ missing }) => missing !== undefined).length,
    };
  });
}

/**
 * What an installation does before or after an advisory, in words: its next upgrade, where its path ends, and
 * why it goes no further.
 */
function pathText(one: ProvedInstallation, when: 'before' | 'after'): string {
  const { kind, next, end, arrives, why }: PathSummary = summarizePath(one[when]);
  if (kind === 'upgrade') {
    const stop = end === '' || end === next ? '' : `, ends at ${end}`;
    return `upgrades to ${next}${stop}${arrives ? '' : `: ${why}`}`;
  }
  if (arrives) return 'is the head';
  return `${kind === 'fails' ? 'fails' : 'stays'}: ${why}`;
}

/** Where an upgrade path ends, for rows in which nothing else changes. */
function endText({ end, arrives, why }: PathSummary): string {
  return `ends at ${end}${arrives ? '' : `: ${why}`}`;
}

/** One line for each group of catalogs that are alike, and one for each group of installations whose upgrade path changes. */
export function advisoryLines(catalogs: readonly CatalogPlan[]): string[] {
  const alike = new Map<string, string[]>();
  for (const one of catalogs) {
    // Lists of equal lines are different keys of a map; their JSON is the same.
    const text = JSON.stringify(linesOf(one));
    appendToGroup(alike, text, one.catalog);
  }
  return [...alike].flatMap(([text, names]) => {
    const [state = '', ...rows] = parseJson(text) as string[];
    return [`${shortList(names, 'catalogs')}: ${state}`, ...rows];
  });
}

/** What becomes of a catalog, then its installations. */
function linesOf(one: CatalogPlan): string[] {
  const rows = shortRows(one).map(({ olm, channels, installed, before, after, isWithout }) => {
    const where = channels.length === 0 ? 'no channel selected' : channels.join(', ');
    const mark = isWithout ? 'NO UPGRADE PATH ' : '';
    return `    ${mark}OLM ${olm}, ${where}: ${shortList(installed)}: ${before} -> ${after}`;
  });
  const graphs = newGraphsText(one.plan.channelsWithNewGraphs);
  const note = graphs === undefined ? [] : [`    ${graphs}`];
  return [stateText(one), ...(one.plan.kind === 'edit' ? [...note, ...rows] : [])];
}

/** One line for each template that Portolan edits with the catalogs that are rendered from it. */
export function templateLines(templates: readonly TemplatePlan[]): string[] {
  return templates
    .filter(({ text }) => text !== undefined)
    .map(({ path, catalogs }) => `${path}: to apply, the template of ${catalogs.join(', ')}`);
}

/** What made the edit of a catalog, where single entries were not enough. */
function newGraphsText(channels: readonly string[]): string | undefined {
  if (channels.length === 0) return undefined;
  const names = `${channels.length === 1 ? 'channel' : 'channels'} ${channels.join(', ')}`;
  return `new upgrade graph from suggest-graph for ${names}: no edit of single entries is enough`;
}

/** What an advisory means for a catalog, in short. */
function stateText({ plan: { kind, withoutUpgradePath }, files, refused }: CatalogPlan): string {
  if (refused !== undefined) return `cannot be applied: ${refused}`;
  const rest =
    withoutUpgradePath.length === 0
      ? ''
      : `; without an upgrade path: ${shortList(withoutUpgradePath, 'bundles')}`;
  if (kind === 'edit')
    return `to apply, ${files.size === 1 ? '1 file' : `${files.size} files`} to change${rest}`;
  return kind === 'applied' ? `applied${rest}` : 'not affected';
}

/** The text of a pull request that applies an advisory: what it does, and the proof by both resolvers. */
export function advisoryBody(
  advisory: StoredAdvisory,
  catalogs: readonly CatalogPlan[],
  templates: readonly TemplatePlan[],
): string {
  const { id, action, message, package: name, versions, reason } = advisory;
  const why = reason.id === undefined ? reason.kind : `${reason.kind}, ${reason.id}`;
  const first = `This applies the advisory ${codeSpan(id)}: ${action} ${escapedMarkdown(name)} ${versions.map(codeSpan).join(', ')} (${escapedMarkdown(why)}).`;
  const changed = catalogs.filter(({ plan }) => plan.kind === 'edit');
  const byHand = templates.flatMap(({ path, finding }) =>
    finding
      ? `- ${codeSpan(path)}: ${escapedMarkdown(finding.message)}. Fix: ${codeSpan(finding.hint ?? '')}`
      : [],
  );
  const graphs = changed.flatMap(({ catalog, plan }) => {
    const text = newGraphsText(plan.channelsWithNewGraphs.map(escapedMarkdown));
    return text === undefined ? [] : `- ${escapedMarkdown(catalog)}: ${text}`;
  });
  const review = 'Test the direct upgrades that no entry had before.';
  const paths = pathTable(changed);
  return withinBudget(
    [
      { text: `${first}\n\n> ${escapedMarkdown(message.replaceAll(/\s+/g, ' '))}` },
      ...(byHand.length === 0
        ? []
        : [{ text: `**Templates to change before you merge:**\n\n${byHand.join('\n')}` }]),
      ...(graphs.length === 0 ? [] : [{ text: `${graphs.join('\n')}\n\n${review}`, cuttable: true }]),
      { text: proofTable(changed).join('\n'), cuttable: true },
      ...(paths.length === 0 ? [] : [{ text: paths.join('\n'), cuttable: true }]),
    ],
    COMMENT_BYTES,
  );
}

/**
 * How many installations reach a head before and after the edit, as a table in Markdown with one row for each
 * catalog and OLM.
 */
function proofTable(catalogs: readonly CatalogPlan[]): string[] {
  const rows = catalogs.flatMap((one) =>
    proofCounts(one).map(
      ({ olm, installations, before, after, without }) =>
        `| ${escapedMarkdown(one.catalog)} | ${olm} | ${installations} | ${before} | ${after} | ${without} |`,
    ),
  );
  return [
    'Portolan simulated both resolvers for every channel and every version that clusters may have:',
    '',
    '| catalog | OLM | installations | end at a head before | after | without an upgrade path |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}

/** The upgrade paths that change; nothing where none does. */
function pathTable(catalogs: readonly CatalogPlan[]): string[] {
  const rows = catalogs.flatMap((one) =>
    shortRows(one).map(({ olm, channels, installed, before, after, isWithout }) => {
      const where = channels.length === 0 ? 'none selected' : escapedMarkdown(channels.join(', '));
      const mark = isWithout ? '**no upgrade path**: ' : '';
      return `| ${escapedMarkdown(one.catalog)} | ${olm} | ${where} | ${escapedMarkdown(shortList(installed))} | ${escapedMarkdown(before)} | ${mark}${escapedMarkdown(after)} |`;
    }),
  );
  if (rows.length === 0) return [];
  return [
    'Upgrade paths that change:',
    '',
    '| catalog | OLM | channels | installed | before | after |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}
