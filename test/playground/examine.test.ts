import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer, Question, Texts } from '../../playground/answer.ts';
import { examine } from '../../playground/examine.ts';

const asked = (files: Texts, more: Partial<Question> = {}): Promise<Answer> =>
  examine({
    ...{ name: 'v4.17', files, today: '2026-01-31' },
    ...{ image: 'quay.io/acme/catalog:v4.17', mirrorTo: 'mirror.example.com/olm', ...more },
  });
const example = (name: string): Texts => ({
  'visionone/catalog.yaml': readFileSync(`playground/examples/visionone-${name}.yaml`, 'utf8'),
});
const errors = ({ findings }: Answer): string[] =>
  findings
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, location }) => `${location.file}:${location.line} ${rule}`);

describe('a catalog', () => {
  test('an edit that strands an installed version is an error on its line, and its impact is told', async () => {
    const answer = await asked(example('after'), { before: example('before') });
    expect(errors(answer)).toEqual([
      'visionone/catalog.yaml:15 graph/strands-installed-v0',
      'visionone/catalog.yaml:15 graph/strands-installed-v1',
    ]);
    expect(answer.impact?.slice(0, 3)).toEqual([
      '  visionone-containersecurity (v4.17)',
      '    stable: installed 0.0.1',
      '      OLM v0: before: up to date; after: stuck (no entry of channel stable replaces or skips it)',
    ]);
  });

  test('the same catalog alone has neither errors nor an impact', async () => {
    const answer = await asked(example('after'));
    expect(errors(answer)).toEqual([]);
    expect(answer.impact).toBeUndefined();
    expect(answer.graph.catalogs[0]?.packages.map((one) => one.package)).toEqual([
      'visionone-containersecurity',
    ]);
  });

  test('its mirror has the documents of portolan mirror plan', async () => {
    const { mirror } = await asked(example('after'));
    expect(mirror?.lines).toEqual([
      'Ready for disconnected clusters: 0 of 2 bundles; 2 not checked: the catalog does not contain their deployments',
    ]);
    expect(mirror?.files['mapping.txt']).toContain('=mirror.example.com/olm/');
    expect(Object.keys(mirror?.files ?? {})).toEqual(
      expect.arrayContaining(['catalogSource.yaml', 'clusterCatalog.yaml', 'imageTagMirrorSet.yaml']),
    );
  });

  test('a mirror that is no registry is said in place of the documents', async () => {
    const { mirror, findings } = await asked(example('after'), { mirrorTo: 'Not A Registry' });
    expect(mirror).toMatchObject({ ready: false, files: {} });
    expect(mirror?.lines).toEqual([expect.stringContaining('Not A Registry')]);
    expect(findings.length).toBeGreaterThan(0);
  });

  test('what is not YAML is a finding', async () => {
    expect(errors(await asked({ 'catalog.yaml': 'schema: olm.package\n\tname: x\n' }))).toEqual([
      expect.stringContaining('catalog.yaml:2 fbc/'),
    ]);
  });
});

describe('a bundle directory', () => {
  const folder = 'test/catalogs/bundle';
  const files = Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );

  test('passes as in portolan bundle validate', async () => {
    expect(await asked(files)).toMatchObject({ kind: 'bundle', findings: [] });
  });

  test('without its metadata fails, below its own folder', async () => {
    const broken = Object.entries(files).filter(([path]) => !path.startsWith('metadata/'));
    const moved = Object.fromEntries(broken.map(([path, text]) => [`etcd/0.9.4/${path}`, text]));
    const found = errors(await asked(moved));
    expect(found).not.toEqual([]);
    expect(found.filter((line) => !line.startsWith('etcd/0.9.4/'))).toEqual([]);
  });
});
