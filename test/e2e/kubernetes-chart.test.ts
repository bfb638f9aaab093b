/** The chart and the kustomize base: what they write is valid, may run where OpenShift restricts pods, and starts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { telemetryOf } from '../../functions/kubernetes/telemetry.ts';
import { fakeGitHub } from '../fakes/cloud.ts';
import {
  confinementOf,
  HAS_ROOT,
  type Namespace,
  type PodSpec,
  startContainer,
  USER,
} from '../fakes/container.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { POSTGRES, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { sampleFiles, sampleRepository } from '../fakes/sample.ts';
import { isOnPath } from '../fakes/tools.ts';

const CHART = 'functions/kubernetes/chart';
const BASE = 'functions/kubernetes/kustomize';
/** helm that was built from its module takes itself for a very old one. */
const CLUSTER = ['--kube-version', '1.34.0'];
const DIGEST = `sha256:${'0'.repeat(64)}`;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

const LEAST = {
  image: { repository: 'quay.io/sea/portolan', digest: DIGEST },
  sources: [
    { repository: 'sea/catalogs', id: 1, branch: 'main', url: 'https://github.com/sea/catalogs.git' },
  ],
};
const named = (name: string) => ({ secret: { name } });
const ALL = {
  ...LEAST,
  app: named('app'),
  registries: named('registries'),
  signing: named('signing'),
  trustedCa: { configMap: 'trusted' },
  documents: { bucket: 'documents', endpoint: 'https://s3.example.com', secret: 's3' },
  audience: 'https://portolan.example.com',
  proxy: { http: 'http://proxy.example.com:3128', https: '', except: '.svc' },
  keda: { enabled: true },
  drift: { enabled: true },
  route: { enabled: true, host: 'portolan.apps.example.com' },
  ingress: { enabled: true, host: 'portolan.example.com', tlsSecret: 'tls', className: 'nginx' },
  networkPolicy: { ports: [5000] },
  serviceMonitor: { enabled: true, labels: { team: 'sea' } },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'catalogs', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'noisy' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
  priorityClassName: 'high',
  podAnnotations: { 'sidecar.istio.io/inject': 'false' },
  podLabels: { team: 'sea' },
  extraEnv: [{ name: 'AWS_REGION_OF_ECR', value: 'eu-west-1' }],
  serviceAccount: {
    annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/portolan' },
  },
  keepDays: { outcomes: 30, documents: 365 },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  dashboard: { enabled: true, labels: { grafana_dashboard: 'yes' } },
};

/** What helm writes, and what it says where it refuses. */
function template(
  values: object,
  chart: string = CHART,
): { readonly text: string; readonly refusal: string } {
  const file = join(folder(), 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const words = ['template', 'portolan', chart, ...CLUSTER, '--values', file];
  const { stdout, stderr, status } = spawnSync('helm', words, { encoding: 'utf8' });
  return { text: stdout, refusal: status === 0 ? '' : stderr };
}

type Tree = { readonly [key: string]: unknown };

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function merged(below: Tree, above: Tree): Tree {
  const both = Object.entries(above).map(([key, value]) => {
    const under = below[key];
    return [key, isTree(under) && isTree(value) ? merged(under, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(both) };
}

/** Paths of all values that are no folders of others; what has no keys yet is one itself. */
function leavesOf(tree: Tree, at: readonly string[] = []): string[][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    isTree(value) && Object.keys(value).length > 0 ? leavesOf(value, [...at, key]) : [[...at, key]],
  );
}

function valueAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Tree)[key], tree);
}

function changedAt(tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): Tree {
  return { ...tree, [key]: rest.length === 0 ? value : changedAt(tree[key] as Tree, rest, value) };
}

/** Another value of the same type that the schema allows. */
function other(path: readonly string[], value: unknown): unknown {
  const name = path.join('.');
  const own = OTHERS[name];
  if (own !== undefined) return own;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (isTree(value)) return { other: 'value' };
  if (Array.isArray(value)) return [...value, typeof value[0] === 'number' ? 6000 : (value[0] ?? 'other')];
  return /^https?:/.test(String(value)) ? `${value}.other` : `${value}other`;
}

