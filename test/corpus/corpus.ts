// node scripts/build.mjs && node scripts/run.mjs test/corpus/corpus.ts LIST [CLONES] [NAME]
//
// Runs setup, rehearse and check on the repositories of a list, compares them with what the list knows, and prints a
// table. CLONES is where clones are kept; what is missing is fetched from GitHub. NAME selects entries. It uses the
// network and takes minutes, so CI does not run it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isObject } from '../../catalog/go/shape.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { listFiles } from '../../pipeline/git/tree.ts';
import { compileLayout } from '../../pipeline/policy/layout.ts';
import { POLICY_PATH, readPolicy } from '../../pipeline/policy/read-policy.ts';
import { catalogNamer } from '../../pipeline/policy/setup/catalog-names.ts';
import { freshClone } from './clones.ts';
import { type CorpusEntry, readEntries } from './entry.ts';
import { type Run, runPortolan } from './measured.ts';

const MERGES = 100;

interface Merge {
  readonly commit: string;
  readonly date: string;
  readonly subject: string;
  readonly state: string;
  readonly headline: string;
  readonly errors: readonly { readonly rule: string; readonly message: string }[];
}

interface Row {
  readonly entry: CorpusEntry;
  readonly layout: string;
  readonly isRight: boolean | undefined;
  readonly setup: Run;
  readonly rehearse: Run;
  readonly check: Run | undefined;
  readonly merges: readonly Merge[];
  readonly unchecked: number;
}

const [list = '', clones = 'node_modules/.cache/portolan/corpus', wanted = ''] = process.argv.slice(2);
const rows: Row[] = [];
for (const entry of readEntries(list).filter(({ name }) => name.includes(wanted))) {
  try {
    const row = await rowOf(entry);
    rows.push(row);
    console.log(rowText(row));
    for (const line of details(row)) console.log(line);
  } catch (error) {
    console.log(`| ${entry.name} | not run: ${error instanceof Error ? error.message : String(error)} |`);
  }
}
console.log(`\n${summary(rows).join('\n')}`);

async function rowOf(entry: CorpusEntry): Promise<Row> {
  const clone = freshClone(entry, clones);
  const pages = mkdtempSync(join(tmpdir(), 'portolan-pages-'));
  try {
    const setup = runPortolan(['setup', '--repo', clone, '--admin', 'alice']);
    const page = join(pages, 'page.html');
    const rehearse = runPortolan([
      ...['rehearse', '--repo', clone, '--last', String(MERGES), '--admin', 'alice'],
      ...['--format', 'json', '--page', page],
    ]);
    const { merges, unchecked } = rehearsalOf(rehearse);
    const [latest] = merges;
    const check =
      latest &&
      runPortolan(['check', '--repo', clone, '--base', `${latest.commit}^1`, '--head', latest.commit]);
    const { layout, isRight } = await layoutOf(entry, clone, setup);
    return { entry, layout, isRight, setup, rehearse, check, merges, unchecked };
  } finally {
    rmSync(dirname(clone), { recursive: true });
    rmSync(pages, { recursive: true });
  }
}

function rehearsalOf({ output, code }: Run): { merges: readonly Merge[]; unchecked: number } {
  if (code !== 0) return { merges: [], unchecked: 0 };
  const value: unknown = JSON.parse(output);
  if (!isObject(value) || !Array.isArray(value['merges'])) throw new Error('rehearse printed no merges');
  const { unchecked } = value;
  return { merges: value['merges'], unchecked: Array.isArray(unchecked) ? unchecked.length : 0 };
}

