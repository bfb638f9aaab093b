import { describe, expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { portolan } from '../../../fakes/terminal.ts';

const LARGE = `a: ${'a'.repeat(8 * 2 ** 20)}\n`;
const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a.example.com}
spec:
  group: example.com
  names: {kind: A, plural: a}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;
const CSV = 'kind: ClusterServiceVersion\nmetadata: {name: a.v1}\n';

describe('80: a manifest of more than 8 MiB is not read, and is not left out', () => {
  const root = (): string =>
    folder({
      'old/crd.yaml': CRD,
      'new/crd.yaml': CRD,
      'new/large.yaml': LARGE,
      'picture/crd.yaml': CRD,
      'picture/large.png': LARGE,
      'bundle/csv.yaml': CSV,
      'bundle/a-large.json': LARGE,
      'plain/csv.yaml': CSV,
    });

  test.each([
    ['crd-diff, of a folder', ['crd-diff', 'old', 'new'], 'new/large.yaml'],
    ['crd-diff, of a file', ['crd-diff', 'old/crd.yaml', 'picture/large.png'], 'picture/large.png'],
    ['bundle generate', ['bundle', 'generate', 'bundle', '-p', 'a', '-c', 'stable'], 'bundle/a-large.json'],
  ])('%s', async (_, words, file) => {
    const { exit, err } = await portolan(root(), ...words);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: expect.stringContaining(`${file} is too large: it has more than 8 MiB`),
    });
  });

  test('a manifest that cannot be read is not left out either: it may be a CRD', async () => {
    const broken = `${CRD}  x: [\n`;
    const directory = folder({
      'old/crd.yaml': CRD,
      'new/crd.yaml': CRD,
      'new/b.yaml': broken,
      'new/a.md': '- [',
    });
    const { exit, err } = await portolan(directory, 'crd-diff', 'old', 'new');
    expect([exit, err]).toEqual([2, expect.stringMatching(/^portolan: new\/b\.yaml:\d+: /)]);
    const named = await portolan(directory, 'crd-diff', 'old/crd.yaml', 'new/b.yaml');
    expect([named.exit, named.err]).toEqual([2, expect.stringMatching(/^portolan: new\/b\.yaml:\d+: /)]);
  });

  test.each([
    ['a picture beside', ['crd-diff', 'old', 'picture']],
    ['a small one', ['bundle', 'generate', 'plain', '-p', 'a', '-c', 'stable']],
  ])('%s', async (_, words) => {
    expect((await portolan(root(), ...words)).exit).toBe(0);
  });
});

test('crd-diff that finds no CRD on both sides compares nothing, and does not pass', async () => {
  const root = folder({ 'old.yaml': CRD, 'new.yaml': CRD.replace('a.example.com', 'b.example.com') });
  expect(await portolan(root, 'crd-diff', 'old.yaml', 'new.yaml')).toMatchObject({
    exit: 2,
    err: 'portolan: nothing to compare: no CRD of new.yaml has the name of one in old.yaml\n',
  });
});
