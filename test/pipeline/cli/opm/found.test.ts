/** Inputs on which ours and the real opm once differed, cut down to what mattered. Answers are opm's. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { registryClient } from '../../../../pipeline/catalogs/render/client.ts';
import { runOpm } from '../../../../pipeline/cli/opm/opm.ts';
import { capture } from '../../../conformance/fbc-terminal.ts';
import { writeBelow } from '../../../fakes/folder.ts';

// Reading the many files of the command line may take long on a busy machine.
let work = '';
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'found-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

async function run(
  files: Files,
  words: readonly string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  writeBelow(work, files);
  const { terminal, printed, complaints } = capture(work, input);
  const code = await runOpm(words, { terminal, registry: registryClient.bind(undefined, terminal) });
  return { code, out: printed(), err: complaints() };
}

const CRD = 'customresourcedefinitions';
const object = (manifest: string): string =>
  `{"type":"olm.bundle.object","value":{"data":"${Buffer.from(manifest).toString('base64')}"}}`;
const ownProperty = '{"type":"olm.package","value":{"packageName":"foo","version":"1.0.0"}}';
const catalog = (...properties: string[]): string =>
  [
    '{"schema":"olm.package","name":"foo","defaultChannel":"c"}',
    '{"schema":"olm.channel","package":"foo","name":"c","entries":[{"name":"foo.v1"}]}',
    `{"schema":"olm.bundle","package":"foo","name":"foo.v1","image":"a/b:c","properties":[${properties.join(',')}]}`,
  ].join('\n');
const csv = (spec: string): string =>
  `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"foo.v1"},"spec":${spec}}`;

test('a drawing asks neither for the package nor for the release of a property', async () => {
  const other = '{"type":"olm.package","value":{"packageName":"bar","version":"1.0.0","release":"1+2"}}';
  expect(await run({ 'c/a': catalog(other) }, ['alpha', 'render-graph', 'c'])).toMatchObject({ code: 0 });
  const nothing = '{"type":"olm.package","value":null}';
  expect(await run({ 'c/a': catalog(nothing) }, ['alpha', 'render-graph', 'c'])).toMatchObject({ code: 1 });
});

test('of bundles with one name a drawing reads the version of the first only', async () => {
  const [first, second] = [ownProperty, '{"type":"olm.package","value":null}'].map((property) =>
    catalog(property).split('\n').at(-1),
  );
  const drawn = (...bundles: unknown[]) =>
    run({ 'c/a': catalog().split('\n').with(-1, bundles.join('\n')).join('\n') }, [
      'alpha',
      'render-graph',
      'c',
    ]);
  expect(await drawn(first, second)).toMatchObject({ code: 0 });
  expect(await drawn(second, first)).toMatchObject({ code: 1 });
});

test('keys of properties count in whatever case', async () => {
  const loud = '{"type":"olm.package","value":{"PACKAGENAME":"foo","Version":"1.0.0"}}';
  expect(await run({ 'c/a': catalog(loud) }, ['validate', 'c'])).toMatchObject({ code: 0, err: '' });
});

test('values of descriptors stay as they are spelled when manifests give way', async () => {
  const spec = `{"${CRD}":{"owned":[{"name":"f","kind":"F","version":"v1","specDescriptors":[{"path":"p","value":{"b" : ">", "a":1}}]}]}}`;
  const { out } = await run({ 'c/a': catalog(ownProperty, object(csv(spec))) }, ['render', 'c', '--migrate']);
  expect(out.replaceAll(/\s/g, '')).toContain('"value":{"b":">","a":1}');
});

test('packages are listed with the display name of their default channel, in columns', async () => {
  const shown = object(csv('{"displayName":"Foo Café"}'));
  expect((await run({ 'c/a': catalog(ownProperty, shown) }, ['alpha', 'list', 'packages', 'c'])).out).toBe(
    'NAME  DISPLAY NAME  DEFAULT CHANNEL\nfoo   Foo Café      c\n',
  );
});

test('a ClusterServiceVersion that is YAML to one reader and no JSON to the other', async () => {
  const twice = object(`${csv('{"displayName":"Foo"}')}\n${csv('{}')}`);
  expect((await run({ 'c/a': catalog(ownProperty, twice) }, ['alpha', 'list', 'packages', 'c'])).out).toBe(
    'NAME  DISPLAY NAME  DEFAULT CHANNEL\nfoo                 c\n',
  );
  expect(await run({}, ['render', 'c', '--migrate'])).toMatchObject({ code: 1 });
});

test.each([
  ['nothing is an object', '{"type":"olm.bundle.object","value":null}', 0],
  ['bytes may be numbers', '{"type":"olm.bundle.object","value":{"data":[123,125]}}', 0],
  ['bytes are no larger', '{"type":"olm.bundle.object","value":{"data":[256]}}', 1],
  ['a byte-order mark is not JSON', object('\ufeff{"a":1}:'), 1],
  [
    'a manifest is UTF-8',
    `{"type":"olm.bundle.object","value":{"data":"${Buffer.from([0x61, 0xff]).toString('base64')}"}}`,
    1,
  ],
])('%s', async (_, property, code) => {
  expect(await run({ 'c/a': catalog(ownProperty, property) }, ['validate', 'c'])).toMatchObject({ code });
});

const BUNDLE: Files = {
  'b/manifests/csv.json': csv(
    '{"version":"1.0.0","install":{"strategy":"deployment","spec":{"deployments":[]}}}',
  ),
  'b/metadata/annotations.yaml':
    'annotations:\n  operators.operatorframework.io.bundle.package.v1: foo\n  operators.operatorframework.io.bundle.channels.v1: 1_e3\n',
};

test('numbers in annotations are text', async () => {
  expect(await run(BUNDLE, ['render', 'b'])).toMatchObject({ code: 0 });
});

test('a property without a value comes before those with one', async () => {
  const properties = 'properties:\n- {type: x, value: "1"}\n- {type: x}\n';
  const { out } = await run({ ...BUNDLE, 'b/metadata/properties.yaml': properties }, ['render', 'b']);
  const values = (JSON.parse(out) as { properties: { type: string; value: unknown }[] }).properties;
  expect(values.filter(({ type }) => type === 'x').map(({ value }) => value)).toEqual([null, '1']);
});

test('keys of definitions count only as they are spelled', async () => {
  const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"f"},"spec":{"versions":[{"name":"v1","NAME":1}]}}`;
  expect(await run({ ...BUNDLE, 'b/manifests/f.json': crd }, ['render', 'b'])).toMatchObject({ code: 0 });
});

test('what YAML cannot hold is an error, not a crash; what came before is printed', async () => {
  expect(await run({}, ['init', 'a\u007f', '-o', 'yaml'])).toMatchObject({ code: 1, out: '' });
  const files = { 'c/a.json': '{"schema":"x","name":"a"}{"schema":"x","name":"\u007f"}' };
  expect(await run(files, ['render', 'c', '-o', 'yaml'])).toMatchObject({
    code: 1,
    out: '---\nname: a\nschema: x\n',
  });
  const named = { 'd/a.json': '{"a":"\u007f"}' };
  expect(await run(named, ['validate', 'd', '-o', 'yaml'])).toMatchObject({ code: 1, out: '' });
});

test('what begins like JSON, and is YAML from its second value on', async () => {
  const { code, out } = await run({}, ['alpha', 'convert-template', 'basic'], '{"schema":"s"}\n"A": 22,\n');
  expect(code).toBe(0);
  expect(JSON.parse(out).entries).toEqual([{ schema: 's' }, { A: '22,' }]);
});

test('a byte-order mark belongs to the pattern', async () => {
  const files = { 'c/.indexignore': '\ufeffa\n', 'c/a': 'schema: x\n' };
  expect((await run(files, ['render', 'c'])).out).toContain('"x"');
});

test.each([
  [['render', '']],
  [['validate', '']],
  [['migrate', '.', '']],
  [['generate', '-p', 'dockerfile']],
  [['generate', '-', 'dockerfile', '.']],
  [['--', 'init']],
  [['render', 'localhost:99999/a']],
])('%j is refused', async (words) => {
  const { code, out, err } = await run({}, words);
  expect([code, out]).toEqual([1, '']);
  expect(err).not.toBe('');
});

test('--help=false is no help', async () => {
  expect((await run({ 'c/a': 'schema: x\n' }, ['--help=false', 'render', 'c'])).out).toContain('"x"');
});

test('a template ends where its separator stands alone', async () => {
  const text = 'schema: olm.template.basic\nentries: []\n--- a\n';
  expect(await run({ t: text }, ['alpha', 'render-template', 'basic', 't'])).toMatchObject({
    code: 1,
    out: '',
  });
});

test('links that lead to no file are told in the words of opm', async () => {
  mkdirSync(join(work, 'c'));
  symlinkSync('nowhere', join(work, 'c/a'));
  const said = async (): Promise<string> =>
    JSON.parse((await run({}, ['validate', 'c', '-o', 'json'])).out).error.message;
  expect(await said()).toBe('open a: no such file or directory');
  rmSync(join(work, 'c/a'));
  symlinkSync('..', join(work, 'c/a'));
  expect(await said()).toBe(`read ${work}/c/a: is a directory`);
});
