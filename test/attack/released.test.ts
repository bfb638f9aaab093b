/** Attacks on what counts as published: whoever decides that decides what may be changed without a word. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { bundle, documents } from '../fakes/gate.ts';
import { testClient } from '../fakes/host.ts';
import { labelledImage } from '../fakes/labelled-image.ts';
import { registry } from '../fakes/registry.ts';
import { type Files, makeRepository } from '../fakes/repository.ts';
import { portolan } from '../fakes/terminal.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

function etcd(image: string): string {
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: [{ name: 'etcd.v1.0.0' }] },
    bundle('etcd', '1.0.0', { image }),
  );
}

const PUBLISHED = etcd('quay.io/org/etcd:v1.0.0');
const MUTATED = etcd('quay.io/org/etcd:evil');
const LINE =
  '{"catalog":"v4.20","package":"etcd","channel":"stable","bundle":"etcd.v1.0.0","version":"1.0.0","last":"2026-01-01"}\n';
const OTHER_LINE = LINE.replaceAll('1.0.0', '0.9.0');

function policy(allowed: readonly string[], released: string): string {
  const head = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules: {image/*: off}\n';
  return `${head}registries: {allow: [${allowed.map((one) => `'${one}'`)}]}\ngraph: {released: {'*': ${released}}}\n`;
}

/** Rules of the errors about a pull request, and what was not checked. */
async function judged(
  base: Files,
  head: Files,
  ...options: readonly string[]
): Promise<{ verdict: string; errors: string[]; unchecked: string[] }> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const before = repository.commit({ [FILE]: PUBLISHED, ...base });
  const after = repository.commit(head, { parents: [before] });
  const words = ['check', '--base', before, '--head', after, '--format', 'json', ...options];
  const { verdict, findings, unchecked } = JSON.parse((await portolan(repository.directory, ...words)).out);
  const errors = findings.filter(({ severity }: { severity: string }) => severity === 'error');
  return {
    verdict,
    errors: errors.map(({ rule }: { rule: string }) => rule),
    unchecked: unchecked.map(({ what }: { what: string }) => what),
  };
}

const MUTATION = { verdict: 'fail', errors: ['graph/bundle-mutated'] };

async function indexImage(host: string, reference: string, text: string): Promise<void> {
  const labels = { 'operators.operatorframework.io.index.configs.v1': '/configs' };
  const image = await labelledImage(labels, { 'configs/etcd/catalog.json': text });
  await pushImage(testClient([host]), parseReference(`${host}/${reference}`), { image });
}

describe('what counts as published', () => {
  test.each([
    ['nothing', 'nothing'],
    ['another image', "{image: 'quay.io/mallory/index:{catalog}'}"],
  ])('11: a pull request that says %s is judged by what the base branch says', async (_, own) => {
    for (const base of ['branch', '{ledger: released.jsonl}']) {
      const files = { [POLICY_PATH]: policy([], base), 'released.jsonl': LINE };
      const head = { [FILE]: MUTATED, [POLICY_PATH]: policy(['*'], own) };
      expect(await judged(files, head)).toMatchObject(MUTATION);
    }
  });

  test('11: the ledger is that of the base branch, whatever a pull request writes or removes', async () => {
    const base = { [POLICY_PATH]: policy([], '{ledger: released.jsonl}'), 'released.jsonl': LINE };
    for (const ledger of [OTHER_LINE, '', null]) {
      const head = { [FILE]: MUTATED, 'released.jsonl': ledger };
      expect(await judged(base, head)).toMatchObject(MUTATION);
    }
  });

  test('11: a pull request makes no host be asked for an index image', async () => {
    const { host, seen } = await registry();
    await indexImage(
      host,
      'mallory/index:v4.20',
      etcd('quay.io/org/etcd:v1.0.0').replaceAll('1.0.0', '0.9.0'),
    );
    seen.length = 0;
    const own = policy([host], `{image: '${host}/mallory/index:{catalog}'}`);
    const head = { [FILE]: MUTATED, [POLICY_PATH]: own };
    expect(await judged({ [POLICY_PATH]: policy([], 'branch') }, head, '--insecure', host)).toMatchObject(
      MUTATION,
    );
    expect(seen).toEqual([]);
  });

  test.each([
    [
      'is no index image',
      async (host: string) => {
        const image = await labelledImage({}, { 'configs/etcd/catalog.json': PUBLISHED });
        await pushImage(testClient([host]), parseReference(`${host}/org/index:v4.20`), { image });
      },
    ],
    [
      'cannot be read whole',
      (host: string) => indexImage(host, 'org/index:v4.20', '{"schema": "olm.channel", "package": "etcd"'),
    ],
    ['is gone', () => Promise.resolve()],
  ])('11: an image that %s lets nothing pass', async (_, push) => {
    const { host } = await registry();
    await push(host);
    const base = { [POLICY_PATH]: policy([host], `{image: '${host}/org/index:{catalog}'}`) };
    const found = await judged(base, { [FILE]: MUTATED }, '--insecure', host);
    expect(found).toMatchObject(MUTATION);
    expect(found.unchecked).toContain(
      'the published content of v4.20 (Portolan treats everything on the branch as published)',
    );
  });
});
