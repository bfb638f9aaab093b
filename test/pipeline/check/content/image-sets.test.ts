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
  expect((await checked(imageSet('1.1.0', '1.0.0'), `${imageSet('1.1.0', '1.0.0')}# more\n`)).found).toEqual(
    [],
  );
  // A part that is left out may be any.
  expect((await checked(good, imageSet('1.1.5', '"1.1"'))).found).toEqual([]);
  expect(await checked('a: b\n', 'kind: List\n')).toEqual({ found: [], unchecked: [] });
});
