/** A repository with one catalog on a forge, and the Kubernetes host that checks and publishes it as an account of the forge. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './folder.ts';
import { catalogOf } from './gate.ts';
import { kubernetesHost, type Pod } from './kubernetes.ts';
import type { Postgres } from './postgres.ts';
import type { RealRegistry } from './real-registry.ts';

export const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';

/** The catalog of a pull request that adds a version, and the same with an entry that follows nothing: two heads. */
export const ADDED: string = catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']);
export const TWO_HEADS: string = ADDED.replace(',"replaces":"etcd.v1.1.0"', '');

/** What the repository has: a catalog that is published, owned by bob, and a policy. @param admin as `bob#11` */
export function repositoryFiles({ host }: RealRegistry, admin: string): Readonly<Record<string, string>> {
  return {
    '.github/portolan.yaml': `apiVersion: portolan/v1alpha1
kind: Portolan
owners: {admins: ['${admin}']}
registries: {allow: ['${host}'], internal: ['${host}']}
rules: {image/*: off}
merge: {mode: auto}
publish: {catalogs: {'v4.20': {image: '${host}/sea/catalog:{catalog}'}}}
`,
    [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0']),
    'operators/etcd/ci.yaml': 'reviewers:\n- bob\n',
  };
}

/** The digest that the published tag names. */
export async function publishedDigest({ host, client }: RealRegistry): Promise<string | undefined> {
  const repository = { registry: host, repository: 'sea/catalog' };
  return (await client.resolve({ kind: 'tag', ...repository, tag: 'v4.20' }))?.digest;
}

export interface ForgeHost {
  readonly forge: 'forgejo' | 'gitlab';
  /** The forge's API. */
  readonly api: string;
  /** The account's. */
  readonly token: string;
  /** What webhooks are signed with. */
  readonly secret: string;
  /** As the forge names it, and its number there. */
  readonly repository: string;
  readonly id: number;
  /** Where it is fetched from. */
  readonly git: string;
  readonly registry: RealRegistry;
  readonly database: Postgres;
}

/** Starts the host's two processes. @returns the one that receives webhooks */
export async function startForgeHost(of: ForgeHost): Promise<Pod> {
  const secrets = folder();
  writeFileSync(join(secrets, 'webhook'), of.secret);
  writeFileSync(join(secrets, 'account'), JSON.stringify({ token: of.token }));
  const { git, repository, id } = of;
  const branch = 'main';
  const host = kubernetesHost({
    ...{ git, branch, registry: of.registry.host, github: 'http://127.0.0.1:9', database: of.database.url },
    more: {
      PATH: process.env['PATH'] ?? '',
      PORTOLAN_FORGE: of.forge,
      PORTOLAN_API: of.api,
      PORTOLAN_SOURCES: JSON.stringify([{ repository, id, branch, url: git }]),
      PORTOLAN_WEBHOOK_SECRET_FILE: join(secrets, 'webhook'),
      PORTOLAN_APP_SECRET_FILE: join(secrets, 'account'),
    },
  });
  const receiver = await host.start('receive');
  await host.start('work');
  return receiver;
}

/** Asks again until there is an answer: up to a minute. */
export async function eventually<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((done) => setTimeout(done, 150));
  }
  throw new Error('nothing happened');
}
