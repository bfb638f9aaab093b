// node scripts/run.mjs test/bench/adoption.ts REPOSITORY [COUNT]
//
// The policy that `portolan setup` writes at the head of a clone, applied to its last merges, each opened by the only
// admin. One JSON line a merge on standard output, the table on standard error.
import { checkPullRequest } from '../../pipeline/check/check.ts';
import type { CheckReport } from '../../pipeline/check/report.ts';
import { keptReadings } from '../../pipeline/check/request.ts';
import { runGit } from '../../pipeline/git/process.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { listFiles } from '../../pipeline/git/tree.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { setUpRepository } from '../../pipeline/policy/setup/setup.ts';

const [directory = '.', count = '100', author = 'alice'] = process.argv.slice(2);
const admin = { login: 'alice', id: undefined };
const repository = await openRepository(directory);
const { found, files } = await setUpRepository(repository, { commit: 'HEAD', admins: [admin.login] });
const policy = { path: POLICY_PATH, bytes: Buffer.from(files.get(POLICY_PATH) ?? '') };
console.error(`${directory}: ${JSON.stringify(found.patterns)} (${found.catalogs.join(', ')})`);
const { output } = await runGit({ settings: {}, directory }, [
  'log',
  '--first-parent',
  '--format=%H %P',
  `-n${count}`,
]);
const kept = keptReadings();
const today = new Date().toISOString().slice(0, 10);
const people = {
  author: { ...admin, login: author },
  pusher: { ...admin, login: author },
  reviews: [],
  commits: undefined,
  holds: [],
};
const [tip = ''] = await repository.resolve(['HEAD']);
const paths = new Set((await listFiles(repository.objects, tip)).map(({ path }) => path));
const table = new Map<string, number>();
const add = (name: string): void => void table.set(name, (table.get(name) ?? 0) + 1);
for (const line of output.toString('utf8').trim().split('\n')) {
  const [head = '', base] = line.split(' ');
  if (base === undefined) continue;
  let report: CheckReport;
  try {
    report = await checkPullRequest(repository, { base, head, policy, people, today, kept });
  } catch (error) {
    console.log(JSON.stringify({ head, error: String(error) }));
    add('ERROR');
    continue;
  }
  const errors = report.findings.filter(({ severity }) => severity === 'error');
  // The policy of today does not know where catalogs lay before they were moved.
  if (
    errors.length > 0 &&
    errors.every(({ rule, location }) => rule === 'layout/unmatched' && !paths.has(location.file))
  ) {
    add('another layout');
    continue;
  }
  const rules = [...new Set(errors.map(({ rule }) => rule))];
  const { verdict, authority, headline, packages } = report;
  add(`${verdict} ${authority.decision}`);
  for (const rule of rules) add(`  ${rule}`);
  console.log(
    JSON.stringify({
      head: head.slice(0, 9),
      verdict,
      authority: authority.decision,
      headline,
      packages: packages.map((one) => `${one.name}: ${one.classes.join()}`),
      errors: errors
        .map(({ rule, message, location }) => `${rule} ${location.file}:${location.line} ${message}`)
        .slice(0, 4),
    }),
  );
}
for (const [name, times] of table) console.error(`${times}\t${name}`);
await repository.close();
process.exit(0);
