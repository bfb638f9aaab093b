import { expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../../fakes/gate.ts';
import { makeRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

const LAST = 25;

/** A catalog in which the bundles up to a number have a property of another package. */
function catalog(wrong: number): string {
  const versions = Array.from({ length: LAST }, (_, i) => `1.${i}.0`);
  const entries = versions.map((version, i) => ({
    name: `etcd.v${version}`,
    ...(i > 0 ? { replaces: `etcd.v1.${i - 1}.0` } : {}),
  }));
  const property = (version: string, packageName: string): object => ({
    properties: [{ type: 'olm.package', value: { packageName, version } }],
  });
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...versions.map((version, i) => bundle('etcd', version, property(version, i < wrong ? 'other' : 'etcd'))),
  );
}

test('a correction of a line that the pull request writes is offered behind many that it does not write', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const file = 'catalogs/v4.20/etcd/catalog.yaml';
  const base = repository.commit({ [file]: catalog(LAST - 1) });
  const head = repository.commit({ [file]: catalog(LAST) }, { parents: [base] });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  const { suggestions } = JSON.parse((await portolan(repository.directory, ...words)).out);
  expect(suggestions).toMatchObject([{ rule: 'bundle/package-property', file }]);
});
