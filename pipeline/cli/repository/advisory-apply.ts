import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type AdvisoryPlans, type CatalogPlan, plansOf } from '../../check/advisories.ts';
import { fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { runGit } from '../../git/process.ts';
import { treeWith } from '../../git/replace.ts';
import { entryAt } from '../../git/tree.ts';
import { advisoryLines, proofCounts, proofRows } from '../../report/advisory-text.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { linesText, plain } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import type { Command, Invocation } from '../command.ts';
import { type AdvisedClone, advisoryNamed, dayOf, inClone, REPOSITORY_OPTIONS } from './advisory.ts';

export const command: Command = {
  words: 'advisory apply',
  operands: 'ID',
  options: {
    ...REPOSITORY_OPTIONS,
    'dry-run': { description: 'print the diff, and write nothing' },
    json: { description: 'print the result as JSON' },
  },
  details: [
    'Finds the smallest edit of each catalog that does what advisories/ID.yaml asks, and writes it to the work tree. Portolan',
    'simulates OLM v0 and OLM v1 for every version that clusters may have, before and after. It refuses an edit that leaves',
    'an installation without an upgrade path, unless the advisory names the bundle in withoutUpgradePath. Applying an',
    'advisory again changes nothing. The exit code is 1 if a catalog cannot be edited.',
  ].join('\n'),
  examples: ['portolan advisory apply ETCD-2026-001 --dry-run', 'portolan advisory apply ETCD-2026-001'],
  run: (invocation, terminal) =>
    inClone({ repo: invocation.text('repo'), base: invocation.text('base') }, terminal, (clone) =>
      apply(invocation, terminal, clone),
    ),
};

async function apply(invocation: Invocation, terminal: Terminal, clone: AdvisedClone): Promise<ExitCode> {
  const id = invocation.operands[0] ?? '';
  const { advisory } = await advisoryNamed(id, clone, terminal);
  const plans = await plansOf(clone.repository, { ...clone, advisory, today: dayOf(terminal) });
  const isRefused = plans.catalogs.some(
    ({ refused, unaccepted }) => refused !== undefined || unaccepted.length > 0,
  );
  const files = new Map(plans.catalogs.flatMap((one) => [...one.files]));
  const isDry = invocation.flag('dry-run');
  if (!isRefused && !isDry) await writeEdits(clone, files);
  if (invocation.flag('json')) await terminal.out(`${JSON.stringify(planDocument(id, plans), null, 2)}\n`);
  else {
    await terminal.out(linesText(advisoryLines(plans.catalogs)));
    if (isDry) await terminal.out(await diffText(clone, files));
    else if (!isRefused) for (const path of files.keys()) await terminal.out(`${plain(path)}\n`);
  }
  for (const { what, why } of plans.unread) terminal.err(`warning: ${plain(what)}: ${plain(why)}\n`);
  const lacking = [...new Set(plans.catalogs.flatMap(({ unaccepted }) => unaccepted))];
  if (lacking.length > 0) {
    const line = `withoutUpgradePath: [${lacking.join(', ')}]`;
    terminal.err(
      `FAIL: nothing was changed: installations of ${lacking.join(', ')} would have no upgrade path\n`,
    );
    terminal.err(`  hint: if that is acceptable, add to the advisory: ${line}\n`);
  } else if (isRefused) terminal.err('FAIL: nothing was changed\n');
  return isRefused ? 1 : 0;
}

/** A plan as JSON. */
export function planDocument(id: string, { catalogs, unread }: AdvisoryPlans): object {
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'AdvisoryPlan',
    id,
    catalogs: catalogs.map((one) => ({
      catalog: one.catalog,
      state: stateOf(one),
      ...(one.refused === undefined ? {} : { refused: one.refused }),
      files: [...one.files.keys()],
      withoutUpgradePath: one.plan.without,
      counts: proofCounts(one),
      upgradePaths: proofRows(one),
    })),
    unread,
  };
}

function stateOf({ plan, refused, unaccepted }: CatalogPlan): string {
  return refused !== undefined || unaccepted.length > 0 ? 'refused' : plan.kind;
}

/**
 * Writes the edits to the work tree.
 *
 * @throws PipelineError `conflict` for a file that is not as the commit has it, `io`
 */
async function writeEdits(
  { directory, repository, commit }: AdvisedClone,
  files: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  for (const path of files.keys()) {
    const entry = await entryAt(repository.objects, commit, path);
    const old = entry && (await repository.objects.read(entry.id, MOST_BYTES)).bytes;
    const place = join(directory, path);
    const isSame = existsSync(place) && old?.equals(readFileSync(place));
    if (!isSame) {
      throw new PipelineError('conflict', `${path} is not as the commit has it`, {
        hint: 'commit or stash your changes first',
      });
    }
  }
  for (const [path, text] of files) {
    const place = join(directory, path);
    if (text !== undefined) writeFiles(dirname(place), new Map([[basename(place), text]]));
    else remove(place);
  }
}

/** Largest file that is edited, in bytes. */
const MOST_BYTES = 1024 * 1024 * 1024;

function remove(path: string): void {
  try {
    rmSync(path);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** The edits as git shows them. */
async function diffText(
  { repository, commit }: AdvisedClone,
  files: ReadonlyMap<string, string | undefined>,
): Promise<string> {
  const directory = repository.scratch;
  const before = await repository.objects.treeOf(commit);
  const after = await treeWith(repository, { directory, tree: before, texts: files });
  const options = ['--no-ext-diff', '--no-textconv', '--no-color', '--text'];
  const { output } = await runGit({ settings: repository.settings, directory, bare: true }, [
    'diff',
    ...options,
    before,
    after,
  ]);
  return output.toString('utf8');
}
