import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

/** The Dockerfile of a catalog's image. */
function dockerfile(
  source: string,
  { base = `quay.io/operator-framework/opm@${DIGEST}`, to = '/configs', more = '' } = {},
): string {
  return `${more}FROM ${base}\nCOPY ${source} ${to}\nLABEL operators.operatorframework.io.index.configs.v1=/configs\n`;
}

const catalogs: Files = {
  'catalogs/v4.19/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
};
const BASE: Files = {
  ...catalogs,
  'v4.19.Dockerfile': dockerfile('catalogs/v4.19'),
  'v4.20.Dockerfile': dockerfile('catalogs/v4.20'),
};

/** What the check of a change says of Dockerfiles. */
async function found(head: Files, base: Files = BASE): Promise<string[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const before = repository.commit(base);
  const after = repository.commit(head, { parents: [before] });
  const run = ['check', '--base', before, '--head', after, '--format', 'json'];
  const {
    findings,
    known,
  }: Record<string, { rule: string; severity: string; location: { file: string } }[]> = JSON.parse(
    (await portolan(repository.directory, ...run)).out,
  );
  const own = [...(findings ?? []), ...(known ?? [])].filter(({ rule }) => rule.startsWith('fragment/'));
  return own.map(({ rule, severity, location }) => `${severity} ${rule} ${location.file}`);
}

test('a catalog that a changed Dockerfile leaves in no image is reported', async () => {
  const wrong = { 'v4.20.Dockerfile': dockerfile('catalogs/v4.19') };
  expect(await found(wrong)).toEqual(['warning fragment/lost-catalog v4.20.Dockerfile']);
  expect(await found({ ...wrong, 'other.Dockerfile': dockerfile('catalogs/v4.20') })).toEqual([]);
  expect(await found({ ...wrong, 'catalogs/v4.20/etcd/catalog.yaml': null })).toEqual([]);
  expect(await found({ 'v4.20.Dockerfile': dockerfile('catalogs') })).toEqual([]);
  expect(await found({ 'v4.20.Dockerfile': null })).toEqual([]);
  // A build says which catalog this is.
  const anyone = dockerfile('catalogs/$CATALOG', { more: 'ARG CATALOG\n' });
  expect(await found({ ...wrong, 'any.Dockerfile': anyone })).toEqual([]);
});

test('a label that names another folder than files are copied to is an error, and a base without a digest a warning', async () => {
  const elsewhere = { 'v4.20.Dockerfile': dockerfile('catalogs/v4.20', { to: '/catalog' }) };
  expect(await found(elsewhere)).toContain('error fragment/empty v4.20.Dockerfile');
  const untouched = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
  expect(await found(untouched, { ...BASE, ...elsewhere })).toEqual([]);
  const tagged = dockerfile('catalogs/v4.20', {
    base: '$OPM',
    more: 'ARG OPM=quay.io/operator-framework/opm:v1\n',
  });
  expect(await found({ 'v4.20.Dockerfile': tagged })).toEqual(['warning fragment/unpinned v4.20.Dockerfile']);
  expect(
    await found({ 'v4.20.Dockerfile': `${tagged}USER 1001\n` }, { ...BASE, 'v4.20.Dockerfile': tagged }),
  ).toEqual([]);
});
