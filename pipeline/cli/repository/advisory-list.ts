import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../../catalog/finding.ts';
import { catalogUnits } from '../../change/unit.ts';
import { type AdvisoryRequest, type CatalogPlan, plansOf } from '../../check/advisories/advisories.ts';
import { entriesIn } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { runGit } from '../../git/process.ts';
import type { Repository } from '../../git/repository.ts';
import { advisoriesAt, type StoredAdvisory } from '../../policy/advisories.ts';
import { ADVISORIES } from '../../policy/layout.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText, linesText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { type AdvisedClone, dayOf, inClone, REPOSITORY_OPTIONS } from './advisory.ts';

export const command: Command = {
  words: 'advisory list',
  operands: '',
  options: { ...REPOSITORY_OPTIONS, json: { description: 'print the list as JSON' } },
  details: [
    'Lists the advisories of a commit, and for each catalog whether its advisory is applied, not applied, or lost: it was',
    'applied in an earlier commit, and a later one undid it. The exit code is 1 if any advisory is invalid or not applied everywhere.',
  ].join('\n'),
  examples: ['portolan advisory list', 'portolan advisory list --base origin/main --json'],
  run: (invocation, terminal) =>
    inClone({ repo: invocation.text('repo'), base: invocation.text('base') }, terminal, (clone) =>
      list(invocation, terminal, clone),
    ),
};

/** Lists advisories with their state in each catalog. @returns 1 if one is still to be applied or has a finding */
async function list(invocation: Invocation, terminal: Terminal, clone: AdvisedClone): Promise<ExitCode> {
  const { states, findings } = await advisoryStates(clone.repository, { ...clone, today: dayOf(terminal) });
  for (const finding of findings) terminal.err(findingText(finding));
  if (invocation.flag('json')) {
    const document = { apiVersion: 'portolan/v1alpha1', kind: 'AdvisoryList', advisories: states };
    await terminal.out(`${JSON.stringify(document, null, 2)}\n`);
  } else await terminal.out(linesText(states.flatMap(linesOf)));
  if (states.length + findings.length === 0)
    terminal.err('no advisories in the commit: new files in advisories/ count once they are committed\n');
  else
    warnOfUncommitted(
      clone,
      [...states.map(({ path }) => path), ...findings.map(({ location }) => location.file)],
      terminal,
    );
  const isToBeApplied = states.some(({ catalogs }) => catalogs.some(({ state }) => TO_BE_APPLIED.has(state)));
  return isToBeApplied || findings.length > 0 ? 1 : 0;
}

/** Names the advisories of the work tree that the commit does not have: the list is of the commit. */
function warnOfUncommitted({ directory }: AdvisedClone, listed: readonly string[], { err }: Terminal): void {
  const folder = join(directory, ADVISORIES);
  const files = existsSync(folder) ? entriesIn(folder).map(({ name }) => name) : [];
  const paths = files.filter((name) => name.endsWith('.yaml')).map((name) => `${ADVISORIES}/${name}`);
  const missing = paths.filter((path) => !listed.includes(path)).sort();
  for (const path of missing) err(linesText([`warning: ${path} is not in the commit: commit it to list it`]));
}

/** States of a catalog that make the list fail. */
const TO_BE_APPLIED: ReadonlySet<string> = new Set(['not applied', 'lost', 'refused']);

/** An advisory, and a line on how far each catalog follows it. */
function linesOf({ id, action, package: name, versions, catalogs }: AdvisoryState): string[] {
  const rows = catalogs.map(({ catalog, state, why, withoutUpgradePath }) => {
    const rest =
      withoutUpgradePath.length === 0 ? '' : `; without an upgrade path: ${withoutUpgradePath.join(', ')}`;
    return `  ${catalog}: ${state}${why === undefined ? '' : ` (${why})`}${rest}`;
  });
  return [`${id}: ${action} ${name} ${versions.join(', ')}`, ...rows];
}

// What has become of the advisories of a repository: applied, not yet, or lost again.

interface CatalogState {
  readonly catalog: string;
  /** `lost`: an earlier commit had it applied. `refused`: no edit can apply it. */
  readonly state: 'applied' | 'not applied' | 'lost' | 'refused' | 'not affected';
  readonly why: string | undefined;
  /** Bundles whose installations have no upgrade path once it is applied. */
  readonly withoutUpgradePath: readonly string[];
}

