/** From a tag to its digest: what the check recommends is what it accepts, and nothing else passes for it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { formatLock } from '../../catalog/references/lock.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { folder } from '../fakes/folder.ts';
import { sampleImage } from '../fakes/image.ts';
import { dockerRegistry, type RealRegistry } from '../fakes/real-registry.ts';
import { portolan, type Ran } from '../fakes/terminal.ts';
import { isOnPath } from '../fakes/tools.ts';

const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';
const LOCK = 'catalogs/v4.20.lock.json';

interface Loop {
  readonly git: (...words: readonly string[]) => string;
  readonly write: (path: string, text: string) => void;
  readonly read: (path: string) => string;
  readonly portolan: (...words: readonly string[]) => Promise<Ran>;
  /** Commits everything on a branch of its own, and checks it. */
  readonly checked: (branch: string) => Promise<Ran>;
}

const catalog = (host: string): string => `---
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v1.0.0
---
schema: olm.bundle
name: etcd.v1.0.0
package: etcd
image: ${host}/org/etcd:v1
relatedImages:
- {name: operator, image: '${host}/org/operator:v1'}
properties:
- type: olm.package
  value: {packageName: etcd, version: 1.0.0}
`;

async function loop({ host, client, options }: RealRegistry, allow: string): Promise<Loop> {
  for (const name of ['etcd:v1', 'operator:v1', 'etcd:other']) {
    await pushImage(client, parseReference(`${host}/org/${name}`), {
      image: sampleImage({ layers: [name] }),
    });
  }
  const root = folder();
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      encoding: 'utf8',
    });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  git('init', '--quiet', '--initial-branch=main');
  write(
    POLICY_PATH,
    `apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: ['alice#1']}\n${allow}`,
  );
  write(CATALOG, catalog(host));
  git('add', '.');
  git('commit', '--quiet', '--message=base');
  const checked = async (branch: string): Promise<Ran> => {
    git('checkout', '--quiet', '-b', branch);
    git('add', '.');
    git('commit', '--quiet', '--message=pins');
    const ran = await portolan(
      root,
      'check',
      '--base',
      'main',
      '--head',
      branch,
      '--format',
      'json',
      ...options,
    );
    git('checkout', '--quiet', 'main');
    return ran;
  };
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  return { git, write, read, checked, portolan: (...words) => portolan(root, ...words, ...options) };
}

/** The rules that fail, and the classes of the change. */
function verdictOf({ out }: Ran): { verdict: string; errors: string[]; classes: string[] } {
  const { verdict, findings, packages } = JSON.parse(out) as {
    verdict: string;
    findings: { rule: string; severity: string }[];
    packages: { classes: string[] }[];
  };
  const errors = findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
  return { verdict, errors, classes: packages.flatMap((one) => one.classes) };
}

const allowed = ({ host }: RealRegistry): string =>
  `registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`;

describe.skipIf(!isOnPath('docker-registry'))('a catalog that names tags', () => {
  test('is told to pin them; resolve pins them, and the check accepts that as the same images', async () => {
    const registry = await dockerRegistry();
    const { portolan: ran, checked, read } = await loop(registry, allowed(registry));
    const audit = await ran('audit', 'catalogs/v4.20');
    expect(audit.out).toContain('image/unpinned');
    expect(audit.out).toContain('portolan resolve DIR --write');
    expect(await ran('resolve', 'catalogs/v4.20', '--lock', LOCK, '--write')).toMatchObject({ exit: 0 });
    expect(read(CATALOG)).not.toContain(`${registry.host}/org/etcd:v1`);
    expect(verdictOf(await checked('pins'))).toMatchObject({
      verdict: 'pass',
      errors: [],
      classes: ['edit-graph'],
    });
  });

  test('may not be pinned to something else: that is another image', async () => {
    const registry = await dockerRegistry();
    const { portolan: ran, checked, read, write } = await loop(registry, allowed(registry));
    write(CATALOG, catalog(registry.host).replace('etcd:v1', 'etcd:other'));
    await ran('resolve', 'catalogs/v4.20', '--write');
    // The author's own lock confirms nothing.
    const digest = /etcd@(sha256:\w+)/.exec(read(CATALOG))?.[1] ?? '';
    write(LOCK, formatLock({ digests: new Map([[`${registry.host}/org/etcd:v1`, digest]]) }));
    expect(verdictOf(await checked('other'))).toMatchObject({
      verdict: 'fail',
      errors: ['graph/bundle-mutated'],
      classes: ['mutate-published'],
    });
  });

  test('without a registry: a lock that was merged confirms the pins, the lock of the change itself does not', async () => {
    const registry = await dockerRegistry();
    const { portolan: ran, checked, git, read, write } = await loop(registry, '');
    await ran('resolve', 'catalogs/v4.20', '--lock', LOCK, '--write');
    const [pinned, lock] = [read(CATALOG), read(LOCK)];
    const alone = await checked('alone');
    expect(verdictOf(alone)).toMatchObject({ verdict: 'fail', errors: ['graph/bundle-mutated'] });
    expect(alone.out).toContain('nothing confirms that the tag points to the digest');
    expect(alone.out).toContain('registries.allow');
    write(LOCK, lock);
    git('add', '.');
    git('commit', '--quiet', '--message=lock');
    write(CATALOG, pinned);
    expect(verdictOf(await checked('after-lock'))).toMatchObject({ verdict: 'pass', errors: [] });
  });

  test('when the registry does not respond, nobody can tell', async () => {
    const registry = await dockerRegistry();
    const closed = 'registry.invalid';
    const { checked, read, write, git } = await loop(registry, `registries: {allow: ['${closed}']}\n`);
    write(CATALOG, read(CATALOG).replaceAll(registry.host, closed));
    git('commit', '--quiet', '--all', '--message=elsewhere');
    const digest = `@sha256:${'a'.repeat(64)}`;
    write(CATALOG, read(CATALOG).replace('etcd:v1', `etcd${digest}`));
    const ran = await checked('silent');
    expect(ran.exit).toBe(2);
    expect(verdictOf(ran)).toMatchObject({ verdict: 'inconclusive', errors: [] });
  });
});
