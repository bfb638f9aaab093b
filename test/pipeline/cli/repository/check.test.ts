import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { createRegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

function catalog(...images: readonly string[]): string {
  const names = images.map((_, i) => `etcd.v1.${i}.0`);
  const entries = names.map((name, i) => ({ name, ...(i === 0 ? {} : { replaces: names[i - 1] }) }));
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...images.map((image, i) => bundle('etcd', `1.${i}.0`, { image })),
  );
}

const policy = (allow: readonly string[]): string =>
  `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: ${JSON.stringify({ allow })}\n`;

/** Checks a pull request that adds an image to a catalog with one that is gone. */
async function checked(far: TestRegistry, image: string, allow: readonly string[]): Promise<Ran> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const old = `${far.host}/org/etcd:gone`;
  const base = repository.commit({ [FILE]: catalog(old), '.github/portolan.yaml': policy(allow) });
  const head = repository.commit({ [FILE]: catalog(old, image) }, { parents: [base] });
  return portolan(
    repository.directory,
    ...['check', '--base', base, '--head', head, '--format', 'json', '--insecure', far.host],
  );
}

interface Found {
  readonly rule: string;
  readonly message: string;
  readonly catalogs?: readonly string[];
  readonly location: { readonly file: string; readonly line: number };
}

function found({ out }: Ran): Found[] {
  return JSON.parse(out).findings.filter(({ rule }: Found) => /^image\/(?:tag|digest|registry)/.test(rule));
}

test('a policy file of its own is named where it cannot be read', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({ [FILE]: catalog('quay.io/o/etcd:1') });
  const head = repository.commit({ 'README.md': 'x' }, { parents: [base] });
  const file = join(repository.directory, 'draft.yaml');
  writeFileSync(file, `${policy([])}unknown: 1\n`);
  const words = ['check', '--base', base, '--head', head, '--policy', 'draft.yaml'];
  const { exit, out } = await portolan(repository.directory, ...words);
  expect(exit).toBe(1);
  expect(out).toContain('cannot read the policy draft.yaml\n');
  expect(out).toContain('packages: not checked\n');
  expect(out).toContain('draft.yaml:4:1');
  expect(out).not.toContain('.github/portolan.yaml');
});

test.each([
  ['another bundle', 'quay.io/o/etcd:2', 1, 'graph/bundle-mutated'],
  ['the same bundle', 'quay.io/o/etcd:1', 0, 'no findings'],
])(
  'without a policy, the layout of the base branch is found, and %s is checked',
  async (_, image, code, part) => {
    const repository = makeRepository();
    onTestFinished(repository.remove);
    const file = 'products/fbc-4.20/etcd/index.yaml';
    const base = repository.commit({ [file]: catalog('quay.io/o/etcd:1'), 'README.md': 'x' });
    const head = repository.commit({ [file]: `${catalog(image)}\n` }, { parents: [base] });
    const { exit, out } = await portolan(repository.directory, 'check', '--base', base, '--head', head);
    expect([exit, out]).toEqual([code, expect.stringContaining(part)]);
    expect(out).not.toContain('layout/unmatched');
  },
);

describe('what the policy asks of commits', () => {
  const checkedWith = async (asked: string, message: string, author = 'anna'): Promise<Ran> => {
    const repository = makeRepository();
    onTestFinished(repository.remove);
    const base = repository.commit({ '.github/portolan.yaml': `${policy([])}commits: {${asked}}\n` });
    const head = repository.commit({ 'README.md': 'x' }, { parents: [base], message, author });
    return portolan(repository.directory, ...['check', '--base', base, '--head', head, '--author', 'anna']);
  };

  test.each([
    ['no line', 'a change', 'anna'],
    ['the line of somebody else', 'a change\n\nSigned-off-by: bob <bob@example.com>', 'anna'],
    ['a line for another author', 'a change\n\nSigned-off-by: anna <anna@example.com>', 'bob'],
  ])('is read from git without a forge: %s is no sign-off', async (_, message, author) => {
    const { exit, out } = await checkedWith('signOff: true', message, author);
    expect([exit, out]).toEqual([1, expect.stringContaining('has no Signed-off-by line from its author')]);
  });

  test('is met by the line of the author', async () => {
    const { out } = await checkedWith('signOff: true', 'a\n\nSigned-off-by: anna <anna@example.com>');
    expect(out).not.toContain('Signed-off-by');
  });

  test('does not pass where only a forge can see it', async () => {
    const { exit, out } = await checkedWith('verified: true', 'a change');
    expect([exit, out]).toEqual([1, expect.stringContaining('can be seen on the pull request alone')]);
  });
});

