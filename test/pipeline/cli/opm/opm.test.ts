import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { registryClient } from '../../../../pipeline/catalogs/render/client.ts';
import { runOpm } from '../../../../pipeline/cli/opm/opm.ts';
import { PipelineError, type Remedy } from '../../../../pipeline/error.ts';
import { capture } from '../../../conformance/fbc-terminal.ts';

let work = '';
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'opm-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

async function run(
  line: string | readonly string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const { terminal, printed, complaints } = capture(work, input);
  const world = { terminal, registry: registryClient.bind(undefined, terminal) };
  const words = typeof line === 'string' ? line.split(' ').filter(Boolean) : [...line];
  const code = await runOpm(words, world);
  return { code, out: printed(), err: complaints() };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text);
}

const ferry = readFileSync('test/catalogs/sample/catalogs/v4.20/ferry-operator/catalog.yaml', 'utf8');

describe('commands are found as cobra finds them', () => {
  test('nothing at all, and a group that does nothing, end well', async () => {
    const help = (line: string) => expect.stringContaining(`  portolan opm ${line}\n`);
    expect(await run('')).toEqual({ code: 0, out: '', err: help('validate') });
    expect(await run('alpha')).toEqual({ code: 0, out: '', err: help('alpha list packages') });
    expect((await run('generate')).out).toContain('portolan opm generate dockerfile');
  });

  test('an unknown command is refused, with the nearest', async () => {
    const { code, err } = await run('validat catalog');
    expect(code).toBe(1);
    expect(err).toBe('opm: unknown command "validat" in opm\n  did you mean: validate\n');
  });

  test.each([
    ['serve', 'portolan serve'],
    ['index add', 'portolan index'],
    ['alpha bundle validate', 'portolan bundle'],
  ])('opm %s is said to be elsewhere', async (words, place) => {
    const { code, err } = await run(words);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`\n  use ${place}\n`) });
  });

  test('help names the flags', async () => {
    const { code, out } = await run('render --help');
    expect(code).toBe(0);
    expect(out).toContain('-o, --output FORMAT  format of the stream (json|yaml)');
  });

  test('the version is that of the opm whose answers are given', async () => {
    expect((await run('version')).out).toMatch(/^Version: version\.Version\{OpmVersion:"v1\.73\.0", /);
  });
});

describe('validate', () => {
  test('says nothing of a sound catalog, and every defect of a broken one', async () => {
    write('c/catalog.yaml', ferry);
    expect(await run('validate c')).toEqual({ code: 0, out: '', err: '' });
    expect((await run('validate c -o json')).out).toBe('{\n  "passed": true\n}\n');
    write('c/catalog.yaml', ferry.replaceAll(/^image: .*$/gm, 'image: ""'));
    const { code, err } = await run('validate c');
    expect(code).toBe(1);
    expect(err.match(/has no image/g)?.length).toBe(ferry.match(/^image: /gm)?.length);
  });

  test('what cannot be read is told in the words of opm, and with its place on standard error', async () => {
    write('c/catalog.yaml', 'schema: olm.package\nname: [\n');
    const { code, out, err } = await run('validate c -o json');
    expect(code).toBe(1);
    const said = 'error converting YAML to JSON: yaml: line 2: did not find expected node content';
    expect(JSON.parse(out)).toEqual({ passed: false, error: { message: said } });
    expect(err).toContain('catalog.yaml:3:1: error: ');
  });

  test('a file and a missing directory are refused', async () => {
    write('c.yaml', ferry);
    expect((await run('validate c.yaml')).err).toContain('not a directory');
    expect((await run('validate nothing')).err).toContain('no such file or directory');
  });
});

