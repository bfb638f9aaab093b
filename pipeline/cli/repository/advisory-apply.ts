import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type AdvisoryPlans, type CatalogPlan, plansOf } from '../../check/advisories/advisories.ts';
import { type TemplatePlan, templatePlans } from '../../check/advisories/advisory-templates.ts';
import { PipelineError } from '../../error.ts';
import { readRegular } from '../../file-pieces.ts';
import { runGit } from '../../git/process.ts';
import { treeWith } from '../../git/replace.ts';
import { entryAt } from '../../git/tree.ts';
import { proposeAdvisory } from '../../github/proposals/advisory.ts';
import { advisoryPath, type StoredAdvisory } from '../../policy/advisories.ts';
import { advisoryLines, proofCounts, proofRows, templateLines } from '../../report/advisory-text.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText, linesText, plainText } from '../../text.ts';
import { removeFile, writeFiles } from '../../write.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { namesGitHub, onGitHub } from '../on-github.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, showEffect } from '../show-effect.ts';
import { type AdvisedClone, advisoryNamed, checkId, dayOf, inClone } from './advisory.ts';

export const command: Command = {
  words: 'advisory apply',
  operands: 'ID',
  options: {
    repo: {
      value: 'DIR|OWNER/NAME',
      description:
        'path of the repository (default: current directory), or a GitHub repository, to open a pull request',
    },
    base: {
      value: 'REF',
      description: 'commit that has the catalogs (default: HEAD, or the default branch on GitHub)',
    },
    'dry-run': { description: 'print the diff, and write nothing' },
    json: { description: 'print the result as JSON' },
    ...ACCEPT_OPTION,
  },
  details: [
    'Finds the smallest edit of each catalog that does what advisories/ID.yaml asks, and writes it to the work tree. Portolan',
    'simulates OLM v0 and OLM v1 for every version that clusters may have, before and after. It refuses an edit that leaves',
    'an installation without an upgrade path, unless the advisory names the bundle in withoutUpgradePath. Applying an',
    'advisory again changes nothing.',
    '',
    EFFECT_DETAILS,
    '',
    'If a catalog is rendered from a basic template of the repository, Portolan edits the template, too. Any other template',
    'is reported: change it as well, or the next rendering undoes the edit. The exit code is 1 if a catalog cannot be edited,',
    'or if you must change a template.',
    '',
    'With --repo OWNER/NAME, Portolan opens a pull request with the edits and the proof, or updates the one that is open. If',
    'advisories/ID.yaml is in the current directory, it becomes part of the pull request; else the branch must have it.',
    'GITHUB_TOKEN (or GH_TOKEN) needs the permissions contents: write and pull-requests: write.',
  ].join('\n'),
  examples: [
    'portolan advisory apply ETCD-2026-001 --dry-run',
    'portolan advisory apply ETCD-2026-001',
    'portolan advisory apply ETCD-2026-001 --repo my-org/catalogs',
  ],
  run: (invocation, terminal) => {
    const repo = invocation.text('repo');
    if (repo !== undefined && namesGitHub(repo, terminal)) return applyOnGitHub(invocation, terminal, repo);
    return inClone({ repo, base: invocation.text('base') }, terminal, (clone) =>
      apply(invocation, terminal, clone),
    );
  },
};

/** Applies an advisory on GitHub: opens or updates its pull request. */
async function applyOnGitHub(invocation: Invocation, terminal: Terminal, place: string): Promise<ExitCode> {
  const id = invocation.operands[0] ?? '';
  checkId(id);
  if (invocation.flag('dry-run')) throw usageError(command, '--dry-run needs a directory');
  // The current directory need not be a clone of the repository: its advisory goes along where it has one.
  const local = join(terminal.directory, advisoryPath(id));
  const file = existsSync(local) ? readRegular(local) : undefined;
  return onGitHub(place, invocation, terminal, async (opened, base) => {
    const { plans, templates, proposed } = await proposeAdvisory(opened, {
      id,
      file,
      base,
      today: dayOf(terminal),
    });
    const { kind, number, url, branch } = proposed;
    if (invocation.flag('json')) {
      const document = { ...planDocument(id, plans, templates), pullRequest: proposed };
      await terminal.out(`${JSON.stringify(document, null, 2)}\n`);
    } else {
      await terminal.out(linesText([...advisoryLines(plans.catalogs), ...templateLines(templates)]));
      if (number !== undefined)
        await terminal.out(`${kind} pull request ${number}\n  ${plainText(url ?? '')}\n`);
    }
    if (kind === 'taken') terminal.err(`the branch ${branch} has commits by others and was not changed\n`);
    const isIncomplete = hasFindings(templates, terminal);
    return kind === 'taken' || isRefused(plans, terminal) || isIncomplete ? 1 : 0;
  });
}

/** Applies an advisory in a clone: prints the plan, and writes the edits to the work tree. */
async function apply(invocation: Invocation, terminal: Terminal, clone: AdvisedClone): Promise<ExitCode> {
  const id = invocation.operands[0] ?? '';
  const { advisory } = await advisoryNamed(id, clone, terminal);
  const asked = { ...clone, advisory, today: dayOf(terminal) };
  const plans = await plansOf(clone.repository, asked);
  warnOfNothing(plans, advisory, terminal);
  const refused = isRefused(plans, terminal);
  const templates = refused ? [] : await templatePlans(clone.repository, asked, plans.catalogs);
  const isIncomplete = hasFindings(templates, terminal);
  const edits = templates.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text] as const]));
  const files = new Map([...plans.catalogs.flatMap((one) => [...one.files]), ...edits]);
  const isDry = invocation.flag('dry-run');
  const isJson = invocation.flag('json');
  if (isJson) await terminal.out(`${JSON.stringify(planDocument(id, plans, templates), null, 2)}\n`);
  else await terminal.out(linesText([...advisoryLines(plans.catalogs), ...templateLines(templates)]));
  const edit = { root: clone.directory, files };
  // A dry run shows the effect, too, and is refused as the run would be.
  if (refused || (files.size > 0 && !(await showEffect(edit, { invocation, terminal })))) return 1;
  if (!isDry) await writeEdits(clone, files);
  if (isDry && !isJson) await terminal.out(await diffText(clone, files));
  else if (!isJson) for (const path of files.keys()) await terminal.out(`${plainText(path)}\n`);
  return isIncomplete ? 1 : 0;
}

