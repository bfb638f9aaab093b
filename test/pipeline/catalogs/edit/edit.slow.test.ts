import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { workbench } from '../../../fakes/workbench.ts';

const { at, run, write, read } = workbench();

const FOO = `# foo is kept by the ferry team
schema: olm.package
name: foo
defaultChannel: stable   # never alpha
---
schema: olm.channel
package: foo
name: stable
entries:
  # the first one
  - name: foo.v1.0.0

# properties come last
properties: []
---
schema: olm.bundle
package: foo
name: foo.v1.0.0
image: "a/foo:1.0.0"
properties:
- {type: olm.package, value: {packageName: foo, version: 1.0.0}}
`;
const BAR = FOO.replaceAll('foo', 'bar');

function writeBundle(version: string): void {
  write(
    'bundle/manifests/csv.yaml',
    `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: foo.v${version}}
spec: {version: ${version}, install: {strategy: deployment, spec: {deployments: []}}}
`,
  );
  write(
    'bundle/metadata/annotations.yaml',
    'annotations:\n  operators.operatorframework.io.bundle.package.v1: foo\n',
  );
}

describe('add', () => {
  test('puts an entry behind the last one and the bundle at the end, nothing else changes', async () => {
    write('c/foo.yaml', FOO);
    writeBundle('1.1.0');
    const { code, out } = await run(
      'add',
      'bundle',
      'c',
      '--channel',
      'stable',
      '--replaces',
      'foo.v1.0.0',
      '--image',
      'a/foo:1.1.0',
    );
    expect(out).toBe('foo.yaml\n');
    expect(code).toBe(0);
    const text = read('c/foo.yaml');
    const entry = '  - name: foo.v1.1.0\n    replaces: foo.v1.0.0\n';
    expect(text.startsWith(FOO.replace('foo.v1.0.0\n\n', `foo.v1.0.0\n${entry}\n`))).toBe(true);
    expect(text).toContain('\n---\nimage: a/foo:1.1.0\nname: foo.v1.1.0\n');
    expect((await run('opm', 'validate', 'c')).code).toBe(0);
  });

  test('is refused when a rule would break, and then writes nothing', async () => {
    write('c/foo.yaml', FOO);
    writeBundle('1.1.0');
    const { code, err } = await run('add', 'bundle', 'c', '--channel', 'stable', '--image', 'a/foo:1.1.0');
    expect(code).toBe(1);
    expect(err).toContain('refused: nothing was changed');
    expect(read('c/foo.yaml')).toBe(FOO);
  });

  test('makes a channel, in JSON as in YAML', async () => {
    write('d/foo.yaml', FOO);
    write('c/foo.json', (await run('opm', 'render', 'd')).out);
    writeBundle('2.0.0');
    const { code } = await run('add', 'bundle', 'c', '--channel', 'new', '--image', 'a/foo:2.0.0');
    expect(code).toBe(0);
    expect((await run('opm', 'alpha', 'list', 'channels', 'c')).out).toContain(
      'foo      new      foo.v2.0.0\n',
    );
  });

  test('a package that is not there is named', async () => {
    write('c/bar.yaml', BAR);
    writeBundle('1.1.0');
    const { code, err } = await run('add', 'bundle', 'c', '--channel', 'stable', '--image', 'a/foo:1.1.0');
    expect(code).toBe(2);
    expect(err).toContain('no catalog has the package "foo"');
  });
});

test('a directory that is no bundle is not added', async () => {
  write('c/foo.yaml', FOO);
  expect(await run('add', 'c', 'c', '--channel', 'stable')).toMatchObject({
    code: 2,
    out: '',
    err: 'portolan: c is not a bundle: it has no manifests/ and metadata/ folders\n',
  });
});

describe('deprecate', () => {
  test('makes the object for the package, then adds to it', async () => {
    write('c/foo.yaml', FOO);
    await run('deprecate', 'c', '--package', 'foo', '-m', 'use bar');
    await run('deprecate', 'c', '--package', 'foo', '--bundle', 'foo.v1.0.0', '-m', 'use 2: it is safe');
    expect(read('c/foo.yaml')).toBe(`${FOO}---
entries:
- message: use bar
  reference:
    schema: olm.package
- message: 'use 2: it is safe'
  reference:
    name: foo.v1.0.0
    schema: olm.bundle
package: foo
schema: olm.deprecations
`);
  });

  test.each(['...\n', '\n# the end\n... # of it\n# no more\n'])(
    'the entry stands before the end of its document: %j',
    async (end) => {
      const entry = '- {reference: {schema: olm.bundle, name: foo.v1.0.0}, message: use 2}\n';
      write('c/foo.yaml', `${FOO}---\nschema: olm.deprecations\npackage: foo\nentries:\n${entry}${end}`);
      const { out } = await run('deprecate', 'c', '--package', 'foo', '-m', 'use bar');
      expect(out).not.toContain('no changes');
      const text = read('c/foo.yaml');
      expect(text.endsWith(end)).toBe(true);
      expect(text.slice(text.indexOf(entry), -end.length)).toContain('message: use bar');
    },
  );

  test('what is not in the catalog cannot be deprecated', async () => {
    write('c/foo.yaml', FOO);
    const { code } = await run('deprecate', 'c', '--package', 'foo', '--channel', 'beta', '-m', 'x');
    expect(code).toBe(1);
    expect(read('c/foo.yaml')).toBe(FOO);
  });
});