describe('migrate', () => {
  test('writes a folder for each package, and refuses a folder that is not empty', async () => {
    write('c/catalog.yaml', `${ferry}\n---\nschema: example.com/note\ntext: hello\n`);
    expect((await run('migrate c out -o yaml')).code).toBe(0);
    expect(readdirSync(join(work, 'out')).sort()).toEqual(['catalog.yaml', 'ferry-operator']);
    const { out } = await run('render c -o yaml');
    const written = ['ferry-operator/catalog.yaml', 'catalog.yaml'].map((path) =>
      readFileSync(join(work, 'out', path), 'utf8'),
    );
    expect(written.join('')).toBe(out);
    expect((await run('migrate c out')).err).toContain('must be empty');
  });

  test('writes into an empty folder', async () => {
    write('c/catalog.yaml', ferry);
    mkdirSync(join(work, 'out'));
    expect(await run('migrate c out')).toMatchObject({ code: 0 });
  });

  test.each(['../b', '.git', 'x/.GIT', '.', 'x/', './a', 'x/../a'])(
    'a package with the name %s writes nothing',
    async (name) => {
      write('c/catalog.yaml', `schema: olm.package\nname: a\n---\nschema: olm.package\nname: ${name}\n`);
      expect((await run('migrate c out')).err).toContain(`"${name}" is not a valid folder name`);
      expect(readdirSync(work)).toEqual(['c']);
    },
  );
});

describe('generate dockerfile', () => {
  test('stands beside the directory and is never overwritten', async () => {
    write('c/catalog.yaml', ferry);
    expect((await run('generate dockerfile c/ -i scratch -l b=1,a=2')).code).toBe(0);
    const text = readFileSync(join(work, 'c.Dockerfile'), 'utf8');
    expect(text).toContain('\nFROM scratch\n# OLMv0');
    expect(text.endsWith('LABEL "a"="2"\nLABEL "b"="1"\n')).toBe(true);
    expect((await run('generate dockerfile c')).code).toBe(1);
    expect(readFileSync(join(work, 'c.Dockerfile'), 'utf8')).toBe(text);
  });

  test('may be built on nothing by the old flag, as opm allows', async () => {
    write('c/a', '');
    expect((await run('generate dockerfile c --binary-image scratch')).code).toBe(0);
    expect((await run('generate dockerfile c -b scratch')).code).toBe(1);
  });

  test('90: a line break becomes no instruction', async () => {
    const name = 'c\nRUN x';
    write(`${name}/catalog.yaml`, ferry);
    write('c/catalog.yaml', ferry);
    for (const words of [
      [name],
      ['c', '-i', 'a\nRUN x'],
      ['c', '-b', 'a\nRUN x'],
      ['c', '-l', '"k=a\nRUN x"'],
    ]) {
      const { code, err } = await run(['generate', 'dockerfile', ...words]);
      expect([code, err]).toEqual([1, expect.stringContaining('has a line break')]);
    }
    expect(readdirSync(work)).toEqual(['c', name]);
  });

  test('90: a space in an image or a folder gives no further word', async () => {
    write('c d/catalog.yaml', ferry);
    write('c/catalog.yaml', ferry);
    for (const words of [['c d'], ['c', '-i', 'a AS b'], ['c', '-b', '--platform=x']]) {
      const { code, err } = await run(['generate', 'dockerfile', ...words]);
      expect([code, err]).toEqual([1, expect.stringContaining('must be one word')]);
    }
  });

  test('leaves nothing behind when it fails', async () => {
    write('c/catalog.yaml', ferry);
    for (const flags of ['-b scratch', '-i=', '-l x', '--binary-image a -i b']) {
      expect((await run(`generate dockerfile c ${flags}`)).code).toBe(1);
    }
    expect(readdirSync(work)).toEqual(['c']);
  });
});

