/** Ignore files above the file of a package, in layouts where each package is a single file. */
import { expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
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
  const findings = await findingsAfter({ 'configs/.indexignore': `README.md\n${pattern}\n` });
  return findings.map(({ rule, message }) => `${rule} ${message}`);
}

async function findingsAfter(
  change: Files,
  files: Files = PACKAGES,
): Promise<{ rule: string; message: string; hint?: string }[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [base = '', head = ''] = repository.chain(
    { ...files, 'configs/.indexignore': 'README.md\n' },
    change,
  );
  const { out } = await portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json'],
  );
  const { findings } = JSON.parse(out) as {
    findings: { rule: string; severity: string; message: string; hint?: string }[];
  };
  return findings.filter(({ severity }) => severity === 'error');
}

test('a pattern that hides a package removes it', async () => {
  expect(await rulesAfter('dev-*')).toEqual([
    expect.stringMatching(/^graph\/package-removed package "dev-portal" is removed/),
  ]);
  expect(await rulesAfter('notes-*')).toEqual([]);
});

test('a file that cannot be read is to be ignored if its name is not that of a catalog file', async () => {
  const conflict = `<<<<<<< HEAD\n  a: b\n=======\n${PACKAGES['configs/runner/catalog.yaml']}`;
  const [catalog] = await findingsAfter({ 'configs/runner/catalog.yaml': conflict });
  expect([catalog?.rule, catalog?.hint]).toEqual(['fbc/yaml', undefined]);
  const [notes] = await findingsAfter(
    { 'catalogs/v4.20/runner/NOTES': conflict },
    { 'catalogs/v4.20/runner/catalog.yaml': PACKAGES['configs/runner/catalog.yaml'] },
  );
  expect(notes?.hint).toContain('add the line NOTES to .indexignore');
});
