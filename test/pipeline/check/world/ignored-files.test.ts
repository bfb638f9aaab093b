/** Ignore files above the file of a package, in layouts where each package is a single file. */
import { expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../../../fakes/gate.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

function packageFile(name: string): string {
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: `${name}.v1.0.0` }] },
    bundle(name, '1.0.0'),
  );
}

const PACKAGES = {
  'configs/runner/catalog.yaml': packageFile('runner'),
  'configs/dev-portal/catalog.yaml': packageFile('dev-portal'),
};

async function rulesAfter(pattern: string): Promise<string[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [base = '', head = ''] = repository.chain(
    { ...PACKAGES, 'configs/.indexignore': 'README.md\n' },
    { 'configs/.indexignore': `README.md\n${pattern}\n` },
  );
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json'],
  );
  const { findings } = JSON.parse(out) as { findings: { rule: string; severity: string; message: string }[] };
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, message }) => `${rule} ${message}`);
}

test('a pattern that hides a package removes it', async () => {
  expect(await rulesAfter('dev-*')).toEqual([
    expect.stringMatching(/^graph\/package-removed package "dev-portal" is removed/),
  ]);
  expect(await rulesAfter('notes-*')).toEqual([]);
});
