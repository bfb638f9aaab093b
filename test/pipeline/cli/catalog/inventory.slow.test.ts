import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readFleet } from '../../../../pipeline/check/fleet/read-fleet.ts';
import { clusterApi } from '../../../../pipeline/cli/inventory/cluster-api.ts';
import { readSettings } from '../../../../pipeline/settings.ts';
import { selfSigned } from '../../../fakes/certificate.ts';
import { folder } from '../../../fakes/folder.ts';
import { runCommand } from '../../../fakes/terminal.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The rules of the ClusterRole in the documentation. */
function documentedRules(): readonly Rule[] {
  const page = readFileSync('docs/fleet.md', 'utf8');
  const [, text = ''] = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(page) ?? [];
  const { settings } = readSettings('role.yaml', new TextEncoder().encode(text));
  const role = settings?.value as { rules: Rule[] } | undefined;
  return role?.rules ?? [];
}

interface Asked {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly verb: string;
}

type Objects = Readonly<Record<string, readonly object[] | object>>;

interface FakeCluster {
  readonly server: string;
  readonly cert: string;
  readonly asked: Asked[];
  readonly seen: { readonly method: string; readonly url: URL }[];
}

const PAGE = 2;

/** An API server with some kinds of objects: it allows what the rules allow, and gives two objects a page. */
async function cluster(
  objects: Objects,
  { rules = documentedRules(), expires = 0, page = '', circle = false, location = '' } = {},
): Promise<FakeCluster> {
  const { key, cert } = selfSigned('127.0.0.1');
  const asked: Asked[] = [];
  const seen: { method: string; url: URL }[] = [];
  let left = expires;
  const answer = (request: IncomingMessage): [status: number, body: object] => {
    const url = new URL(request.url ?? '/', 'https://127.0.0.1');
    seen.push({ method: request.method ?? '', url });
    if (request.headers.authorization !== 'Bearer secret') return [401, { message: 'Unauthorized' }];
    const [, group = '', version = '', resource = '', name = ''] =
      /^\/apis\/([^/]+)\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    const verb = name === '' ? 'list' : 'get';
    asked.push({ group, resource, name, verb });
    const isAllowed = rules.some(
      (rule) =>
        rule.apiGroups.includes(group) &&
        rule.resources.includes(resource) &&
        rule.verbs.includes(verb) &&
        (rule.resourceNames?.includes(name) ?? true),
    );
    if (request.method !== 'GET' || !isAllowed) return [403, { message: `cannot ${verb} ${resource}` }];
    const found = objects[`${group}/${version}/${resource}`];
    if (!found) return [404, { message: 'not found' }];
    if (!Array.isArray(found)) return [200, found];
    if (url.searchParams.get('limit') !== '500') return [400, { message: 'without a limit' }];
    const from = Number(url.searchParams.get('continue') ?? 0);
    if (from > 0 && left-- > 0) return [410, { message: 'The provided continue parameter is too old' }];
    if (circle) return [200, { metadata: { continue: '1' }, items: [] }];
    const more = from + PAGE < found.length ? String(from + PAGE) : '';
    return [200, { kind: 'List', metadata: { continue: more }, items: found.slice(from, from + PAGE) }];
  };
  const server = createServer({ key, cert }, (request, response) => {
    const [status, body] = answer(request);
    const to = location === '' ? {} : { location };
    response
      .writeHead(location === '' ? status : 302, { 'content-type': 'application/json', ...to })
      .end(page || JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, cert, asked, seen };
}

const subscription = (name: string, installedCSV: string, spec: object = {}): object => ({
  metadata: { name, namespace: 'n' },
  spec: { name, channel: 'alpha', source: 'secret-catalog', ...spec },
  status: { installedCSV },
});
const csv = (name: string, version: string): object => ({
  metadata: { name, namespace: 'n' },
  spec: { version },
});

const OLM_V0 = {
  'operators.coreos.com/v1alpha1/subscriptions': [
    subscription('etcd', 'etcdoperator.v0.9.4', { installPlanApproval: 'Manual' }),
    subscription('kiali', 'kiali.v1.0.0'),
    subscription('waiting', ''),
  ],
  'operators.coreos.com/v1alpha1/clusterserviceversions': [
    csv('etcdoperator.v0.9.4', '0.9.4'),
    csv('kiali.v1.0.0', '1.0.0'),
  ],
};
const VERSION = {
  'config.openshift.io/v1/clusterversions': {
    spec: { clusterID: '9b1f3c1e-1111-4c4c-8888-123456789abc' },
    status: {
      history: [
        { state: 'Partial', version: '4.19.1' },
        { state: 'Completed', version: '4.18.12' },
      ],
    },
  },
};
const OLM_V1 = {
  'olm.operatorframework.io/v1/clusterextensions': [
    {
      metadata: { name: 'argo' },
      spec: {
        source: { catalog: { packageName: 'argocd-operator', version: '<1.0.0', channels: ['alpha'] } },
      },
      status: { install: { bundle: { name: 'argocd-operator.v0.6.0', version: '0.6.0' } } },
    },
  ],
};

interface User {
  readonly user?: object;
  readonly cluster?: object;
}

function kubeconfig(
  { server, cert }: FakeCluster,
  { user = { token: 'secret' }, cluster: more = {} }: User = {},
): string {
  const directory = folder();
  const ca = Buffer.from(cert).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'secret-name',
    contexts: [{ name: 'secret-name', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': ca, ...more } }],
    users: [{ name: 'u', user }],
  };
  writeFileSync(join(directory, 'config'), JSON.stringify(config));
  return directory;
}

const inventory = (directory: string, ...words: string[]) =>
  runCommand(['inventory', '--kubeconfig', 'config', ...words], { directory });

describe('portolan inventory', () => {
  test('reads every page of what the documented ClusterRole allows, and nothing else', async () => {
    const far = await cluster({ ...OLM_V0, ...VERSION, ...OLM_V1 });
    const { exit, out, err } = await inventory(kubeconfig(far));
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      apiVersion: 'portolan/v1alpha1',
      kind: 'Fleet',
      rows: [
        {
          cluster: 'secret-name',
          platform: '4.18.12',
          olm: 'v0',
          package: 'etcd',
          csv: 'etcdoperator.v0.9.4',
          version: '0.9.4',
          channels: ['alpha'],
          catalog: 'secret-catalog',
          approval: 'Manual',
          namespace: 'n',
          object: 'etcd',
        },
        {
          cluster: 'secret-name',
          platform: '4.18.12',
          olm: 'v0',
          package: 'kiali',
          csv: 'kiali.v1.0.0',
          version: '1.0.0',
          channels: ['alpha'],
          catalog: 'secret-catalog',
          approval: 'Automatic',
          namespace: 'n',
          object: 'kiali',
        },
        {
          cluster: 'secret-name',
          platform: '4.18.12',
          olm: 'v1',
          package: 'argocd-operator',
          csv: 'argocd-operator.v0.6.0',
          version: '0.6.0',
          channels: ['alpha'],
          range: '<1.0.0',
          object: 'argo',
        },
      ],
    });
    expect(far.seen.every(({ method }) => method === 'GET')).toBe(true);
    // The role allows nothing that is not asked for.
    const used = new Set(
      far.asked.map(({ group, resource, name, verb }) => `${group} ${resource} ${name} ${verb}`),
    );
    const allowed = documentedRules().flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) => verbs.map((verb) => `${group} ${resource} ${name} ${verb}`)),
        ),
      ),
    );
    expect([...used].sort()).toEqual(allowed.sort());
  });

  test('what it prints is a fleet', async () => {
    const { out } = await inventory(kubeconfig(await cluster({ ...OLM_V0, ...VERSION })));
    const { fleet, bad } = readFleet([{ path: 'fleet.json', text: out }]);
    expect(bad).toEqual([]);
    expect(fleet.rows.map(({ installation }) => [installation.package, installation.platform])).toEqual([
      ['etcd', '4.18'],
      ['kiali', '4.18'],
    ]);
  });

  test('--anonymize leaves neither names of clusters nor of catalogs', async () => {
    const far = await cluster({ ...OLM_V0, ...VERSION });
    const { out } = await inventory(kubeconfig(far), '--anonymize');
    expect(out).not.toMatch(/secret|9b1f3c1e|127\.0\.0\.1/);
    expect(new Set(JSON.parse(out).rows.map((row: { cluster: string }) => row.cluster)).size).toBe(1);
    expect(JSON.parse(out).rows[0].cluster).toMatch(/^cluster-[0-9a-f]{12}$/);
    expect((await inventory(kubeconfig(far), '--anonymize')).out).toBe(out);
  });

  test('a list that expires is read once more; one that expires again is an error', async () => {
    const once = await inventory(kubeconfig(await cluster({ ...OLM_V0 }, { expires: 1 })));
    expect(once.exit).toBe(0);
    expect(JSON.parse(once.out).rows).toHaveLength(2);
    const twice = await inventory(kubeconfig(await cluster({ ...OLM_V0 }, { expires: 9 })));
    expect(twice).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining('continue parameter is too old'),
    });
  });

  test.each([
    ['without OLM', {}, 'has no OLM'],
    ['behind the page of a proxy', { page: '<html>' }, 'answered 200'],
    [
      'without a role',
      { rules: [] },
      'answered 403 to GET /apis/config.openshift.io/v1/clusterversions/version',
    ],
  ])('a cluster %s is an error', async (_, options, message) => {
    const far = await cluster({ ...VERSION }, options);
    expect(await inventory(kubeconfig(far))).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining(message),
    });
  });

  test('63: a cluster that repeats the token in its message', async () => {
    const token = 'a-token-of-the-test';
    const far = await cluster({ ...VERSION }, { page: JSON.stringify({ message: `no Bearer ${token}` }) });
    const { exit, out, err } = await inventory(kubeconfig(far, { user: { token } }));
    expect([exit, out]).toEqual([2, '']);
    expect(err).toContain('no Bearer ***');
    expect(err).not.toContain(token);
  });

  test.each([
    ['a credential plugin', { user: { exec: { command: 'aws' } } }, 'does not run credential plugins'],
    ['a password', { user: { username: 'a', password: 'b' } }, 'does not send passwords'],
    [
      'unverified certificates',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'does not skip the verification',
    ],
    ['impersonation', { user: { token: 'secret', as: 'admin' } }, 'does not impersonate'],
    [
      'a token with a line break',
      { user: { token: 'secret\nBearer-2' } },
      'cannot use the token or the certificate of context "secret-name"',
    ],
    [
      'a key that is not PEM',
      { user: { 'client-certificate-data': 'eA==', 'client-key-data': 'eA==' } },
      'cannot use the token or the certificate of context "secret-name"',
    ],
    ['plain HTTP', { cluster: { server: 'http://127.0.0.1' } }, 'expected https://HOST:PORT'],
    [
      'a password without a user name in the address',
      { cluster: { server: 'https://:Bearer@127.0.0.1' } },
      'the server of the cluster is "…@127.0.0.1"',
    ],
    [
      'another authority',
      {
        cluster: {
          'certificate-authority-data': Buffer.from(selfSigned('127.0.0.1').cert).toString('base64'),
        },
      },
      'cannot reach cluster',
    ],
    ['an old token', { user: { token: 'old' } }, 'answered 401'],
  ])('%s is refused, with a reason', async (_, user: User, message) => {
    const far = await cluster({ ...OLM_V0 });
    const ran = await inventory(kubeconfig(far, user));
    expect(ran).toMatchObject({ exit: 2, out: '' });
    expect(ran.err).toContain(message);
    expect(ran.err).not.toContain('Bearer');
  });

  test.each([
    [
      'a number among the Subscriptions',
      [7],
      'item 1 of /apis/operators.coreos.com/v1alpha1/subscriptions: not an object',
    ],
    [
      'a Subscription without a name',
      [subscription('', 'a.v1.0.0')],
      'item 1 of /apis/operators.coreos.com/v1alpha1/subscriptions: no metadata.name',
    ],
    [
      'an installedCSV that is a number',
      [subscription('a', 'a.v1.0.0'), { ...subscription('b', ''), status: { installedCSV: 7 } }],
      'item 2 of /apis/operators.coreos.com/v1alpha1/subscriptions: status.installedCSV is not a string',
    ],
    [
      'a status that is a list',
      [{ ...subscription('b', ''), status: ['a.v1.0.0'] }],
      'status.installedCSV is not a string',
    ],
  ])('%s is an error, and not one operator less', async (_, items, message) => {
    const far = await cluster({
      ...OLM_V0,
      'operators.coreos.com/v1alpha1/subscriptions': items as object[],
    });
    expect(await inventory(kubeconfig(far))).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining(message),
    });
  });

  test('channels of a ClusterExtension that are not strings are an error', async () => {
    const [one] = OLM_V1['olm.operatorframework.io/v1/clusterextensions'];
    const spec = { source: { catalog: { packageName: 'argocd-operator', channels: [7] } } };
    const far = await cluster({ 'olm.operatorframework.io/v1/clusterextensions': [{ ...one, spec }] });
    const { exit, err } = await inventory(kubeconfig(far));
    expect(exit).toBe(2);
    expect(err).toContain('spec.source.catalog.channels is not a list of strings');
  });

  test('a member called items hides no Subscription', async () => {
    const [one, ...rest] = OLM_V0['operators.coreos.com/v1alpha1/subscriptions'];
    const items = [{ ...one, items: [] }, ...rest];
    const far = await cluster({ ...OLM_V0, 'operators.coreos.com/v1alpha1/subscriptions': items });
    expect(JSON.parse((await inventory(kubeconfig(far))).out).rows).toHaveLength(2);
  });

  test('all pages of all lists share one limit of bytes', async () => {
    const { server, cert } = await cluster({ ...OLM_V0 });
    const access = { name: 'c', server, ca: cert, token: 'secret', certificate: undefined };
    const path = '/apis/operators.coreos.com/v1alpha1/subscriptions';
    const read = async (most: number): Promise<unknown> => {
      const api = clusterApi(access, most);
      onTestFinished(() => api.close());
      await api.list(path);
      return api.list(path);
    };
    expect(await read(10_000)).toHaveLength(3);
    await expect(read(700)).rejects.toThrow('the answers of cluster "c" have more than 700 bytes');
  });

  test('an answer that never ends is given up, though bytes come', async () => {
    const { key, cert } = selfSigned('127.0.0.1');
    const server = createServer({ key, cert }, (_, response) => {
      response.writeHead(200).write('[');
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const access = {
      name: 'c',
      server: `https://127.0.0.1:${port}`,
      ca: cert,
      token: '',
      certificate: undefined,
    };
    const api = clusterApi(access, 10_000_000, 100);
    onTestFinished(() => api.close());
    await expect(api.get('/apis')).rejects.toThrow('cannot reach cluster "c"');
  });

  test('a list that leads back to a page is an error', async () => {
    const far = await cluster({ ...OLM_V0 }, { circle: true });
    const { exit, err } = await inventory(kubeconfig(far));
    expect(exit).toBe(2);
    expect(err).toContain('leads back to an earlier page');
    expect(far.seen.length).toBeLessThan(5);
  });

  test('a redirect is not followed: nobody else gets the token', async () => {
    const other = await cluster({ ...OLM_V0 });
    const far = await cluster({ ...OLM_V0 }, { location: `${other.server}/apis` });
    const { exit, err } = await inventory(kubeconfig(far));
    expect(exit).toBe(2);
    expect(err).toContain('answered 302');
    expect(other.seen).toEqual([]);
  });

  test('a context that is named twice is read once', async () => {
    const far = await cluster({ ...OLM_V0 });
    const twice = await inventory(kubeconfig(far), '--context', 'secret-name', '--context', 'secret-name');
    expect(JSON.parse(twice.out).rows).toHaveLength(2);
  });

  test('files that the kubeconfig names are beside it; an unknown context is named', async () => {
    const far = await cluster({ ...OLM_V0 });
    const directory = kubeconfig(far, { user: { tokenFile: 'token' } });
    writeFileSync(join(directory, 'token'), 'secret\n');
    expect((await inventory(directory)).exit).toBe(0);
    const unknown = await inventory(directory, '--context', 'other');
    expect(unknown.err).toContain('has no context "other"');
    expect(unknown.err).toContain('--context secret-name');
  });

  test('the token in a file is the newer one; the one beside it is for a file without one', async () => {
    const far = await cluster({ ...OLM_V0 });
    const old = kubeconfig(far, { user: { token: 'old', tokenFile: 'token' } });
    writeFileSync(join(old, 'token'), 'secret\n');
    expect((await inventory(old)).exit).toBe(0);
    const empty = kubeconfig(far, { user: { token: 'secret', tokenFile: 'token' } });
    expect((await inventory(empty)).exit).toBe(0);
    writeFileSync(join(empty, 'token'), '\n');
    expect((await inventory(empty)).exit).toBe(0);
  });

  test('73: a kubeconfig of somebody else: no device is read, and no password of its address is shown', async () => {
    const far = await cluster({ ...OLM_V0 });
    const endless = await inventory(kubeconfig(far, { user: { tokenFile: '/dev/zero' } }));
    expect(endless).toMatchObject({ exit: 2 });
    expect(endless.err).toContain('/dev/zero, which');
    expect(endless.err).toContain('is not a regular file');
    const named = await inventory(kubeconfig(far, { cluster: { server: 'https://u:pass@word@host:6443' } }));
    expect(named).toMatchObject({ exit: 2 });
    expect(named.err).toContain('the server of the cluster is "…@host:6443"');
    expect(named.err).not.toContain('pass');
    const directory = kubeconfig(far, { user: { tokenFile: 'link' } });
    writeFileSync(join(directory, 'token'), 'secret\n');
    symlinkSync('token', join(directory, 'link'));
    expect((await inventory(directory)).exit).toBe(0);
  });
});