/** Whether a template must be changed by hand; says which. */
function hasFindings(templates: readonly TemplatePlan[], { err }: Terminal): boolean {
  for (const { finding } of templates) if (finding) err(findingText(finding));
  return templates.some(({ finding }) => finding);
}

/** Whether some catalog cannot be edited; says why, and what could not be looked at. */
function isRefused({ catalogs, unread }: AdvisoryPlans, { err }: Terminal): boolean {
  for (const { what, why } of unread) err(`warning: ${plainText(what)}: ${plainText(why)}\n`);
  const lacking = [...new Set(catalogs.flatMap(({ unaccepted }) => unaccepted))];
  if (lacking.length > 0) {
    const names = plainText(lacking.join(', '));
    err(`FAIL: nothing was changed: installations of ${names} would have no upgrade path\n`);
    err(`  hint: if that is acceptable, add to the advisory: withoutUpgradePath: [${names}]\n`);
    return true;
  }
  const refused = catalogs.some((one) => one.refused !== undefined);
  if (refused) err('FAIL: nothing was changed\n');
  return refused;
}

/** Says that an advisory concerns nothing, as one with a misspelt name. */
export function warnOfNothing(
  { catalogs }: AdvisoryPlans,
  { catalogs: patterns, package: name }: StoredAdvisory,
  { err }: Terminal,
): void {
  const named = patterns.includes('*') ? 'catalog' : `catalog ${patterns.join(', ')}`;
  // An advisory may have any number of patterns; one line need not have them all.
  if (catalogs.length === 0)
    err(linesText([`warning: no ${named.slice(0, 200)} has the package ${JSON.stringify(name)}`]));
  else if (catalogs.every(({ plan }) => plan.kind === 'not affected'))
    err('warning: no catalog has, or had, these versions\n');
}

/** An advisory's plan as `--json` prints it. */
export function planDocument(
  id: string,
  { catalogs, unread }: AdvisoryPlans,
  templates: readonly TemplatePlan[],
): object {
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'AdvisoryPlan',
    id,
    catalogs: catalogs.map((one) => ({
      catalog: one.catalog,
      state: stateOf(one),
      ...(one.refused === undefined ? {} : { refused: one.refused }),
      files: [...one.files.keys()],
      withoutUpgradePath: one.plan.withoutUpgradePath,
      newGraphs: one.plan.channelsWithNewGraphs,
      counts: proofCounts(one),
      upgradePaths: proofRows(one),
    })),
    templates: templates.map(({ path, schema, catalogs: of, finding }) => ({
      path,
      schema,
      catalogs: of,
      ...(finding ? { refused: finding.message, hint: finding.hint } : {}),
    })),
    unread,
  };
}

/** What becomes of a catalog: the kind of its plan, or `refused` where that cannot be carried out. */
function stateOf({ plan, refused, unaccepted }: CatalogPlan): string {
  return refused !== undefined || unaccepted.length > 0 ? 'refused' : plan.kind;
}

/**
 * Writes the edits to the work tree: texts of files that the commit has, or undefined for a file to remove. No edit makes a
 * new file. A file that has its new text already stays.
 *
 * @throws PipelineError `conflict`, before anything is written, for a file that is neither as the commit has it nor as the
 *   edit leaves it; `io`
 */
async function writeEdits(
  { directory, repository, commit }: AdvisedClone,
  files: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  // All files are looked at before the first one is written.
  for (const [path, text] of files) {
    const entry = await entryAt(repository.objects, commit, path);
    const old = entry && (await repository.objects.read(entry.id, MOST_BYTES)).bytes;
    const place = join(directory, path);
    const now = existsSync(place) ? readRegular(place) : undefined;
    // The work tree has what the edit leaves already, as after an earlier run.
    const isDone = text === undefined ? now === undefined : now?.equals(Buffer.from(text)) === true;
    const isAsCommitted = now !== undefined && old?.equals(now) === true;
    if (!isDone && !isAsCommitted) {
      throw new PipelineError('conflict', `${path} is not as the commit has it`, {
        hint: 'commit or stash your changes first',
      });
    }
  }
  for (const [path, text] of files) {
    const place = join(directory, path);
    if (text !== undefined) writeFiles(dirname(place), new Map([[basename(place), text]]));
    else if (existsSync(place)) removeFile(place);
  }
}

/** Largest file that is edited, in bytes. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** The edits as git shows them. */
async function diffText(
  { repository, commit }: AdvisedClone,
  files: ReadonlyMap<string, string | undefined>,
): Promise<string> {
  const directory = repository.scratch;
  const before = await repository.objects.treeOf(commit);
  const after = await treeWith(repository, { directory, tree: before, texts: files });
  // Whatever the user's configuration of git says, the output is plain, and no program of it runs.
  const options = ['--no-ext-diff', '--no-textconv', '--no-color', '--text'];
  const { output } = await runGit({ settings: repository.settings, directory, bare: true }, [
    'diff',
    ...options,
    before,
    after,
  ]);
  return output.toString('utf8');
}