const OTHERS: Readonly<Record<string, unknown>> = {
  'image.digest': `sha256:${'1'.repeat(64)}`,
  'image.pullPolicy': 'Always',
  'forge.kind': 'gitlab',
  issuer: 'https://issuer.example.com',
  githubApi: 'https://github.example.com/api/v3',
  pages: 'https://pages.example.com',
  'work.cache': '1Gi',
  'reconcile.schedule': '1 * * * *',
  'drift.schedule': '1 1 * * *',
  extraEnv: [],
  tolerations: [],
  sources: [{ ...LEAST.sources[0], branch: 'other' }],
};

function manifests(text: string): Manifest[] {
  return (loadAll(text) as (Manifest | null)[]).filter((one) => one !== null);
}

function podsIn(text: string): { readonly name: string; readonly pod: PodSpec }[] {
  return manifests(text).flatMap(({ kind, metadata: { name }, spec }) => {
    if (kind === 'Pod') return [{ name, pod: spec as unknown as PodSpec }];
    const holder = kind === 'CronJob' ? (spec as never)['jobTemplate']['spec'] : spec;
    if (kind !== 'CronJob' && kind !== 'Deployment') return [];
    return [{ name, pod: (holder as never)['template']['spec'] as PodSpec }];
  });
}

/** What the SCC restricted-v2 and the pod security standard "restricted" refuse, each as a line. */
function violations({ containers, volumes = [], securityContext = {}, ...pod }: PodSpec): string[] {
  const allowed = [
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ];
  const wrong = ['hostNetwork', 'hostPID', 'hostIPC'].filter((name) => name in pod);
  if (securityContext['runAsNonRoot'] !== true) wrong.push('runAsNonRoot');
  // The namespace's range decides: a fixed one is outside of it.
  for (const name of ['runAsUser', 'fsGroup', 'seLinuxOptions'])
    if (name in securityContext) wrong.push(name);
  if ((securityContext['seccompProfile'] as { type?: string })?.type !== 'RuntimeDefault')
    wrong.push('seccompProfile');
  for (const volume of volumes)
    for (const kind of Object.keys(volume))
      if (kind !== 'name' && !allowed.includes(kind)) wrong.push(`volume ${kind}`);
  for (const { name, securityContext: own = {}, ports = [] } of containers) {
    const { drop, add } = (own['capabilities'] ?? {}) as { drop?: string[]; add?: string[] };
    if (own['allowPrivilegeEscalation'] !== false || own['privileged'] === true)
      wrong.push(`${name} gains rights`);
    if (drop?.join() !== 'ALL' || add !== undefined) wrong.push(`${name} has capabilities`);
    if (own['readOnlyRootFilesystem'] !== true) wrong.push(`${name} writes its root`);
    if ('runAsUser' in own) wrong.push(`${name} has a fixed user`);
    for (const port of ports)
      if ('hostPort' in port || port.containerPort < 1024)
        wrong.push(`${name} wants port ${port.containerPort}`);
  }
  return wrong;
}

