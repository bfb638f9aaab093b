// node scripts/run.mjs test/bench/gate.ts REPOSITORY [COUNT]
//
// Every commit of a repository as a pull request to its parent, opened by an owner of the package: how
// many are allowed and green, and for every other one the rule or the class that says why. Each check is
// a process of its own, the built command line, whose time is measured from start to end. One JSON line a
// pull request on standard output, the tables on standard error.
import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { CheckReport } from '../../pipeline/check/report.ts';
import { readSettings } from '../../pipeline/settings.ts';

interface Outcome {
  readonly head: string;
  readonly subject: string;
  readonly package: string;
  readonly author: string;
  readonly milliseconds: number;
  /** Seconds of processor time, those of git included. */
  readonly cpu: number;
  readonly verdict: string;
  readonly authority: string;
  readonly headline: string;
  readonly rules: readonly string[];
  readonly classes: readonly string[];
}

const [directory = '.', count = '100000'] = process.argv.slice(2);
const git = (...parameters: string[]): string =>
  execFileSync('git', ['-C', directory, ...parameters], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

const commits = git('log', '--reverse', '--first-parent', '--format=%H%x09%s').trim().split('\n');
const outcomes: Outcome[] = [];
for (const [i, line] of commits.entries()) {
  const [head = '', subject = ''] = line.split('\t');
  const base = commits[i - 1]?.split('\t')[0];
  if (base === undefined || outcomes.length >= Number(count)) continue;
  const outcome = checked(base, head, subject);
  outcomes.push(outcome);
  console.log(JSON.stringify(outcome));
}
tell();

function checked(base: string, head: string, subject: string): Outcome {
  const name = packageOf(base, head);
  const author = ownerOf(base, name) ?? ownerOf(head, name) ?? 'nobody';
  const program = [
    process.env['PORTOLAN_PROGRAM'] ?? resolve('dist/portolan.mjs'),
    'check',
    '--repo',
    directory,
    '--base',
    base,
    '--head',
    head,
  ];
  const started = performance.now();
  const { stdout, stderr, error } = spawnSync(
    '/usr/bin/time',
    ['-f', 'TIMES %U %S', process.execPath, ...program, '--author', author, '--format', 'json'],
    { encoding: 'utf8', maxBuffer: 1 << 30 },
  );
  const milliseconds = performance.now() - started;
  if (error) throw error;
  const [, user = '0', system = '0'] = /TIMES (\S+) (\S+)/.exec(stderr) ?? [];
  const report = JSON.parse(stdout) as CheckReport;
  return {
    head,
    subject,
    package: name,
    author,
    milliseconds: Math.round(milliseconds),
    cpu: Number(user) + Number(system),
    verdict: report.verdict,
    authority: report.authority.decision,
    headline: report.headline,
    rules: [
      ...new Set(report.findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)),
    ],
    classes: [...new Set(report.packages.flatMap(({ classes }) => classes))],
  };
}

/** The package with most changed files. */
function packageOf(base: string, head: string): string {
  const counts = new Map<string, number>();
  for (const path of git('diff', '--name-only', '--no-renames', base, head).trim().split('\n')) {
    const [kind, first = '', second = ''] = path.split('/');
    const name = kind === 'operators' ? first : kind === 'catalogs' ? second : '';
    if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

function ownerOf(commit: string, name: string): string | undefined {
  try {
    const path = `operators/${name}/ci.yaml`;
    const value = readSettings(path, Buffer.from(git('show', `${commit}:${path}`))).settings?.value;
    const [first] = (value as { reviewers?: string[] } | undefined)?.reviewers ?? [];
    return first;
  } catch {
    return undefined;
  }
}

function tell(): void {
  const green = outcomes.filter(({ verdict, authority }) => verdict === 'pass' && authority === 'allow');
  console.error(`${outcomes.length} pull requests: ${green.length} allowed and green`);
  const table = new Map<string, number>();
  for (const { verdict, authority, rules, headline } of outcomes) {
    if (verdict === 'pass' && authority === 'allow') continue;
    const why = verdict === 'pass' ? [`authority: ${headline.replace(/^.*: it /, '')}`] : rules;
    for (const one of why.length > 0 ? why : [headline]) table.set(one, (table.get(one) ?? 0) + 1);
  }
  for (const [why, times] of [...table].sort((a, b) => b[1] - a[1])) console.error(`${times}\t${why}`);
  console.error(`wall ms ${quantiles(outcomes.map(({ milliseconds }) => milliseconds))}`);
  console.error(`cpu s ${quantiles(outcomes.map(({ cpu }) => cpu))}`);
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return `p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${sorted.at(-1)}`;
}
