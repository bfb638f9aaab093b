import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const CATALOG: Files = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']) };
const RUN = (task: string): Files => ({ '.tekton/etcd-push.yaml': `spec: {taskRef: {name: ${task}}}\n` });

async function proposed(files: Files): Promise<{ out: string; presets: string | undefined }> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const commit = repository.commit({ ...CATALOG, ...files });
  const options = ['--commit', commit, '--admin', 'alice', '--dry-run', '--last', '0'];
  const { out } = await portolan(repository.directory, 'setup', ...options);
  return { out, presets: /^presets: (.*)$/m.exec(out)?.[1] };
}

test.each<[string, Files, string | undefined]>([
  ['community operators', { 'config.yaml': 'organization: community-operators\n' }, '[community]'],
  ['certified operators', { 'config.yaml': 'organization: certified-operators\n' }, '[certified]'],
  ['the marketplace', { 'config.yaml': 'organization: redhat-marketplace\n' }, '[certified]'],
  ['another organization', { 'config.yaml': 'organization: acme\n' }, undefined],
  ['a fragment of Konflux', RUN('validate-fbc'), '[konflux]'],
  ['another pipeline', RUN('build-image'), undefined],
  ['OperatorHub.io', { 'ci/pipeline-config.yaml': 'production: {type: k8s}\n' }, '[operatorhub]'],
  ['OpenShift', { 'ci/pipeline-config.yaml': 'production: {type: ocp}\n' }, undefined],
])('setup proposes the preset of the gate of %s', async (_, files, expected) => {
  const { out, presets } = await proposed(files);
  expect(presets).toBe(expected);
  const name = expected?.slice(1, -1);
  if (name !== undefined) expect(out).toContain(`preset ${name}: the policy has the checks of `);
  else expect(out).not.toContain('preset ');
});

test.each<[string, number, string | undefined]>([
  ['quay.io/acme', 0, undefined],
  ['quay.io/acme', 25, undefined],
  ['registry.redhat.io/acme', 0, '[konflux]'],
])(
  'proposes a preset only if the latest merges of packages meet it: %s, %i later merges',
  async (registry, later, expected) => {
    const repository = makeRepository();
    onTestFinished(repository.remove);
    const catalog = (versions: readonly string[]): Files => ({
      'catalogs/prod/etcd/catalog.yaml': catalogOf('etcd', versions).replaceAll('quay.io/org', registry),
    });
    const before = repository.commit({ ...catalog(['1.0.0']), ...RUN('validate-fbc') });
    let commit = repository.commit(catalog(['1.0.0', '1.1.0']), { parents: [before] });
    for (let i = 0; i < later; i++)
      commit = repository.commit({ 'main.go': `package m${i}\n` }, { parents: [commit] });
    const options = ['--commit', commit, '--admin', 'alice', '--dry-run', '--last', '0'];
    const { out } = await portolan(repository.directory, 'setup', ...options);
    expect(/^presets: (.*)$/m.exec(out)?.[1]).toBe(expected);
    if (expected === undefined) {
      expect(out).toContain('# presets: [konflux]');
      expect(out).toMatch(
        /preset konflux: not in the policy, because the latest merges fail it: .*\(bundle\/registry\)/,
      );
    }
  },
);
