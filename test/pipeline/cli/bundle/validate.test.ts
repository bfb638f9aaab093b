import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLayout } from '../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { bundleFiles } from '../../../fakes/bundle-fixture.ts';
import { folder } from '../../../fakes/folder.ts';
import { labelledImage } from '../../../fakes/labelled-image.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { portolan } from '../../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/bundle';
const CSV = 'manifests/csv.yaml';

/** The sample bundle with a change to its ClusterServiceVersion. */
function changed(from: RegExp, to: string): string {
  const directory = folder();
  cpSync(SAMPLE, directory, { recursive: true });
  writeFileSync(join(directory, CSV), readFileSync(join(SAMPLE, CSV), 'utf8').replace(from, to));
  return directory;
}

describe('portolan bundle validate', () => {
  test('a sound bundle passes; what other suites would say is counted', async () => {
    const { exit, err } = await portolan(SAMPLE, 'bundle', 'validate', '.');
    expect({ exit, err: err.split(';')[0] }).toEqual({ exit: 0, err: 'PASS: no findings' });
  });

  test.each(['/no/such/bundle', './bundle', 'operators/etcd/0.9.9'])('%s does not exist', async (name) => {
    const { exit, err } = await portolan(folder(), 'bundle', 'validate', name);
    expect([exit, err]).toEqual([2, `portolan: the directory ${name} does not exist\n`]);
  });

  test.each(['etcd', 'etcd/0.9.9'])(
    '%s, which may be an image of Docker Hub, is a directory',
    async (name) => {
      const { exit, err } = await portolan(folder(), 'bundle', 'validate', name);
      expect(exit).toBe(2);
      expect(err).toContain(`portolan: the directory ${name} does not exist\n`);
      expect(err).toContain(`  for an image of Docker Hub, write docker.io/${name}`);
    },
  );

  test('a name with a host is a reference', async () => {
    withoutWaiting();
    const { err } = await portolan(folder(), 'bundle', 'validate', 'localhost:1/org/etcd/bundle');
    expect(err).toContain('GET to localhost:1');
  });

  test('images whose registry does not answer, or that are not there, leave the platforms open', async () => {
    withoutWaiting();
    const directory = changed(/quay\.io\/example\/etcd:v1\.0\.0/g, '127.0.0.1:9/example/etcd:v1.0.0');
    const words = ['--suite', 'multiarch', '--insecure', '127.0.0.1:9', '--format', 'json'];
    const alone = await portolan(directory, 'bundle', 'validate', '.', ...words);
    expect([alone.exit, JSON.parse(alone.out).verdict]).toEqual([2, 'inconclusive']);
    expect(alone.err).toContain('not checked: the platforms of 127.0.0.1:9/example/etcd:v1.0.0: ');
    const twice = await portolan(directory, 'bundle', 'validate', '.', '.', ...words);
    expect([twice.exit, JSON.parse(twice.out).bundles[0].verdict]).toEqual([2, 'inconclusive']);
  });

  test('a suite adds its rules, each finding at its line; validate judges the same', async () => {
    const directory = changed(/^ {2}installModes:[\s\S]*?(?=^ {2}\w)/m, '');
    const { exit, out } = await portolan(directory, 'bundle', 'validate', '.', '--format', 'json');
    const { verdict, findings } = JSON.parse(out);
    expect({ exit, verdict, rules: findings.map(({ rule }: { rule: string }) => rule) }).toEqual({
      exit: 1,
      verdict: 'fail',
      rules: ['csv/install-modes'],
    });
    expect(findings[0].location).toMatchObject({ file: CSV });
    expect((await portolan(directory, 'validate', '.', '--format', 'json')).out).toBe(out);
    const olmv1 = await portolan(directory, 'bundle', 'validate', '.', '--suite', 'olmv1,scorecard');
    expect(olmv1.out).toContain('(olmv1/install-mode)');
  });

  test.each([
    ['x', false],
    ['\n\t', true],
  ])('45: examples with many blanks, and %j behind them', async (end, isTab) => {
    const text = JSON.stringify(`[]${'\n'.repeat(100_000)}${end}`);
    const directory = changed(/^( {4})alm-examples:[\s\S]*?(?=^ {0,4}\w)/m, `$1alm-examples: ${text}\n`);
    const { out } = await portolan(directory, 'bundle', 'validate', '.', '--suite', 'operatorhub');
    expect(out.includes('begins or ends with a tab')).toBe(isTab);
    expect(out.includes('not JSON')).toBe(!isTab);
  });

  test('several bundles are checked in one run; one that cannot be read hides no other', async () => {
    const bad = changed(/^ {2}installModes:[\s\S]*?(?=^ {2}\w)/m, '');
    const sound = resolve(SAMPLE);
    const both = await portolan('.', 'bundle', 'validate', sound, bad);
    expect(both.exit).toBe(1);
    expect(both.out).toContain(`${bad}/${CSV}:`);
    expect(both.err.split('\n')).toEqual([
      `PASS: ${sound}: no findings`,
      expect.stringContaining(`FAIL: ${bad}: 1 error`),
      '',
    ]);
    const file = join(bad, CSV);
    const three = await portolan('.', 'bundle', 'validate', file, bad, sound, '--format', 'json');
    const { verdict, bundles, findings } = JSON.parse(three.out);
    expect({
      exit: three.exit,
      verdict,
      verdicts: bundles.map((b: { verdict: string }) => b.verdict),
    }).toEqual({
      exit: 2,
      verdict: 'inconclusive',
      verdicts: ['inconclusive', 'fail', 'pass'],
    });
    expect(findings).toHaveLength(1);
    expect((await portolan('.', 'bundle', 'validate', sound, sound)).exit).toBe(0);
  });

  test('a view leaves out what the real tool does not see', async () => {
    const directory = changed(/^ +minKubeVersion: .*\n/m, '');
    const sdk = await portolan(directory, 'bundle', 'validate', '.', '--compat', 'sdk');
    expect(sdk.out).toContain('csv/min-kube-version-missing');
    expect((await portolan(directory, 'bundle', 'validate', '.', '--compat', 'opm')).out).toBe('');
  });

  test("operator-sdk's selectors and values are taken as they are typed", async () => {
    const directory = changed(/capabilities: .*/, 'capabilities: Everything');
    const validate = ['bundle', 'validate', '.', '--compat', 'sdk'];
    const exitOf = async (...words: string[]): Promise<number> =>
      (await portolan(directory, ...validate, ...words)).exit;
    expect(await exitOf()).toBe(0);
    for (const selector of [
      'name=capabilities',
      'suite=operatorframework',
      'suite=operatorframework,name!=community',
      'name in (categories, capabilities)',
    ]) {
      expect(await exitOf('--select-optional', selector)).toBe(1);
    }
    for (const selector of [
      'name=categories',
      'suite=operatorframework,name!=capabilities',
      '!suite,name=multiarch2',
    ])
      expect(await exitOf('--select-optional', selector)).toBe(selector.includes('multiarch2') ? 2 : 0);
    expect(await exitOf('--select-optional', 'name=comunity')).toBe(2);
  });

  test("operator-sdk's optional values reach the rules; an unknown key or a bad version is refused", async () => {
    const directory = changed(/^ +minKubeVersion: .*\n/m, '');
    const role = 'apiVersion: rbac.authorization.k8s.io/v1beta1\nkind: Role\nmetadata: {name: a}\n';
    writeFileSync(join(directory, 'manifests/role.yaml'), role);
    writeFileSync(join(directory, 'b.Dockerfile'), 'LABEL com.redhat.openshift.versions=v4.6\n');
    const run = (select: string, values: string): ReturnType<typeof portolan> =>
      portolan(
        directory,
        ...['bundle', 'validate', '.', '--compat', 'sdk'],
        ...['--select-optional', select, '--optional-values', values],
      );
    const community = await run('name=community', 'container-tools=none,index-path=b.Dockerfile');
    expect(community.out).toContain('b.Dockerfile: error');
    expect(community.exit).toBe(1);
    expect((await run('name=alpha-deprecated-apis', 'k8s-version=1.21')).out).toContain('warning');
    expect((await run('name=alpha-deprecated-apis', 'k8s-version=1.25')).exit).toBe(1);
    expect((await run('name=alpha-deprecated-apis', 'k8s-version=new')).exit).toBe(2);
    expect((await run('name=alpha-deprecated-apis', 'k8s=1.25')).exit).toBe(2);
  });

  test('what scorecard fails on fails its suite, and is information in all others', async () => {
    const directory = changed(/^ {6}resources:\n(?: {6}[- ].*\n)*?(?= {6}\w)/m, '');
    const run = async (suite: string): Promise<[number, string[]]> => {
      const { exit, out } = await portolan(
        directory,
        'bundle',
        'validate',
        '.',
        '--suite',
        suite,
        '--format',
        'json',
      );
      const findings: readonly { rule: string; severity: string }[] = JSON.parse(out).findings;
      return [
        exit,
        findings.filter(({ rule }) => rule === 'scorecard/resources').map(({ severity }) => severity),
      ];
    };
    expect(await run('scorecard')).toEqual([1, ['error']]);
    expect((await run('all'))[1]).toEqual(['info']);
  });

  test('a bad capability level or a blank provider fails the suite operatorhub in every view', async () => {
    for (const directory of [
      changed(/capabilities: .*/, 'capabilities: Everything'),
      changed(/( {2}provider:\n {4}name: ).*/, "$1'  '"),
    ]) {
      for (const view of ['sdk', 'opm']) {
        const words = ['bundle', 'validate', '.', '--suite', 'operatorhub', '--compat', view];
        expect((await portolan(directory, ...words)).exit).toBe(1);
      }
    }
  });

  test('annotations that are not quoted are text in every view; lists and mappings fail in every view', async () => {
    const directory = folder();
    cpSync(SAMPLE, directory, { recursive: true });
    const path = join(directory, 'metadata/annotations.yaml');
    const sound = readFileSync(path, 'utf8');
    const verdicts = async (line: string): Promise<number[]> => {
      writeFileSync(path, `${sound}  ${line}\n`);
      const views = [[], ['--compat', 'sdk'], ['--compat', 'opm']];
      const runs = views.map((view) => portolan(directory, 'bundle', 'validate', '.', ...view));
      return (await Promise.all(runs)).map(({ exit }) => exit);
    };
    expect(await verdicts('com.redhat.delivery.operator.bundle: true')).toEqual([0, 0, 0]);
    expect(await verdicts('com.redhat.openshift.versions: 4.12')).toEqual([0, 0, 0]);
    expect(await verdicts('com.example.none:')).toEqual([0, 0, 0]);
    expect(await verdicts('com.example.list: [a]')).toEqual([1, 1, 1]);
    expect(await verdicts('com.example.map: {a: b}')).toEqual([1, 1, 1]);
  });

  test('annotations are read from the first file in which all of them are text', async () => {
    const directory = folder();
    cpSync(SAMPLE, directory, { recursive: true });
    writeFileSync(join(directory, 'metadata/a.yaml'), 'annotations: {com.example: [a]}\n');
    expect(await portolan(directory, 'bundle', 'validate', '.')).toMatchObject({ exit: 0, out: '' });
    writeFileSync(join(directory, 'metadata/annotations.yaml'), 'annotations: {com.example: [a]}\n');
    expect((await portolan(directory, 'bundle', 'validate', '.')).out).toContain('annotations/text');
  });

  test('manifests and annotations that are not UTF-8 fail in every view', async () => {
    for (const file of [CSV, 'metadata/annotations.yaml']) {
      const directory = folder();
      cpSync(SAMPLE, directory, { recursive: true });
      const path = join(directory, file);
      for (const [comment, exit] of [
        [[0xc3, 0xa9], 0],
        [[0xe9], 1],
      ] as const) {
        writeFileSync(
          path,
          Buffer.concat([readFileSync(join(SAMPLE, file)), Buffer.from([0x23, ...comment, 0x0a])]),
        );
        for (const view of [[], ['--compat', 'sdk'], ['--compat', 'opm']]) {
          expect((await portolan(directory, 'bundle', 'validate', '.', ...view)).exit).toBe(exit);
        }
      }
    }
  });

  test('the severity of a rule is the policy’s; SARIF names the place', async () => {
    const directory = changed(/^ +minKubeVersion: .*\n/m, '');
    writeFileSync(
      join(directory, 'policy.yaml'),
      'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules:\n  csv/min-kube-version-missing: error\n',
    );
    const words = ['bundle', 'validate', '.', '--policy', 'policy.yaml', '--format', 'sarif'];
    const { exit, out, err } = await portolan(directory, ...words);
    expect({ exit, err }).toEqual({ exit: 1, err: '' });
    const [result] = JSON.parse(out).runs[0].results;
    expect(result).toMatchObject({ ruleId: 'csv/min-kube-version-missing', level: 'error' });
    expect(result.locations[0].physicalLocation.artifactLocation.uri).toBe(CSV);
  });

  test('an image in a layout is judged as its directory', async () => {
    const directory = changed(/^ +minKubeVersion: .*\n/m, '');
    const labels = { 'operators.operatorframework.io.bundle.package.v1': 'etcd' };
    const files = Object.fromEntries(bundleFiles(new Map()));
    const image = await labelledImage(labels, {
      ...files,
      [CSV]: readFileSync(join(directory, CSV), 'utf8'),
    });
    const layout = layoutRegistry(await openLayout(join(directory, 'images'), { create: true }));
    await pushImage(layout, { kind: 'tag', registry: '', repository: '', tag: 'v1' }, { image });
    const fromImage = await portolan(directory, 'bundle', 'validate', 'oci:images:v1');
    expect(fromImage.out).not.toBe('');
    expect(fromImage.out).toBe((await portolan(directory, 'bundle', 'validate', '.')).out);
  });

  test('words that cannot be understood', async () => {
    const unknown = await portolan(SAMPLE, 'bundle', 'validate', '.', '--suite', 'hub');
    expect(unknown.exit).toBe(2);
    expect(unknown.err).toContain('--suite must be one of default, operatorhub,');
    for (const version of ['abc', '', '1.x', 'v1.25-beta']) {
      const typed = await portolan(SAMPLE, 'bundle', 'validate', '.', '--kubernetes-version', version);
      expect(typed).toMatchObject({ exit: 2, out: '' });
      const expected = `--kubernetes-version must be a version, for example 1.25, not ${JSON.stringify(version)}`;
      expect(typed.err).toContain(expected);
    }
    for (const version of ['1.25', 'v1.25.0', '1']) {
      const typed = await portolan(SAMPLE, 'bundle', 'validate', '.', '--kubernetes-version', version);
      expect(typed.exit).toBe(0);
    }
    const missing = await portolan(SAMPLE, 'bundle', 'validate', './nothing');
    expect(missing).toMatchObject({ exit: 2 });
    expect(missing.err).toContain('nothing');
  });
});

