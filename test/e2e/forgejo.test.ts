/**
 * A pull request on a real Gitea, from opened to published: the Kubernetes host hears of it by webhook, checks it,
 * and publishes its merge. Forgejo has the same API.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { folder, writeBelow } from '../fakes/folder.ts';
import {
  ADDED,
  CATALOG,
  eventually,
  publishedDigest,
  repositoryFiles,
  startForgeHost,
  TWO_HEADS,
} from '../fakes/forge-host.ts';
import { GITEA, gitea } from '../fakes/gitea.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = GITEA !== undefined && POSTGRES !== undefined && isOnPath('docker-registry');

beforeAll(() => {
  if (isComplete) buildProgram();
});

const SECRET = 'what Gitea signs with';
const PAGE = readFileSync('docs/forgejo.md', 'utf8');

/** A clone in which files are written, committed and pushed. */
function clone(url: string, who: string) {
  const at = folder();
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-c', `user.name=${who}`, '-c', `user.email=${who}@example.com`, ...words], {
      cwd: at,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  git('clone', '--quiet', url, '.');
  return {
    /** @returns id of the commit */
    push: (branch: string, files: Readonly<Record<string, string>>): string => {
      git('checkout', '--quiet', '-B', branch);
      writeBelow(at, files);
      git('add', '.');
      git('commit', '--quiet', '--message', `change ${Object.keys(files).join(' ')}`);
      git('push', '--quiet', 'origin', branch);
      return git('rev-parse', 'HEAD');
    },
  };
}

describe.runIf(isComplete)('with gitea, postgres and docker-registry', () => {
  test('a pull request is opened, checked, approved, merged and published', {
    timeout: 400_000,
  }, async () => {
    const server = await postgres();
    const forge = await gitea(server);
    const registry = await dockerRegistry();
    const bob = await forge.user('bob');
    const mallory = await forge.user('mallory');
    // The token has the scopes that docs/forgejo.md names.
    const [, scopes = ''] = /create a\s+token with ([^.]*)\./.exec(PAGE) ?? [];
    const portolan = await forge.user(
      'portolan',
      [...scopes.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one),
    );

    // bob's repository has a catalog, and a policy that names him as admin.
    const at = '/repos/bob/catalogs';
    const { id } = await bob.ask('POST', '/user/repos', {
      name: 'catalogs',
      auto_init: true,
      default_branch: 'main',
    });
    await bob.ask('PUT', `${at}/collaborators/portolan`, { permission: 'write' });
    clone(bob.git('bob/catalogs'), 'bob').push('main', repositoryFiles(registry, `bob#${bob.id}`));

    // The host's two processes know the repository by its number, and ask as the account portolan.
    const receiver = await startForgeHost({
      ...{ forge: 'forgejo', api: `${forge.url}/api/v1`, token: portolan.token, secret: SECRET },
      ...{ repository: 'bob/catalogs', id, git: `${forge.url}/bob/catalogs.git`, registry, database: server },
    });

    // Set up as docs/forgejo.md says: a webhook, and a branch that requires the status.
    await bob.ask('POST', `${at}/hooks`, {
      type: 'gitea',
      config: { url: `${receiver.url}/webhook`, content_type: 'json', secret: SECRET },
      events: [
        'push',
        'pull_request',
        'pull_request_sync',
        'pull_request_label',
        'pull_request_review',
        'status',
      ],
      active: true,
    });
    const required = { enable_status_check: true, status_check_contexts: ['portolan'] };
    await bob.ask('POST', `${at}/branch_protections`, {
      rule_name: 'main',
      block_admin_merge_override: true,
      ...required,
    });

    /** The newest status of a name, once it is as expected. */
    const said = (commit: string, expected: RegExp, context = 'portolan') => {
      const seen = new Set<string>();
      return eventually(async () => {
        const all: { context: string; status: string; description: string }[] = await bob.ask(
          'GET',
          `${at}/commits/${commit}/statuses`,
        );
        const last = all.filter((one) => one.context === context).at(0);
        const text = `${last?.status}: ${last?.description}`;
        seen.add(text);
        return expected.test(text) ? text : undefined;
      }).catch(() => expect([...seen], 'what was said').toContainEqual(expect.stringMatching(expected)));
    };

    // mallory opens a pull request from a fork. Its channel has two heads.
    await mallory.ask('POST', `${at}/forks`, {});
    const fork = clone(mallory.git('mallory/catalogs'), 'mallory');
    const broken = fork.push('etcd-1.2.0', { [CATALOG]: TWO_HEADS });
    const { number } = await mallory.ask('POST', `${at}/pulls`, {
      ...{ title: 'etcd 1.2.0', head: 'mallory:etcd-1.2.0', base: 'main' },
    });
    const pull = `${at}/pulls/${number}`;
    await said(broken, /^failure: .*channel "stable" has 2 heads/);
    const [review] = await eventually(async () => {
      const all = await bob.ask('GET', `${pull}/reviews`);
      return all.length > 0 ? all : undefined;
    });
    const [line] = await bob.ask('GET', `${pull}/reviews/${review.id}/comments`);
    expect(line).toMatchObject({ path: CATALOG, user: { login: 'portolan' } });
    expect(line.body).toContain('channel/head');

    // The next commit repairs it. An owner must approve, and Gitea refuses the merge until then.
    const head = fork.push('etcd-1.2.0', { [CATALOG]: ADDED });
    await said(head, /^pending: .*bob/);
    const comment = await eventually(async () => {
      const all: { body: string }[] = await bob.ask('GET', `${at}/issues/${number}/comments`);
      return all.find(({ body }) => body.includes('⏳'))?.body;
    });
    expect(comment).toContain('Portolan does not merge on Forgejo or Gitea: people may hide who pushed');
    expect(await bob.ask('GET', `${pull}/reviews`), 'the review of the old findings').toEqual([]);
    const merge = { Do: 'squash', head_commit_id: head };
    await expect(bob.ask('POST', `${pull}/merge`, merge)).rejects.toThrow(/^405/);

    // bob approves.
    await bob.ask('POST', `${pull}/reviews`, { event: 'APPROVED', commit_id: head });
    await said(head, /^success: /);

    // A second pull request with the same head, to a branch whose policy blocks mallory: its worse result counts.
    const { [POLICY_PATH]: policy = '' } = repositoryFiles(registry, `bob#${bob.id}`);
    const blocked = policy.replace('owners: {', `owners: {blocked: ['mallory#${mallory.id}'], `);
    clone(bob.git('bob/catalogs'), 'bob').push('release', { [POLICY_PATH]: blocked });
    const { number: second } = await mallory.ask('POST', `${at}/pulls`, {
      ...{ title: 'the same', head: 'mallory:etcd-1.2.0', base: 'release' },
    });
    await said(head, new RegExp(`^failure: #${second} to release \\(same commit: #${number} to main\\)`));
    await expect(bob.ask('POST', `${pull}/merge`, merge)).rejects.toThrow(/^405/);
    await bob.ask('PATCH', `${at}/pulls/${second}`, { state: 'closed' });
    await said(head, /^success: /);

    // Somebody with write permission sets it to failure: it is set again.
    await bob.ask('POST', `${at}/statuses/${head}`, {
      context: 'portolan',
      state: 'failure',
      description: 'no',
    });
    await said(head, /^success: /);

    // bob merges, since Portolan does not on this forge.
    await bob.ask('POST', `${pull}/merge`, merge);
    const { merge_commit_sha: merged } = await bob.ask('GET', pull);
    await said(merged, /^success: /, 'portolan/publish v4.20');
    expect(await publishedDigest(registry)).toMatch(/^sha256:/);
  });
});