describe.skipIf(!['helm', 'kubernetes-validate', 'kustomize'].every(isOnPath))('the chart', () => {
  test.each([
    ['the least', LEAST],
    ['everything', ALL],
  ])('with %s is linted, and what it writes is valid by the schemas of Kubernetes', (_, values) => {
    const file = join(folder(), 'values.json');
    writeFileSync(file, JSON.stringify(values));
    execFileSync('helm', ['lint', '--strict', ...CLUSTER, CHART, '--values', file], { stdio: 'pipe' });
    const { text, refusal } = template(values);
    expect(refusal).toBe('');
    expectValid(text);
  });

  test.each<[string, object, RegExp]>([
    ['no image', { sources: LEAST.sources }, /image\.repository is not set/],
    ['no tag or digest', { ...LEAST, image: { repository: 'x' } }, /image\.digest is not set/],
    ['no sources', { image: LEAST.image }, /sources is empty/],
    ['a source without its number', { ...LEAST, sources: [{ ...LEAST.sources[0], id: 'x' }] }, /id/],
    ['an unknown key', { ...LEAST, replicas: 3 }, /replicas/],
    ['a password in place of a reference', { ...LEAST, database: { url: 'postgres://x' } }, /url/],
    ['no webhook secret', { ...LEAST, webhook: { secret: { name: '' } } }, /webhook/],
    ['no receiver', { ...LEAST, receive: { replicas: 0 } }, /replicas/],
  ])('with %s is refused', (_, values, why) => {
    expect(template(values).refusal).toMatch(why);
  });

  test('every value changes what the chart writes, wherever it stands', () => {
    const defaults = load(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Tree;
    const whole = merged(merged(defaults, ALL as Tree), {
      forge: { kind: 'forgejo', api: 'https://forge.example.com/api/v1' },
    });
    // A digest wins over a tag, a forge's API over GitHub's, and KEDA over a number of replicas.
    const parts = {
      image: { digest: '', tag: '1.0' },
      forge: { kind: '', api: '' },
      keda: { enabled: false },
    };
    const worlds = [whole, merged(whole, parts)].map((values) => ({ values, text: template(values).text }));
    for (const { text } of worlds) expect(text).not.toBe('');
    const silent = leavesOf(whole).filter((path) =>
      worlds.every(({ values, text: before }) => {
        const { text, refusal } = template(changedAt(values, path, other(path, valueAt(values, path))));
        return refusal !== '' || text === before;
      }),
    );
    expect(silent).toEqual([]);
  });

  test('what all pods have in common, every pod has', () => {
    const { text } = template(ALL);
    const { nodeSelector, tolerations, affinity, priorityClassName } = ALL;
    const pods = podsIn(text);
    expect(pods).toHaveLength(5);
    for (const { name, pod } of pods) {
      expect(pod, name).toMatchObject({ nodeSelector, tolerations, affinity, priorityClassName });
      const variables = Object.fromEntries(
        (pod.containers[0]?.env ?? []).map((one) => [one.name, one.value]),
      );
      expect(variables, name).toMatchObject({
        AWS_REGION_OF_ECR: 'eu-west-1',
        PORTOLAN_KEEP_OUTCOMES: '30',
        PORTOLAN_KEEP_DOCUMENTS: '365',
      });
    }
    const account = manifests(text).find(({ kind }) => kind === 'ServiceAccount');
    expect(account?.metadata).toMatchObject(ALL.serviceAccount);
    const templates = manifests(text).flatMap(({ kind, metadata, spec }) =>
      kind === 'Pod'
        ? [metadata]
        : [
            (spec as never)?.['template']?.['metadata'] ??
              (spec as never)?.['jobTemplate']?.['spec']['template']['metadata'],
          ],
    );
    const described = templates.filter((one) => one !== undefined);
    expect(described).toHaveLength(5);
    for (const one of described)
      expect(one).toMatchObject({ annotations: ALL.podAnnotations, labels: ALL.podLabels });
  });

  test('alerts and the dashboard ask for metrics that there are, and each alert names a section of the runbook', async () => {
    const telemetry = telemetryOf('work', () => undefined);
    telemetry.depths(async () => ({}));
    const known = new Set(
      [...(await telemetry.metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
    );
    const { text } = template(ALL);
    const rule = manifests(text).find(({ kind }) => kind === 'PrometheusRule');
    const alerts = ((rule?.spec['groups'] ?? []) as { rules: Alert[] }[]).flatMap(({ rules }) => rules);
    expect(alerts.length).toBeGreaterThan(8);
    const board = manifests(text).find(({ metadata }) => metadata.name === 'portolan-dashboard');
    const { panels } = JSON.parse(board?.data?.['portolan.json'] ?? '');
    const asked = [
      ...alerts.map(({ expr }) => expr),
      ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ];
    for (const expr of asked) {
      const names = [...expr.matchAll(/\b(?:portolan|kube)_\w+/g)].map(([name]) => name);
      expect(names, expr).not.toEqual([]);
      for (const name of names)
        expect(known.has(name.replace(/_bucket$/, '')) || name === 'kube_job_status_failed', name).toBe(true);
      expect(expr.split('(').length, expr).toBe(expr.split(')').length);
    }
    const page = readFileSync('docs/runbook.md', 'utf8');
    const anchors = [...page.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const { alert, annotations } of alerts) {
      expect(anchors, alert).toContain(annotations.runbook_url.split('#')[1]);
      expect(page, alert).toContain(`\`${alert}\``);
    }
  });

  test.each<[string, object, string]>([
    ['an Ingress', { ingress: ALL.ingress }, 'https://portolan.example.com/webhook'],
    ['a Route', { route: ALL.route }, 'https://portolan.apps.example.com/webhook'],
    ['neither', {}, 'neither route nor ingress is enabled'],
  ])('the notes name the address of webhooks with %s, and the next steps', (_, values, address) => {
    // helm template leaves them out: here they stand in a file that it writes.
    const chart = join(folder(), 'chart');
    cpSync(CHART, chart, { recursive: true });
    const text = readFileSync(join(CHART, 'templates/NOTES.txt'), 'utf8');
    writeFileSync(join(chart, 'templates/_notes.tpl'), `{{- define "notes" }}\n${text}{{- end }}`);
    writeFileSync(join(chart, 'templates/notes.yaml'), 'notes: {{ include "notes" . | toJson }}\n');
    const [written] = manifests(template({ ...LEAST, ...values }, chart).text).filter(
      (one) => 'notes' in one,
    );
    const { notes } = written as unknown as { readonly notes: string };
    expect(notes).toContain(address);
    expect(notes).toContain('helm test portolan --namespace default --logs');
    expect(notes).toContain('node /app/kubernetes.mjs status');
  });

  test('every pod may run under restricted-v2, and a pod that may not is found', () => {
    const pods = podsIn(template(ALL).text);
    expect(pods.map(({ name }) => name)).toEqual(
      ['portolan-receive', 'portolan-work', 'portolan-reconcile', 'portolan-drift', 'portolan-smoke'].sort(
        (a, b) => pods.findIndex((one) => one.name === a) - pods.findIndex((one) => one.name === b),
      ),
    );
    for (const { name, pod } of pods) expect(violations(pod), name).toEqual([]);
    const [good] = pods;
    expect(violations({ ...(good?.pod as PodSpec), securityContext: { runAsUser: 1001 } })).toEqual([
      'runAsNonRoot',
      'runAsUser',
      'seccompProfile',
    ]);
  });

  test('no secret is a value, and who receives has none that publishes', () => {
    const { text } = template(ALL);
    for (const { name, pod } of podsIn(text)) {
      const mounted = (pod.volumes ?? []).flatMap(({ secret }) => (secret ? [secret.secretName] : []));
      expect(mounted, name).toEqual(
        name === 'portolan-receive' ? ['portolan-webhook'] : ['app', 'registries', 'signing'],
      );
    }
    expect(manifests(text).filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });

  test('the kustomize base is what the chart writes, and an overlay names image, namespace and sources', () => {
    const written = execFileSync(
      'helm',
      ['template', 'portolan', CHART, ...CLUSTER, '--no-hooks', '--values', `${BASE}/values.yaml`],
      { encoding: 'utf8' },
    );
    expect(readFileSync(`${BASE}/portolan.yaml`, 'utf8')).toBe(written);
    const overlay = folder();
    cpSync(BASE, join(overlay, 'base'), { recursive: true });
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const [, kustomization = ''] = /```yaml\n(resources: (?:.|\n)*?)```/.exec(page) ?? [];
    writeFileSync(
      join(overlay, 'kustomization.yaml'),
      kustomization.replace(/resources: .*/, 'resources: [base]'),
    );
    writeFileSync(join(overlay, 'sources.json'), JSON.stringify(LEAST.sources));
    const built = execFileSync('kustomize', ['build', overlay], { encoding: 'utf8' });
    expectValid(built);
    const map = manifests(built).find(({ kind }) => kind === 'ConfigMap');
    expect(JSON.parse(map?.data?.['sources.json'] ?? '')).toEqual(LEAST.sources);
    for (const { pod } of podsIn(built))
      expect(JSON.stringify(pod)).not.toContain('"image":"portolan:latest"');
  });

  test.skipIf(POSTGRES === undefined || !isOnPath('docker-registry'))(
    'each container starts as its pod says: arguments, environment, user, read-only root',
    async () => {
      buildProgram();
      const { held, values } = await namespace();
      for (const { name, pod } of podsIn(template(values).text)) {
        const started = await startContainer(pod, resolve('dist/kubernetes.mjs'), held);
        const { child, lines, internal } = started;
        const end = new Promise<number | null>((done) => child.once('close', done));
        if (name.endsWith('-reconcile')) {
          expect(await end, lines.join('\n')).toBe(0);
          expect(lines.join('\n')).toMatch(/1 message queued|1 in the queue already/);
          continue;
        }
        if (name.endsWith('-smoke')) {
          expect(await end, lines.join('\n')).toBe(0);
          expect(lines.join('\n')).toContain('ok    all records can be read');
          continue;
        }
        if (name.endsWith('-drift')) {
          // The stand-in for GitHub has no pull requests to tell: that it is asked is enough.
          expect(await end, lines.join('\n')).toBe(1);
          expect(lines.join('\n')).toContain('cannot check sea/catalogs main for drift');
          continue;
        }
        await ready(internal, lines);
        if (HAS_ROOT) expect(confinementOf(started)).toEqual({ user: USER, rights: 0, isReadOnly: true });
        expect(await (await fetch(`${internal}/metrics`)).text()).toContain('portolan_messages{queue="work"');
        child.kill('SIGTERM');
        expect(await end, lines.join('\n')).toBe(0);
      }
    },
  );
});

function expectValid(text: string): void {
  const file = join(folder(), 'manifests.yaml');
  // Their definitions are other projects', which Kubernetes' own schemas do not hold.
  const others = /^(?:Route|ServiceMonitor|ScaledObject|PrometheusRule)$/;
  writeFileSync(
    file,
    text
      .split(/^---$/m)
      .filter((document) => !others.test(/^kind: (\w+)$/m.exec(document)?.[1] ?? ''))
      .join('---\n'),
  );
  for (const version of ['1.30', '1.34']) {
    const words = ['--strict', '--quiet', '-k', version, file];
    const { status, stdout, stderr } = spawnSync('kubernetes-validate', words, { encoding: 'utf8' });
    expect(`${stdout}${stderr}`.replaceAll(/^INFO .*\n/gm, ''), version).toBe('');
    expect(status).toBe(0);
  }
}

async function ready(internal: string, lines: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (
      await fetch(`${internal}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`not ready: ${lines.join('\n')}`);
}

/** What the chart expects in its namespace, and servers that its pods reach. */
async function namespace(): Promise<{ readonly held: Namespace; readonly values: object }> {
  const { url: uri } = await postgres();
  const registry = await dockerRegistry();
  const github = await fakeGitHub();
  const policy = String(sampleFiles()['.github/portolan.yaml']).replace(
    'registry.example.com',
    registry.host,
  );
  const sample = sampleRepository({ '.github/portolan.yaml': policy });
  sample.git('config', 'uploadpack.allowFilter', 'true');
  sample.git('update-ref', 'refs/heads/main', sample.base);
  const url = await gitServer(join(sample.directory, '.git'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { privateKey: signing } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sources = [{ repository: 'sea/catalogs', id: 1, branch: 'main', url }];
  const held: Namespace = {
    'secret/portolan-database': { uri },
    'secret/portolan-webhook': { secret: 'it is only a test' },
    'secret/app': { 'app.json': JSON.stringify({ appId: 1, installationId: 2, privateKey: pem }) },
    'secret/registries': { '.dockerconfigjson': '{"auths": {}}' },
    'secret/signing': { 'cosign.key': signing.export({ type: 'pkcs8', format: 'pem' }).toString() },
    'configMap/portolan': { 'sources.json': JSON.stringify(sources) },
  };
  const values = {
    ...LEAST,
    sources,
    app: named('app'),
    registries: named('registries'),
    signing: named('signing'),
    drift: { enabled: true },
    githubApi: github.url,
    plainHttp: [registry.host, new URL(url).host],
  };
  return { held, values };
}
