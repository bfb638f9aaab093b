/**
 * A merge request on GitLab, from opened to published: the Kubernetes host hears of it by webhook, checks it, and publishes
 * what it merges. GitLab is the fake that its documentation describes; the host, PostgreSQL and the registry are real.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { catalogOf } from '../fakes/gate.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import { openHub } from '../fakes/hub.ts';
import { kubernetesHost } from '../fakes/kubernetes.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = POSTGRES !== undefined && isOnPath('docker-registry');

beforeAll(() => {
  if (isComplete) buildProgram();
});

const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';
const SECRET = 'the token of the webhook';
/** GitLab's number of the project. */
const PROJECT = 1;

/** Asks again until there is an answer. */
async function eventually<T>(ask: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const answer = ask();
    if (answer !== undefined) return answer;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('nothing happened');
}

describe.runIf(isComplete)('with postgres and docker-registry', () => {
  test('a merge request is opened, checked, approved, merged and published', {
    timeout: 120_000,
  }, async () => {
    const server = await postgres();
    const registry = await dockerRegistry();

    // The project has a catalog, and a policy that names bob as admin.
    const image = `${registry.host}/sea/catalog:{catalog}`;
    const project = await openHub({
      '.github/portolan.yaml': `apiVersion: portolan/v1alpha1
kind: Portolan
owners: {admins: ['bob#11']}
registries: {allow: ['${registry.host}'], internal: ['${registry.host}']}
rules: {image/*: off}
merge: {mode: auto}
publish: {catalogs: {'v4.20': {image: '${image}'}}}
`,
      [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0']),
      'operators/etcd/ci.yaml': 'reviewers:\n- bob\n',
    });
    onTestFinished(() => project.close());
    const gitlab = await fakeGitLab(project);

    // The host's two processes, set up as docs/gitlab.md says.
    const secrets = folder();
    writeFileSync(join(secrets, 'webhook'), SECRET);
    writeFileSync(join(secrets, 'account'), JSON.stringify({ token: GITLAB_TOKEN }));
    const git = `${project.forge.url}/example/catalogs.git`;
    const source = { repository: 'example/catalogs', id: PROJECT, branch: 'main', url: git };
    const host = kubernetesHost({
      ...{ git, branch: 'main', registry: registry.host, github: 'http://127.0.0.1:9', database: server.url },
      more: {
        PATH: process.env['PATH'] ?? '',
        PORTOLAN_FORGE: 'gitlab',
        PORTOLAN_API: gitlab.api,
        PORTOLAN_SOURCES: JSON.stringify([source]),
        PORTOLAN_WEBHOOK_SECRET_FILE: join(secrets, 'webhook'),
        PORTOLAN_APP_SECRET_FILE: join(secrets, 'account'),
      },
    });
    const [receiver] = [await host.start('receive'), await host.start('work')];
    const hook = async (event: string, body: object, token = SECRET): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        'x-gitlab-event': event,
        'x-gitlab-token': token,
      };
      const text = JSON.stringify({ project: { id: PROJECT }, ...body });
      return (await fetch(`${receiver.url}/webhook`, { method: 'POST', headers, body: text })).status;
    };
    const said = (commit: string, name = 'portolan', not = '') =>
      eventually(() => {
        const last = gitlab.statuses.findLast((one) => one.sha === commit && one.name === name);
        return last && last.state !== not ? `${last.state}: ${last.description}` : undefined;
      });

    // mallory opens a merge request. Its channel has two heads.
    const two = catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']).replace(',"replaces":"etcd.v1.1.0"', '');
    const pull = project.open({ [CATALOG]: two }, { author: 'mallory' });
    const about = (action: string) => ({
      object_attributes: { iid: pull.number, action, oldrev: pull.head },
    });
    expect(await hook('Merge Request Hook', about('open'), 'a guess')).toBe(401);
    expect(await hook('Merge Request Hook', about('open'))).toBe(202);
    expect(await said(pull.head)).toMatch(/^failed: 1 error.*channel\/head/);

    // The next commit repairs it. An owner must approve.
    const repaired = { [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
    const branch = `pull-${pull.number}`;
    pull.head = project.repository.commit(repaired, { parents: [pull.head], branch, author: 'mallory' });
    await hook('Merge Request Hook', about('update'));
    expect(await said(pull.head)).toMatch(/^pending: needs .*bob/);
    const note = await eventually(() => gitlab.notes.find(({ body }) => body.includes('⏳'))?.body);
    expect(note).toContain('Portolan does not merge on GitLab: approvals do not name the commit');

    // bob approves.
    pull.reviews.push({ by: 'bob', state: 'APPROVED', commit: pull.head });
    await hook('Merge Request Hook', about('approval'));
    expect(await said(pull.head, 'portolan', 'pending')).toMatch(/^success: allowed, and all checks passed/);
    await eventually(() => gitlab.notes.find(({ body }) => !body.includes('⏳')));
    expect(gitlab.notes, 'one note, written over').toHaveLength(1);

    // bob merges, since Portolan does not on this forge.
    const before = project.base();
    const after = project.moveBase(repaired, pull.head);
    pull.state = 'closed';
    await hook('Push Hook', { ref: 'refs/heads/main', before, after });
    expect(await said(after, 'portolan/publish v4.20', 'pending')).toMatch(/^success: /);
    const tag = await registry.client.resolve({
      kind: 'tag',
      registry: registry.host,
      repository: 'sea/catalog',
      tag: 'v4.20',
    });
    expect(tag?.digest).toMatch(/^sha256:/);
  });
});
