import { load } from 'js-yaml';
import { expect, onTestFinished, test } from 'vitest';
import { makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

function imageSet(least: string, most: string, apiVersion = 'v2alpha1'): string {
  return `kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/${apiVersion}
mirror:
  operators:
  - catalog: quay.io/example/index:v4.20
    packages:
    - name: etcd
      channels:
      - {name: stable, minVersion: ${least}, maxVersion: ${most}}
`;
}

function releases(least: string, most: string, apiVersion = 'v2alpha1'): string {
  return `kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/${apiVersion}
mirror:
  platform:
    channels:
    - name: stable-4.14
      minVersion: ${least}
      maxVersion: ${most}
`;
}

test('an ImageSetConfiguration that selects nothing is a warning, and what needs its catalogs is not checked', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const checked = async (
    before: string,
    after: string,
  ): Promise<{ found: string[]; unchecked: string[] }> => {
    const base = repository.commit({ 'mirror.yaml': before });
    const head = repository.commit({ 'mirror.yaml': after }, { parents: [base] });
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const { findings, unchecked } = JSON.parse((await portolan(repository.directory, ...words)).out);
    const one = (of: { severity: string; message: string; location: { line: number } }): string =>
      `${of.location.line} ${of.severity}: ${of.message}`;
    return { found: findings.map(one), unchecked: unchecked.map(({ what }: { what: string }) => what) };
  };
  const good = imageSet('1.0.0', '1.1.0');
  const unchecked = ['whether the catalogs have what mirror.yaml selects'];
  expect(await checked('a: b\n', good)).toEqual({ found: [], unchecked });
  for (const version of ['v2alpha1', 'v1alpha2'])
    expect(await checked(good, imageSet('1.1.0', '1.0.0', version))).toEqual({
      found: ['9 warning: minVersion 1.1.0 is above maxVersion 1.0.0: no version is selected'],
      unchecked,
    });
  // As a text, 4.14.30 is below 4.14.4.
  const between = 'minVersion 4.14.30 is above maxVersion 4.14.4: no release is between them';
  for (const version of ['v2alpha1', 'v1alpha2'])
    expect(
      await checked(releases('4.14.4', '4.14.30', version), releases('4.14.30', '4.14.4', version)),
    ).toEqual({ found: [`8 warning: ${between}`], unchecked });
  expect((await checked(good, releases('4.14.4', '4.14.4'))).found).toEqual([]);
  expect((await checked(imageSet('1.1.0', '1.0.0'), `${imageSet('1.1.0', '1.0.0')}# more\n`)).found).toEqual(
    [],
  );
  // A part that is left out may be any.
  expect((await checked(good, imageSet('1.1.5', '"1.1"'))).found).toEqual([]);
  expect(await checked('a: b\n', 'kind: List\n')).toEqual({ found: [], unchecked: [] });
});

test('no configuration passes in silence: behind many files, in JSON, or too large', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const checked = async (files: Readonly<Record<string, string>>): Promise<[string[], string[]]> => {
    const base = repository.commit({ 'README.md': 'x' });
    const head = repository.commit(files, { parents: [base] });
    const words = ['check', '--base', base, '--head', head, '--format', 'json'];
    const { findings, unchecked } = JSON.parse((await portolan(repository.directory, ...words)).out);
    return [
      findings.map(({ location }: { location: { file: string } }) => location.file),
      unchecked.map(({ what, why }: { what: string; why: string }) => `${what}: ${why}`),
    ];
  };
  const others = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`a/${i}.yaml`, `a: ${i}\n`]));
  const wrong = imageSet('1.1.0', '1.0.0');
  const [found, unchecked] = await checked({
    ...others,
    'b.yaml': wrong,
    'c.json': JSON.stringify(load(wrong), undefined, 2),
    'd.yaml': `${wrong}# ${'x'.repeat(256 * 1024)}\n`,
    'e.json': '{"kind": "List", "items": [{"kind": "ImageSetConfiguration"}]}',
  });
  expect(found).toEqual(['b.yaml', 'c.json']);
  expect(unchecked).toEqual([
    expect.stringContaining('b.yaml selects: it is an'),
    expect.stringContaining('c.json selects: it is an'),
    expect.stringMatching(
      /d\.yaml selects: it has \d+ bytes; ImageSetConfigurations of up to 262144 are read$/,
    ),
  ]);
  const policy = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nlimits: {contextBytes: 1000}\n';
  const base = repository.commit({ '.github/portolan.yaml': policy });
  const head = repository.commit(
    { 'a.yaml': `a: ${'x'.repeat(1000)}\n`, 'b.yaml': wrong },
    { parents: [base] },
  );
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  // A file that is too large takes nothing from what the others may have.
  const report = JSON.parse((await portolan(repository.directory, ...words)).out);
  expect(report.findings).toMatchObject([{ location: { file: 'b.yaml' } }]);
  expect(report.unchecked).toEqual([
    { what: 'whether the catalogs have what b.yaml selects', why: expect.any(String) },
    {
      what: 'whether ImageSetConfigurations are in a.yaml',
      why: 'the changed files are larger than limits.fileBytes or limits.contextBytes of the policy',
    },
  ]);
});