test('a waiver that has expired is named with its place in the policy', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const waived = (until: string): string =>
    `${policy([])}waivers:\n- {rule: graph/stranded-v0, package: etcd, until: ${until}, reason: known}\n`;
  const base = repository.commit({ '.github/portolan.yaml': waived('2020-01-31') });
  const head = repository.commit({ [FILE]: catalog('quay.io/o/etcd:1') }, { parents: [base] });
  const { out } = await portolan(repository.directory, 'check', '--base', base, '--head', head);
  expect(out).toContain(
    'expired waiver: graph/stranded-v0 for etcd, until 2020-01-31 (.github/portolan.yaml:5:3)\n',
  );
  const later = repository.commit({ '.github/portolan.yaml': waived('2999-01-31') });
  const other = repository.commit({ [FILE]: catalog('quay.io/o/etcd:1') }, { parents: [later] });
  const { out: unexpired } = await portolan(repository.directory, 'check', '--base', later, '--head', other);
  expect(unexpired).not.toContain('expired waiver');
});

test('a template that comes without its catalog passes, and the first line says that no catalog was checked', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const template = '{"schema": "olm.template.basic", "entries": []}\n';
  const base = repository.commit({ '.github/portolan.yaml': policy([]), 'README.md': 'a' });
  const checkOf = async (files: Readonly<Record<string, string>>): Promise<Ran> => {
    const head = repository.commit(files, { parents: [base] });
    return portolan(repository.directory, 'check', '--base', base, '--head', head);
  };
  const alone = await checkOf({ 'catalog-template.json': template });
  expect(alone.exit).toBe(0);
  expect(alone.out).toMatch(
    /^PASS: all checks passed, but no catalog was checked: "catalog-template.json" is a template/,
  );
  expect(alone.out).toContain('not checked: catalog-template.json: it is a template');
  const semver = await checkOf({ 'v4.20/template.yaml': '---\nschema: olm.semver\n' });
  expect(semver.out).toContain('no catalog was checked');
  const both = await checkOf({ 'catalog-template.json': template, [FILE]: catalog('quay.io/o/etcd:1') });
  const other = await checkOf({ 'values.json': '{"schema": "olm.other"}\n', 'docs/a.md': template });
  for (const { out } of [both, other]) expect(out).not.toContain('no catalog was checked');
});

describe('images that a pull request brings', () => {
  test('are looked up, and only these', async () => {
    const far = await registry();
    const ran = await checked(far, `${far.host}/org/etcd:new`, [far.host]);
    expect(ran.exit).toBe(1);
    expect(found(ran)).toMatchObject([
      { rule: 'image/tag-missing', catalogs: ['v4.20'], location: { file: FILE, line: 4 } },
    ]);
    expect(far.seen.filter(({ url }) => url.includes('gone'))).toEqual([]);
  });

  test('that exist pass', async () => {
    const far = await registry();
    const client = createRegistryClient({ plainHttp: [far.host], internal: [far.host] });
    const image = sampleImage();
    await pushImage(client, parseReference(`${far.host}/org/etcd:new`), { image });
    client.close();
    const ran = await checked(far, `${far.host}/org/etcd@${image.root.digest}`, [`${far.host}/org`]);
    expect(ran.exit).toBe(0);
    expect(found(ran)).toEqual([]);
  });

  test('are not asked for where the policy does not allow it', async () => {
    const far = await registry();
    const ran = await checked(far, `${far.host}/org/etcd:new`, ['quay.io']);
    expect(found(ran)).toMatchObject([{ rule: 'image/registry' }]);
    expect(far.seen).toEqual([]);
  });

  test('are not asked for at all without a policy for registries', async () => {
    const far = await registry();
    const ran = await checked(far, `${far.host}/org/etcd:new`, []);
    expect(found(ran)).toEqual([]);
    expect(far.seen).toEqual([]);
  });

  test('cannot be told when the registry keeps them to itself', async () => {
    const far = await registry({ access: { kind: 'token', accounts: { anna: 'x' } } });
    const ran = await checked(far, `${far.host}/org/etcd:new`, [far.host]);
    expect(ran.exit).toBe(2);
    const { verdict, unchecked } = JSON.parse(ran.out);
    expect(verdict).toBe('inconclusive');
    expect(unchecked).toEqual([{ what: `1 reference in ${far.host}`, why: expect.any(String) }]);
  });
});