/** As JSON a public interface. */
interface AdvisoryState
  extends Pick<StoredAdvisory, 'id' | 'path' | 'package' | 'versions' | 'action' | 'reason' | 'message'> {
  readonly catalogs: readonly CatalogState[];
}

/**
 * The advisories of a commit, with the state of each catalog that has or had the package.
 *
 * @returns findings for advisories that cannot be read
 * @throws PipelineError as {@link plansOf}
 */
async function advisoryStates(
  repository: Repository,
  request: Omit<AdvisoryRequest, 'advisory'>,
): Promise<{ readonly states: readonly AdvisoryState[]; readonly findings: readonly Finding[] }> {
  const { advisories, findings } = await advisoriesAt(repository.objects, request.commit);
  const states: AdvisoryState[] = [];
  for (const advisory of advisories) {
    const { catalogs } = await plansOf(repository, { ...request, advisory });
    const open = catalogs.filter(({ plan, refused }) => plan.kind === 'edit' && refused === undefined);
    const lost =
      open.length === 0
        ? new Map<string, string>()
        : await lostIn(repository, { ...request, advisory }, open);
    const { id, path, package: name, versions, action, reason, message } = advisory;
    const all = catalogs.map((one) => stateOf(one, lost.get(one.catalog)));
    states.push({ id, path, package: name, versions, action, reason, message, catalogs: all });
  }
  return { states, findings };
}

/** The state of a catalog. @param lostAfter the newest earlier commit that had the advisory applied */
function stateOf({ catalog, plan, refused }: CatalogPlan, lostAfter: string | undefined): CatalogState {
  const common = { catalog, withoutUpgradePath: plan.withoutUpgradePath };
  if (plan.kind === 'applied' || plan.kind === 'not affected')
    return { ...common, state: plan.kind, why: undefined };
  if (refused !== undefined) return { ...common, state: 'refused', why: refused };
  if (lostAfter === undefined) return { ...common, state: 'not applied', why: undefined };
  return { ...common, state: 'lost', why: `${lostAfter.slice(0, 12)} had it applied` };
}

/** How many earlier commits of the catalogs are looked at: each is planned as the newest one is. */
const EARLIER = 20;

/**
 * The newest earlier commits that had an advisory applied, by catalog; those that never had it are not in the map.
 *
 * @param open the catalogs that do not have it now
 */
async function lostIn(
  repository: Repository,
  request: AdvisoryRequest,
  open: readonly CatalogPlan[],
): Promise<Map<string, string>> {
  const lost = new Map<string, string>();
  const units = await catalogUnits(repository.objects, request.commit, request.policy.layout);
  const wanted = new Set(open.map(({ catalog }) => catalog));
  // Of the package's folders, and of files that hold a whole catalog.
  const paths = [...units.values()]
    .filter(
      (unit) =>
        wanted.has(unit.catalog) && (unit.package ?? request.advisory.package) === request.advisory.package,
    )
    .map(({ path }) => path);
  for (const commit of await commitsBefore(repository, request.commit, paths)) {
    const { advisories } = await advisoriesAt(repository.objects, commit);
    // Before the advisory there was nothing to apply.
    if (!advisories.some(({ id }) => id === request.advisory.id)) break;
    const { catalogs } = await plansOf(repository, { ...request, commit });
    for (const { catalog, plan } of catalogs)
      if (plan.kind === 'applied' && wanted.has(catalog) && !lost.has(catalog)) lost.set(catalog, commit);
    if (lost.size === wanted.size) break;
  }
  return lost;
}

/** Commits that changed paths, the newest first, without the one itself; none where git does not know. */
async function commitsBefore(
  repository: Repository,
  commit: string,
  paths: readonly string[],
): Promise<string[]> {
  const { settings, scratch } = repository;
  const words = ['log', '--first-parent', '--format=%H', `--max-count=${EARLIER}`, commit, '--', ...paths];
  try {
    const { output } = await runGit({ settings, directory: scratch, bare: true }, words);
    return output
      .toString('utf8')
      .split('\n')
      .filter((id) => id !== '' && id !== commit);
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'git') return [];
    throw error;
  }
}
