import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { sampleRepository } from '../../../fakes/sample.ts';
import { runCommand } from '../../../fakes/terminal.ts';

/** A clone whose only merge strands clusters, and a folder to run in. */
function clone(beside: Readonly<Record<string, string | null>> = {}) {
  const repository = sampleRepository(beside);
  onTestFinished(repository.remove);
  return { repo: repository.directory, head: repository.stranding, directory: folder() };
}

test('proposes a waiver for what three merges did, which lasts from today', async () => {
  const { directory: repo, chain, remove } = makeRepository();
  onTestFinished(remove);
  const at = (...versions: string[]) => ({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', versions) });
  const past = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const head = chain(...past.map((_, i) => at(...past.slice(i)))).at(-1) ?? '';
  const words = ['rehearse', '--repo', repo, '--head', head, '--admin', 'grace'];
  const { out } = await runCommand(words, { directory: folder() });
  // A waiver that lasted from the day of the merges would have run out.
  expect(out).toContain('until: 2026-04-01,');
});

test('needs no configuration: the policy is the one that setup would write', async () => {
  const { repo, head, directory } = clone({ '.github/portolan.yaml': null });
  const words = ['rehearse', '--repo', repo, '--head', head, '--admin', 'grace'];
  const { exit, out, err } = await runCommand(words, { directory });
  expect(exit).toBe(0);
  expect(out).toMatch(/^of 1 merge .* 0 pass at once, 0 pass after an approval, 1 fails\n/);
  expect(err).toContain('policy: the policy that portolan setup would write\n');
  expect(out).not.toContain('until:');
  const page = readFileSync(join(directory, 'portolan-rehearsal.html'), 'utf8');
  expect(page).toContain('graph/strands-installed-v0');
  expect(page).toContain('grace');
});

test('takes the policy of the branch, or the one that is given', async () => {
  const { repo, head, directory } = clone();
  const words = ['rehearse', '--repo', repo, '--head', head, '--json', '--page', 'page.html'];
  const own = await runCommand(words, { directory });
  expect(own.err).toContain('policy: .github/portolan.yaml of ');
  expect(JSON.parse(own.out).merges).toMatchObject([{ commit: head, state: 'failure' }]);
  expect(existsSync(join(directory, 'page.html'))).toBe(true);
  const given = await runCommand([...words, '--policy', 'none.yaml'], { directory });
  expect([given.exit, given.err]).toEqual([2, expect.stringContaining('none.yaml')]);
});

test('100: merges for which the time did not suffice are not passed over in silence', async () => {
  const { directory: repo, chain, remove } = makeRepository();
  onTestFinished(remove);
  const at = (...versions: string[]) => ({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', versions) });
  const past = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const head = chain(...past.map((_, i) => at(...past.slice(0, i + 1)))).at(-1) ?? '';
  const words = ['rehearse', '--repo', repo, '--head', head, '--admin', 'grace'];
  // Each look at the clock takes 100 s: the first merge is checked, and no other.
  let seconds = 0;
  const now = (): Date => {
    seconds += 100;
    return new Date(Date.UTC(2026, 0, 1) + 1000 * seconds);
  };
  const { exit, out } = await runCommand([...words, '--timeout', '350'], { directory: folder(), now });
  expect([exit, out]).toEqual([2, expect.stringContaining('of 1 merge ')]);
  expect(out).toContain('Not checked:\n  2 merges: the time limit of 350 s was reached\n');
  expect(await runCommand(words, { directory: folder() })).toMatchObject({
    exit: 0,
    out: expect.stringContaining('of 3 merges '),
  });
});

test.each([
  [['--timeout', '0'], '--timeout must be 1 or more'],
  [['--last', '0'], '--last must be 1 or more'],
  [['--admin', 'a b'], '--admin must be LOGIN'],
])('%j is refused', async (more, message) => {
  const { repo, directory } = clone({ '.github/portolan.yaml': null });
  const { exit, err } = await runCommand(['rehearse', '--repo', repo, ...more], { directory });
  expect([exit, err]).toEqual([2, expect.stringContaining(message)]);
});

test('without merges, says how to get them, and writes no page', async () => {
  const repository = sampleRepository();
  onTestFinished(repository.remove);
  const directory = folder();
  const words = ['rehearse', '--head', repository.base, '--repo'];
  const first = await runCommand([...words, repository.directory], { directory });
  expect([first.exit, first.out]).toEqual([2, '']);
  expect(first.err).toContain('has no merges to check\n  the branch has only one commit');
  repository.git('branch', 'tip', repository.stranding);
  const shallow = join(directory, 'shallow');
  repository.git('clone', '--quiet', '--depth=1', '--branch=tip', `file://${repository.directory}`, shallow);
  const cut = await runCommand(['rehearse', '--repo', shallow], { directory });
  expect([cut.exit, cut.err]).toEqual([2, expect.stringContaining('run git fetch --unshallow')]);
  expect(existsSync(join(directory, 'portolan-rehearsal.html'))).toBe(false);
});