describe('templates', () => {
  test('one without bundles needs no registry', async () => {
    const template =
      'schema: olm.template.basic\nentries:\n- schema: olm.package\n  name: foo\n  defaultChannel: a\n';
    const { code, out } = await run('alpha render-template -o yaml', template);
    expect(code).toBe(0);
    expect(out).toBe('---\ndefaultChannel: a\nname: foo\nschema: olm.package\n');
    expect((await run('alpha render-veneer basic -o yaml', template)).out).toBe(out);
  });

  test.each([
    ['schema: olm.template.basic\nentries:\n- schema: olm.bundle\n', 'standard input:3:3'],
    [
      'schema: olm.template.basic\nentries:\n- schema: olm.bundle\n  image: a/b:c\n  package: d\n',
      'found package',
    ],
    ['schema: olm.semver\nstable:\n  bundle:\n  - image: a/b:c\n', 'unknown field stable.bundle'],
    ['schema: olm.semver\nstable:\n  bundles: []\n', 'names no bundles'],
    ['schema: olm.semver\nschema: olm.semver\n', 'duplicate key "schema"'],
    ['schema: olm.semver\ngenerateMajorChannels: "yes"\n', 'generateMajorChannels must be true or false'],
    ['schema: olm.composite\n', 'no template has the schema "olm.composite"'],
    ['', 'the template is empty'],
    ['a: b\n', 'the template has no schema'],
  ])('%j is refused where it is wrong', async (template, message) => {
    const { code, err } = await run('alpha render-template', template);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  test('of a bundle only the fields are read, not the manifests', async () => {
    const object = '{"type":"olm.bundle.object","value":"no object"}';
    const bundle = `{"schema":"olm.bundle","image":"a/b","properties":[${object}]}`;
    const { code, out } = await run('alpha convert-template basic', bundle);
    expect(code).toBe(0);
    expect(JSON.parse(out).entries).toEqual([{ schema: 'olm.bundle', image: 'a/b' }]);
  });

  test('a catalog becomes a template, and the template names its images', async () => {
    const { code, out } = await run('alpha convert-template basic - -o yaml', ferry);
    expect(code).toBe(0);
    expect(out.startsWith('---\nentries:\n')).toBe(true);
    expect(out).not.toContain('relatedImages');
  });
});

describe('init', () => {
  test('prints a package, and nothing for one without a name', async () => {
    write('icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>');
    const { code, out } = await run('init foo -c stable -i icon.svg');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ name: 'foo', icon: { mediatype: 'image/svg+xml' } });
    write('icon.svg', 'text');
    expect((await run('init foo -i icon.svg')).err).toContain('icon.svg is not an image');
  });

  test('escapes each byte of a description that is not UTF-8', async () => {
    // Two bytes of three, a byte that begins nothing, and the character itself.
    const bytes = Buffer.from([0x61, 0xe2, 0x82, 0xff, 0xef, 0xbf, 0xbd]);
    writeFileSync(join(work, 'README.md'), bytes);
    const json = (await run('init foo -d README.md')).out;
    expect(json).toContain(String.raw`"description": "a\ufffd\ufffd\ufffd` + '\ufffd"');
    expect((await run('init foo -d README.md -o yaml')).out).toContain(
      'description: a\ufffd\ufffd\ufffd\ufffd',
    );
    writeFileSync(join(work, 'README.md'), Buffer.concat([bytes, Buffer.from('<b>&\\u003c')]));
    expect((await run('init foo -d README.md')).out).toContain(String.raw`<b>&\\u003c"`);
  });
});

describe('what can be done about a registry is said in flags that opm has', () => {
  const failing =
    (remedy: Remedy) =>
    async (line: string): Promise<string> => {
      const { terminal, complaints } = capture(work, '');
      const refuse = (): never => {
        throw new PipelineError('unreachable', 'no answer', { remedy });
      };
      expect(await runOpm(line.split(' '), { terminal, registry: refuse })).toBe(1);
      return complaints();
    };

  test('plain HTTP', async () => {
    const told = await failing({ kind: 'plain-http', host: 'quay.example:5000' })(
      'render quay.example:5000/a:v1',
    );
    expect(told).toBe('opm: no answer\n  if quay.example:5000 uses plain HTTP: --use-http\n');
    const [flag] = /--\S+/.exec(told) ?? [];
    write('etcd/catalog.yaml', ferry);
    expect((await run(`render ${flag} etcd`)).code).toBe(0);
    expect((await run('render --insecure etcd')).code).toBe(1);
  });

  test('a private certificate authority, and an internal network', async () => {
    expect(await failing({ kind: 'authority', host: 'quay.example' })('render quay.example/a:v1')).toContain(
      'NODE_EXTRA_CA_CERTS',
    );
    expect(await failing({ kind: 'internal', host: 'quay.example' })('render quay.example/a:v1')).toBe(
      'opm: no answer\n',
    );
  });
});
