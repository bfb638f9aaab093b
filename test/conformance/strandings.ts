// Merges of a real history that are known to strand somebody: `check` must name each as an error, with every catalog
// and every installation. `../data/stranding-merges.json` says which, `../data/pr-history.bundle` has the history.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Finding } from '../../catalog/finding.ts';
import { checkPullRequest } from '../../pipeline/check/check.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import type { ConformanceSet } from './main.ts';

/** A row of the record: what one merge did to one package, in the words of one rule. */
interface Row {
  readonly date: string;
  readonly subject: string;
  readonly package: string;
  /** The rule without its kind, such as `strands-installed-v0`. */
  readonly check: string;
  readonly catalogs: readonly string[];
  /** `CHANNEL: BUNDLE`; under OLM v1 the channel may be empty. */
  readonly installed: readonly string[];
}

export const cases: ConformanceSet['cases'] = async function* (folder, fallback) {
  const data = [folder, fallback].map((root) => resolve(root, '../data'));
  const inData = (name: string): string =>
    data.map((one) => join(one, name)).find((path) => existsSync(path)) ?? join(data[0] ?? '', name);
  const [list, history] = [inData('stranding-merges.json'), inData('pr-history.bundle')];
  if (!existsSync(list) || !existsSync(history)) {
    yield { name: list, outcome: 'skipped', detail: 'the record or its history is not there' };
    return;
  }
  const { merges }: { readonly merges: readonly Row[] } = JSON.parse(readFileSync(list, 'utf8'));
  const work = mkdtempSync(join(tmpdir(), 'strandings-'));
  try {
    execFileSync('git', ['clone', '--quiet', '--no-checkout', history, work]);
    const commits = commitsIn(work);
    for (const subject of new Set(merges.map((row) => row.subject))) {
      const found = await findingsOf(work, commits.get(subject) ?? []);
      for (const row of merges.filter((one) => one.subject === subject)) {
        const missed = missedOf(row, found);
        const name = `${row.date} ${row.package} ${row.check}`;
        yield missed.length === 0
          ? { name, outcome: 'agree' }
          : { name, outcome: 'differ', detail: `not named: ${missed.join('; ')}` };
      }
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

interface Commit {
  readonly id: string;
  readonly date: string;
}

/** Commits by subject: two merges may have the same. */
function commitsIn(repository: string): Map<string, Commit[]> {
  const log = execFileSync('git', ['-C', repository, 'log', '--format=%H%x09%cs%x09%s'], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const commits = new Map<string, Commit[]>();
  for (const line of log.trim().split('\n')) {
    const [id = '', date = '', ...subject] = line.split('\t');
    const key = subject.join('\t');
    commits.set(key, [...(commits.get(key) ?? []), { id, date }]);
  }
  return commits;
}

async function findingsOf(directory: string, commits: readonly Commit[]): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { id, date } of commits) {
    const repository = await openRepository(directory, { searchPath: process.env['PATH'] ?? '' });
    try {
      found.push(...(await checkPullRequest(repository, { base: `${id}^`, head: id, today: date })).findings);
    } finally {
      await repository.close();
    }
  }
  return found;
}

/** What no error of the row's rule names: catalogs, and installations, which not every catalog needs to have. */
function missedOf(row: Row, findings: readonly Finding[]): string[] {
  const same = findings.filter(
    ({ rule, severity, package: of }) =>
      rule === `graph/${row.check}` && severity === 'error' && of === row.package,
  );
  return [
    ...row.catalogs.filter((name) => !same.some(({ catalogs = [] }) => catalogs.includes(name))),
    ...row.installed.filter((one) => !same.some((finding) => names(finding, one))),
  ];
}

/** Whether a finding names an installation; who selects no channel under OLM v1 is told of in any. */
function names({ rule, channel, installed = [] }: Finding, wanted: string): boolean {
  const [, place = '', bundle = wanted] = /^([^:]*): (.*)$/.exec(wanted) ?? [];
  const isPlace = place === '' || channel === undefined || channel === place || rule.endsWith('-v1');
  return (
    isPlace &&
    installed.some(
      (version) => bundle === version || bundle.endsWith(`v${version}`) || bundle.endsWith(`.${version}`),
    )
  );
}