describe('the version of Kubernetes that certification checks for', () => {
  /** How serious an API is that Kubernetes 1.25 removed, in a bundle for a range of OpenShift. */
  async function severity(range: string, ...more: string[]): Promise<string | undefined> {
    const directory = changed(/minKubeVersion: .*/, 'minKubeVersion: 1.20.0');
    writeFileSync(
      join(directory, 'manifests/budget.yaml'),
      'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata:\n  name: a\nspec:\n  maxUnavailable: 1\n',
    );
    const annotations = join(directory, 'metadata/annotations.yaml');
    writeFileSync(
      annotations,
      `${readFileSync(annotations, 'utf8')}  com.redhat.openshift.versions: ${range}\n`,
    );
    const { out } = await portolan(directory, 'bundle', 'validate', '.', '--format', 'json', ...more);
    const { findings }: { findings: { rule: string; severity: string }[] } = JSON.parse(out);
    return findings.find(({ rule }) => rule === 'api/removed-1-25')?.severity;
  }

  test('it is that of the last release in the range for OpenShift', async () => {
    expect(await severity('v4.9-v4.12', '--suite', 'openshift')).toBe('error');
    expect(await severity('v4.9-v4.11', '--suite', 'openshift')).toBe('warning');
    expect(await severity('=v4.12', '--suite', 'openshift')).toBe('error');
    expect(await severity('v4.9', '--suite', 'openshift')).toBe('error');
    expect(await severity('v4.9-v4.12', '--suite', 'community')).toBe('warning');
  });
});

test.each([
  ['./none', 'a link to nothing'],
  ['../metadata', 'a link to a directory'],
])(
  'a link to %s is an error in manifests/, and a warning in metadata/, where tools skip it',
  async (target, why) => {
    const directory = folder();
    cpSync(SAMPLE, directory, { recursive: true });
    symlinkSync(target, join(directory, 'metadata/link.yaml'));
    const warned = await portolan(directory, 'bundle', 'validate', '.', '--compat', 'sdk');
    expect(warned.exit).toBe(0);
    expect(warned.out + warned.err).toContain(`metadata/link.yaml: warning: ${why}`);
    symlinkSync(target, join(directory, 'manifests/link.yaml'));
    const failed = await portolan(directory, 'bundle', 'validate', '.', '--compat', 'sdk');
    expect(failed.exit).toBe(1);
    expect(failed.out + failed.err).toContain(`manifests/link.yaml: error: ${why}`);
  },
);