describe('a policy that does not enforce', () => {
  const POLICY_FILE = '.github/portolan.yaml';
  const HEAD = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: [anna]}\n';
  const TWO = catalog('quay.io/org/a:1', 'quay.io/org/a:2');
  // Another version that replaces nothing: a second head.
  const BROKEN = TWO.replace(',"replaces":"etcd.v1.0.0"', '');

  function checkedUnder(
    policyText: string,
    changed: string,
    more: Record<string, string> = {},
  ): Promise<Ran> {
    const repository = makeRepository();
    onTestFinished(repository.remove);
    const base = repository.commit({ [FILE]: catalog('quay.io/org/a:1'), [POLICY_FILE]: HEAD + policyText });
    const head = repository.commit({ [FILE]: changed, ...more }, { parents: [base] });
    const format = ['--author', 'anna'];
    return portolan(repository.directory, 'check', '--base', base, '--head', head, ...format);
  }

  const firstLine = ({ out }: Ran): string => out.slice(0, out.indexOf('\n'));

  test('fails the check as long as it enforces', async () => {
    expect(BROKEN).not.toBe(TWO);
    const ran = await checkedUnder('', BROKEN);
    expect([ran.exit, firstLine(ran)]).toEqual([
      1,
      expect.stringMatching(/^FAIL: etcd: channel "stable" has 2 heads/),
    ]);
  });

  test('says what would have failed, and exits with 0', async () => {
    const ran = await checkedUnder('enforce: off\n', BROKEN);
    expect(ran.exit).toBe(0);
    expect(firstLine(ran)).toMatch(/^OBSERVED: would have failed: etcd: channel "stable" has 2 heads/);
    expect(ran.out).toContain('observe only: the policy has enforce: off, so nothing is blocked');
  });

  test('says of a harmless change that it would have passed', async () => {
    const ran = await checkedUnder('enforce: off\n', TWO);
    expect([ran.exit, firstLine(ran)]).toEqual([
      0,
      'OBSERVED: would have passed: allowed, and all checks passed, with 2 warnings',
    ]);
  });

  test('cannot be switched by the pull request', async () => {
    const ran = await checkedUnder('', BROKEN, { [POLICY_FILE]: `${HEAD}enforce: off\n` });
    expect(ran.exit).toBe(1);
    expect(firstLine(ran)).not.toMatch(/would have/);
  });

  test('in one rule: its errors are reported and do not count, all others do', async () => {
    const rules = 'rules: {channel/head: {enforce: off}}\n';
    const ran = await checkedUnder(rules, BROKEN);
    expect(ran.out).toMatch(/error: .*\(channel\/head\)/);
    expect(ran.out).toContain('not enforced: errors of channel/head do not fail the check');
    expect([ran.exit, firstLine(ran)]).toEqual([
      0,
      'PASS: allowed, and all enforced checks passed; 1 error of rules that are not enforced, with 2 warnings',
    ]);
    const worse = BROKEN.replace('"defaultChannel":"stable"', '"defaultChannel":"gone"');
    const still = await checkedUnder(rules, worse);
    expect([still.exit, firstLine(still)]).toEqual([1, expect.stringMatching(/^FAIL: /)]);
    expect(firstLine(still)).not.toContain('channel/head');
  });
});
