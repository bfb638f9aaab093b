import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const PATH = 'templates/etcd.yaml';

/** A template with a chain of versions, and others that replace nothing. */
function template(versions: readonly string[], ...loose: readonly string[]): Files {
  const entries = catalogOf('etcd', versions)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((blob) => (blob.schema === 'olm.bundle' ? { schema: blob.schema, image: blob.image } : blob));
  for (const { entries: own } of entries)
    own?.push(...loose.map((version) => ({ name: `etcd.v${version}` })));
  return { [PATH]: `${JSON.stringify({ schema: 'olm.template.basic', entries })}\n` };
}

interface Report {
  readonly verdict: string;
  readonly findings: readonly { readonly rule: string; readonly location: { readonly file: string } }[];
  readonly known: readonly { readonly rule: string }[];
}

async function checked(base: Files, head: Files): Promise<Report> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const before = repository.commit(base);
  const after = repository.commit(head, { parents: [before] });
  const run = ['check', '--base', before, '--head', after, '--format', 'json'];
  return JSON.parse((await portolan(repository.directory, ...run)).out);
}

test('a channel with two heads in a template without its catalog is an error, unless it had them before', async () => {
  const base = template(['1.0.0', '1.1.0']);
  const broken = await checked(base, template(['1.0.0', '1.1.0'], '1.2.0'));
  expect(broken).toMatchObject({
    verdict: 'fail',
    findings: [{ rule: 'channel/head', location: { file: PATH } }],
  });
  expect((await checked(base, template(['1.0.0', '1.1.0', '1.2.0']))).findings).toEqual([]);
  const entries = [{ schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' }];
  const part = { [PATH]: JSON.stringify({ schema: 'olm.template.basic', entries }) };
  expect((await checked({}, part)).findings).toEqual([]);
  const later = await checked(template(['1.0.0'], '1.1.0'), template(['1.0.0', '1.0.1'], '1.1.0'));
  expect(later.findings).toEqual([]);
  expect(later.known.map(({ rule }) => rule)).toEqual(['channel/head']);
});
