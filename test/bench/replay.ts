// node scripts/run.mjs test/bench/replay.ts REPOSITORY [STRANDING-MERGES.json]
//
// Checks every commit of a repository against its parent, as if it were a pull request, and prints
// one JSON line for each error and warning. All fixes of a report are applied together: what they
// contradict each other in, and findings that they leave, are failures. With a list of merges that are
// known to strand somebody, says which of them were not found, and fails if there are any.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { checkPullRequest } from '../../pipeline/check/check.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { applyFixes, fixedBy } from './fixes.ts';

interface Known {
  readonly subject: string;
  readonly package: string;
  readonly check: string;
  readonly catalogs: readonly string[];
  readonly installed: readonly string[];
}

const [directory = '.', list] = process.argv.slice(2);
const settings = { searchPath: process.env['PATH'] ?? '' };
const log = execFileSync('git', ['-C', directory, 'log', '--reverse', '--format=%H%x09%cs%x09%s'], {
  encoding: 'utf8',
});
const commits = log
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [string, string, string]);
const found = new Map<string, readonly Finding[]>();
const fixed = { reports: 0, fixes: 0, wrong: 0 };
const started = performance.now();
for (const [i, [head, date, subject]] of commits.entries()) {
  const base = commits[i - 1]?.[0];
  if (base === undefined) continue;
  const repository = await openRepository(directory, settings);
  const report = await checkPullRequest(repository, { base, head, today: date });
  await repository.close();
  const findings = report.findings.filter(({ severity }) => severity !== 'info').sort(compareFindings);
  found.set(subject, [...(found.get(subject) ?? []), ...findings]);
  for (const { location: _, correction: __, ...finding } of findings)
    console.log(JSON.stringify({ date, change: subject, ...finding }));
  await tryFixes({ base, head, today: date }, fixedBy(report.findings));
}
console.error(
  `${fixed.fixes} fixes of ${fixed.reports} reports applied together: ${fixed.wrong} contradict each other or leave a finding`,
);
process.exitCode = fixed.wrong > 0 ? 1 : 0;
const seconds = (performance.now() - started) / 1000;
console.error(`${commits.length - 1} changes in ${seconds.toFixed(1)} s`);
if (list !== undefined) {
  const { merges }: { merges: readonly Known[] } = JSON.parse(readFileSync(list, 'utf8'));
  const missed = merges.filter((known) => !isFound(known, found.get(known.subject) ?? []));
  for (const known of missed) console.error(`not found: ${JSON.stringify(known)}`);
  console.error(`${merges.length - missed.length} of ${merges.length} known strandings found`);
  if (missed.length > 0) process.exitCode = 1;
}

/** Whether the same rule found the package, in all of the catalogs, with all of the installed versions that are named. */
function isFound(known: Known, findings: readonly Finding[]): boolean {
  const same = findings.filter(
    (finding) => finding.rule === `graph/${known.check}` && finding.package === known.package,
  );
  const versions = same.flatMap(({ installed = [] }) => installed);
  return (
    known.catalogs.every((name) => same.some(({ catalogs = [] }) => catalogs.includes(name))) &&
    known.installed.every((name) => versions.some((version) => name.endsWith(version)))
  );
}

interface Asked {
  readonly base: string;
  readonly head: string;
  readonly today: string;
}

/** Applies the fixes of a report together, and checks again. */
async function tryFixes({ base, head, today }: Asked, fixes: readonly Finding[]): Promise<void> {
  if (fixes.length === 0) return;
  const { commit, conflicts, repository: at, remove } = await applyFixes(directory, { base, head }, fixes);
  const repository = await openRepository(at, settings);
  const { findings } = await checkPullRequest(repository, { base, head: commit, today });
  await repository.close();
  remove();
  const left = fixes.filter((fix) => findings.some((finding) => isStill(fix, finding)));
  fixed.reports++;
  fixed.fixes += fixes.length;
  fixed.wrong += conflicts.length + left.length;
  for (const conflict of conflicts) console.error(`${head}: contradict each other: ${conflict}`);
  for (const { rule, hint } of left) console.error(`${head}: still there: ${rule}, after: ${hint}`);
}

/** Whether a finding is the one that a fix was offered for. */
function isStill(
  fix: Finding,
  { rule, package: of, channel, severity, catalogs = [], installed = [] }: Finding,
): boolean {
  return (
    rule === fix.rule &&
    of === fix.package &&
    channel === fix.channel &&
    severity === fix.severity &&
    catalogs.some((name) => fix.catalogs?.includes(name)) &&
    installed.some((one) => fix.installed?.includes(one))
  );
}