test('a package that is not there is said not to be, and nothing is changed', async () => {
  write('c/foo.yaml', FOO);
  const refused = { code: 2, out: '', err: expect.stringContaining('no catalog has the package "fooo"\n') };
  expect(await run('prune', 'c', '--keep', 'fooo')).toMatchObject(refused);
  expect(await run('prune', 'c', '--keep', 'foo', '--keep', 'fooo')).toMatchObject(refused);
  expect(await run('deprecate', 'c', '--package', 'fooo', '-m', 'x')).toMatchObject(refused);
  expect(read('c/foo.yaml')).toBe(FOO);
});

describe('prune and promote', () => {
  test('what is kept stays as written, files that are empty go', async () => {
    write('c/both.yaml', `${FOO}---\n${BAR}`);
    write(
      'c/bar.yaml',
      BAR.replace(/---[\s\S]*/, '')
        .replace('bar', 'baz')
        .replace('name: bar', 'name: baz'),
    );
    write('c/note.yaml', 'schema: example.com/note\n');
    expect((await run('prune', 'c', '--keep', 'foo')).out).toBe('bar.yaml\nboth.yaml\n');
    expect(read('c/both.yaml')).toBe(FOO);
    expect(existsSync(at('c/bar.yaml'))).toBe(false);
    expect(existsSync(at('c/note.yaml'))).toBe(true);
  });

  test('a promotion that takes versions away says what clusters lose, and changes nothing', async () => {
    const version = (name: string, more = ''): string => `- name: p.v${name}\n${more}`;
    const bundle = (name: string): string =>
      `---\n{schema: olm.bundle, name: p.v${name}, package: p, image: "x.io/p:${name}", properties: [{type: olm.package, value: {packageName: p, version: ${name}}}]}\n`;
    const catalog = (...names: string[]): string =>
      `schema: olm.package\nname: p\ndefaultChannel: a\n---\nschema: olm.channel\npackage: p\nname: a\nentries:\n${names.map((name, i) => version(name, i > 0 ? `  replaces: p.v${names[i - 1]}\n` : '')).join('')}${names.map(bundle).join('')}`;
    write('v4.21/p.yaml', catalog('1.2.0'));
    write('v4.20/p.yaml', catalog('1.0.0', '1.1.0'));
    const { code, out, err } = await run('promote', 'p', '--from', 'v4.21', '--to', 'v4.20');
    expect(out).toBe('');
    expect(err).toContain('graph/strands-installed-v0');
    expect(err).toContain('p (changed) in v4.20');
    expect(err).toContain('p.v1.0.0');
    expect(code).toBe(1);
    expect(read('v4.20/p.yaml')).toBe(catalog('1.0.0', '1.1.0'));
    write('v4.21/p.yaml', catalog('1.0.0', '1.1.0', '1.2.0'));
    const fine = await run('promote', 'p', '--from', 'v4.21', '--to', 'v4.20');
    expect(fine).toMatchObject({ code: 0, err: expect.stringContaining('p (changed) in v4.20') });
    expect(fine.err).not.toContain('graph/');
    // To take packages away is what prune is for: it says what clusters lose, and is no failure.
    write('v4.20/q.yaml', catalog('1.0.0').replaceAll(/\bp\b/g, 'q'));
    const pruned = await run('prune', 'v4.20', '--keep', 'q');
    expect(pruned).toMatchObject({ code: 0, err: expect.stringContaining('graph/package-removed') });
  });

  test('a package is copied with its comments, and takes the place of the old one', async () => {
    write('new/foo.yaml', FOO.replace('first one', 'only one'));
    write('old/foo.yaml', `${BAR}---\n${FOO}`);
    expect((await run('promote', 'foo', '--from', 'new', '--to', 'old')).code).toBe(0);
    expect(read('old/foo.yaml')).toBe(`${BAR}---\n${FOO.replace('first one', 'only one')}`);
    const { code, err } = await run('promote', 'nothing', '--from', 'new', '--to', 'old');
    expect(code).toBe(2);
    expect(err).toContain('no catalog has the package "nothing"');
  });
});