/** What setup wrote, and whether it is what the list says; undefined where the list does not say where catalogs are. */
async function layoutOf(
  { catalogs }: CorpusEntry,
  clone: string,
  { code, errors, output }: Run,
): Promise<Pick<Row, 'layout' | 'isRight'>> {
  if (code !== 0) return { layout: `refused: ${`${errors}${output}`.trim().split('\n')[0]}`, isRight: true };
  const { policy } = readPolicy(readFileSync(join(clone, POLICY_PATH)));
  const patterns = (policy?.layout.patterns ?? []).filter(({ kind }) => kind === 'catalog');
  const repository = await openRepository(clone);
  const [commit = ''] = await repository.resolve(['HEAD']);
  const files = await listFiles(repository.objects, await repository.objects.treeOf(commit));
  await repository.close();
  const compiled = compileLayout(patterns);
  const matched = files.map(({ path }) => path).filter((path) => compiled.match(path));
  const layout = matched.length === 0 ? 'no catalog' : patterns.map(({ pattern }) => pattern).join(', ');
  if (!catalogs) return { layout, isRight: undefined };
  const rootOf = (path: string): string | undefined =>
    catalogs.find((root) => root === '.' || path === root || path.startsWith(`${root}/`));
  const written = patterns.map(({ pattern, name }) =>
    name === undefined ? pattern : { path: pattern, name },
  );
  const nameOf = catalogNamer(written);
  const names = catalogs.map((root) => new Set(matched.filter((path) => rootOf(path) === root).map(nameOf)));
  const isRight =
    matched.every((path) => rootOf(path) !== undefined) &&
    names.every(({ size }) => size === 1) &&
    new Set(names.flatMap((one) => [...one])).size === catalogs.length;
  return { layout, isRight };
}

function stopped({ merges }: Row): readonly Merge[] {
  return merges.filter(({ state }) => state === 'failure');
}

function isAmong(commits: readonly string[], { commit }: Merge): boolean {
  return commits.some((one) => one.length >= 7 && commit.startsWith(one));
}

function rowText(row: Row): string {
  const { entry, layout, isRight, setup, rehearse, check, merges, unchecked } = row;
  const verdict = isRight === undefined ? 'to judge' : isRight ? 'right' : 'WRONG';
  const cost = ({ seconds, megabytes }: Run): string => `${seconds.toFixed(1)} s ${megabytes} MB`;
  const cells = [
    `${entry.name}${entry.half === 'blind' ? ' (blind)' : ''}`,
    `${layout.slice(0, 200)}`,
    verdict,
    `${merges.length} checked, ${stopped(row).length} stopped, ${unchecked} not checked`,
    missed(row).length > 0 ? `missed ${missed(row).join(' ')}` : '',
    cost(setup),
    `${cost(rehearse)}${rehearse.code === 0 ? '' : ` exit ${rehearse.code}: ${rehearse.errors.trim().split('\n')[0]}`}`,
    check ? `exit ${check.code}` : '',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The stopped merges, each with what the list says of it. */
function details(row: Row): string[] {
  return stopped(row).map((merge) => {
    const { harmful, harmless } = row.entry;
    const truth = isAmong(harmful, merge) ? 'true' : isAmong(harmless, merge) ? 'FALSE' : 'to judge';
    const [first] = merge.errors;
    const why = first ? `${first.rule}: ${first.message}` : merge.headline;
    const rules = [...new Set(merge.errors.map(({ rule }) => rule))].join(' ');
    return `    ${truth} ${merge.date} ${merge.commit.slice(0, 12)} ${merge.subject.slice(0, 60)} [${rules}] ${why}`;
  });
}

/** Merges that must be stopped and passed. */
function missed({ entry, merges }: Row): string[] {
  return entry.harmful.filter((one) =>
    merges.some((merge) => merge.commit.startsWith(one) && merge.state !== 'failure'),
  );
}

function summary(all: readonly Row[]): string[] {
  return (['open', 'blind'] as const).flatMap((half) => {
    const own = all.filter(({ entry }) => entry.half === half);
    if (own.length === 0) return [];
    const judged = own.filter(({ isRight }) => isRight !== undefined);
    const stops = own.flatMap((row) => stopped(row).map((merge) => ({ row, merge })));
    const right = stops.filter(({ row, merge }) => isAmong(row.entry.harmful, merge)).length;
    const wrong = stops.filter(({ row, merge }) => isAmong(row.entry.harmless, merge)).length;
    const worst = (of: (row: Row) => number): number => Math.max(...own.map(of));
    return [
      `${half}: ${own.length} repositories`,
      `  layouts: ${judged.filter(({ isRight }) => isRight).length} of ${judged.length} right or refused, ${own.length - judged.length} to judge`,
      `  stopped merges: ${stops.length}: ${right} true, ${wrong} false, ${stops.length - right - wrong} to judge`,
      `  missed merges: ${own.reduce((sum, row) => sum + missed(row).length, 0)}`,
      `  worst: setup ${worst(({ setup }) => setup.seconds).toFixed(1)} s ${worst(({ setup }) => setup.megabytes)} MB, rehearse ${worst(({ rehearse }) => rehearse.seconds).toFixed(1)} s ${worst(({ rehearse }) => rehearse.megabytes)} MB`,
    ];
  });
}
