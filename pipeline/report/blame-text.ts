/** Since when installations are stuck, as lines. */
import { shellWord } from '../../catalog/names.ts';
import type { Blamed, BlameReport, Cause } from '../check/blame/blame.ts';
import { amountText, fileLineText, linesText, shortList } from '../text.ts';

/** The result of a blame as text. @param all whether installations with an upgrade path have a line each, too */
export function blameText(
  { blamed, neverPublished, notSearched }: BlameReport,
  { all }: { readonly all: boolean },
): string {
  const stuck = blamed.filter(({ state }) => state === 'stuck');
  const notStuck = blamed.filter(({ state }) => state === 'upgrades');
  const lines = [
    ...stuck.flatMap(stuckLines),
    ...(all ? notStuck.flatMap(notStuckLines) : []),
    ...(!all && notStuck.length > 0 ? [`not stuck: ${amountText(notStuck.length, 'installation')}`] : []),
    ...neverPublished.map((name) => `${name}: no catalog of this branch has or had this version`),
    ...notSearched.map((name) => `${name}: not searched, because the time limit was reached (--timeout)`),
  ];
  return linesText(lines);
}

/** A stuck installation as lines of text. */
function stuckLines(one: Blamed): string[] {
  const { cause, why = '', fix } = one;
  const place = fix?.location ? ` (${fileLineText(fix.location)})` : '';
  return [
    `${whoText(one)}: ${cause ? causeText(cause) : 'stuck'}`,
    ...(cause?.subject === undefined ? [] : [`  ${cause.subject}`]),
    `  ${why}`,
    fix
      ? `  smallest fix: ${fix.text}${place}`
      : `  no edit of one channel helps: portolan suggest-graph --package ${shellWord(one.package)} --keep all --diff DIR`,
    ...requirementLines(one),
  ];
}

function notStuckLines(one: Blamed): string[] {
  return [`${whoText(one)}: not stuck, its upgrade path ends at a channel head`, ...requirementLines(one)];
}

/**
 * A search for the cause looks at the upgrade graph alone: where bundles require other packages, the user
 * must ask `next`.
 */
function requirementLines({ requiresOthers, package: name }: Blamed): string[] {
  return requiresOthers
    ? [`  not searched: whether what it requires is there (portolan next --package ${shellWord(name)} DIR…)`]
    : [];
}

/** `etcd 0.9.2, channel alpha, OLM v0, v4.12, v4.13`. */
function whoText({ package: name, installed, channels, olm, catalogs }: Blamed): string {
  const channel = channels.length === 0 ? '' : `, channel ${channels.join(', ')}`;
  return `${name} ${installed}${channel}, OLM ${olm}, ${shortList(catalogs, 'catalogs')}`;
}

/** `stuck since 2026-06-19, commit 2328ac1e30ba, pull request #10090`. */
function causeText({ kind, commit, date, pullRequest, why }: Cause): string {
  const request = pullRequest === undefined ? '' : `, pull request #${pullRequest}`;
  const at = commit === undefined ? '' : ` ${date}, commit ${commit.slice(0, 12)}${request}`;
  if (kind === 'merge') return `stuck since${at}`;
  if (kind === 'published') return `stuck since it was published:${at}`;
  return at === '' ? `stuck, since when is not known: ${why}` : `stuck at least since${at}: ${why}`;
}
