/**
 * A merge request on GitLab, from opened to published: the Kubernetes host hears of it by webhook, checks it, and publishes
 * what it merges. GitLab is the fake that its documentation describes; the host, PostgreSQL and the registry are real.
 */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  ADDED,
  CATALOG,
  eventually,
  publishedDigest,
  repositoryFiles,
  startForgeHost,
  TWO_HEADS,
} from '../fakes/forge-host.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import { openHub } from '../fakes/hub.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = POSTGRES !== undefined && isOnPath('docker-registry');

beforeAll(() => {
  if (isComplete) buildProgram();
});

const SECRET = 'the token of the webhook';
/** GitLab's number of the project. */
const PROJECT = 1;

describe.runIf(isComplete)('with postgres and docker-registry', () => {
  test('a merge request is opened, checked, approved, merged and published', {
    timeout: 120_000,
  }, async () => {
    const server = await postgres();
    const registry = await dockerRegistry();

    // The project has a catalog, and a policy that names bob as admin.
    const project = await openHub(repositoryFiles(registry, 'bob#11'));
    onTestFinished(() => project.close());
    const gitlab = await fakeGitLab(project);

    // The host's two processes, set up as docs/gitlab.md says.
    const receiver = await startForgeHost({
      ...{ forge: 'gitlab', api: gitlab.api, token: GITLAB_TOKEN, secret: SECRET },
      ...{ repository: 'example/catalogs', id: PROJECT, git: `${project.forge.url}/example/catalogs.git` },
      ...{ registry, database: server },
    });
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
        const isSaid = last && last.state !== not && last.description !== 'the check is running';
        return isSaid ? `${last.state}: ${last.description}` : undefined;
      });

    // mallory opens a merge request. Its channel has two heads.
    const pull = project.open({ [CATALOG]: TWO_HEADS }, { author: 'mallory' });
    const about = (action: string) => ({
      object_attributes: { iid: pull.number, action, oldrev: pull.head },
    });
    expect(await hook('Merge Request Hook', about('open'), 'a guess')).toBe(401);
    expect(await hook('Merge Request Hook', about('open'))).toBe(202);
    expect(await said(pull.head)).toMatch(/^failed: etcd: channel "stable" has 2 heads/);

    // The next commit repairs it. An owner must approve.
    const repaired = { [CATALOG]: ADDED };
    const branch = `pull-${pull.number}`;
    pull.head = project.repository.commit(repaired, { parents: [pull.head], branch, author: 'mallory' });
    await hook('Merge Request Hook', about('update'));
    const note = await eventually(() => gitlab.notes.find(({ body }) => body.includes('⏳'))?.body);
    // GitLab keeps the description of a status that is pending already: the note says what is missing.
    expect(gitlab.statuses.findLast(({ sha }) => sha === pull.head)?.state).toBe('pending');
    expect(note).toContain('bob');
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
    expect(await publishedDigest(registry)).toMatch(/^sha256:/);
  });
});
