import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import * as library from '../catalog/index.ts';
import { RULES } from '../catalog/rules/index.ts';

/** Every source file of the three layers, with what it imports. */
const sources = ['catalog', 'pipeline', 'functions']
  .flatMap((layer) =>
    existsSync(layer)
      ? readdirSync(layer, { recursive: true, encoding: 'utf8' }).map((file) => join(layer, file))
      : [],
  )
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, imports: importsOf(readFileSync(file, 'utf8')) }));

describe('arrows', () => {
  test.each([
    ['catalog', ['pipeline', 'functions']],
    ['pipeline', ['functions']],
  ])('%s imports nothing of %j', (layer, forbidden) => {
    const wrong = sources
      .filter(({ file }) => file.startsWith(`${layer}/`))
      .flatMap(({ file, imports }) =>
        imports
          .filter((name) => name.startsWith('.'))
          .map((name) => [file, relative('.', resolve(dirname(file), name))]),
      )
      .filter(([, target = '']) => forbidden.some((other) => target.startsWith(`${other}/`)));
    expect(wrong).toEqual([]);
  });

  test('catalog is pure: nothing of Node, no clock, no environment, no network', () => {
    const catalog = sources.filter(({ file }) => file.startsWith('catalog/'));
    expect(
      catalog.flatMap(({ file, imports }) =>
        imports.filter((name) => name.startsWith('node:')).map((name) => `${file}: ${name}`),
      ),
    ).toEqual([]);
    const impure =
      /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|(?<!#)\bfetch\(|\bsetTimeout\(|\bBuffer\./;
    expect(catalog.filter(({ file }) => impure.test(code(file))).map(({ file }) => file)).toEqual([]);
  });

  test('no cloud outside of functions/', () => {
    const cloud = /^@aws|^@azure|^@google-cloud/;
    expect(
      sources.filter(
        ({ file, imports }) => !file.startsWith('functions/') && imports.some((name) => cloud.test(name)),
      ),
    ).toEqual([]);
  });

  test('what the environment says is read where the program starts, nowhere else', () => {
    const readers = sources.filter(({ file }) => /\bprocess\.env\b/.test(code(file))).map(({ file }) => file);
    expect(
      readers.filter(
        (file) => !/^pipeline\/(?:cli\/bin|action\/index)\.ts$|^functions\/aws\/env\.ts$/.test(file),
      ),
    ).toEqual([]);
  });
});

describe('rooms', () => {
  test('no room for leftovers', () => {
    const leftovers = /(?:^|\/)(?:src|lib|utils?|helpers?|common|misc|types\.ts|constants\.ts)(?:\/|$)/;
    expect(sources.map(({ file }) => file).filter((file) => leftovers.test(file))).toEqual([]);
  });

  test('no default exports, no enums', () => {
    expect(
      sources
        .filter(({ file }) => /^export default|^(?:export )?(?:const )?enum /m.test(code(file)))
        .map(({ file }) => file),
    ).toEqual([]);
  });
});

/** What no fixture file can hold: links, files of 512 MB, a whole repository. Tested where that is loaded. */
const ELSEWHERE = [
  'fbc/unreadable',
  'fbc/limits',
  'drift/mapping',
  'drift/template',
  'layout/unmatched',
  'package/update-graph',
];

describe('rules', () => {
  test.each(RULES.map((rule) => [rule.id, rule] as const))(
    '%s has its file, its fixtures and its place in the docs',
    (id, rule) => {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(existsSync(`catalog/rules/${id}.ts`)).toBe(true);
      expect(readFileSync('docs/rules.md', 'utf8')).toContain(`\`${id}\``);
      expect(rule.summary).toMatch(/^[A-Z].*[^.]$/);
      const fixtures = existsSync(`test/rules/${id}`) ? readdirSync(`test/rules/${id}`) : [];
      if (!ELSEWHERE.includes(id)) expect(fixtures).not.toEqual([]);
    },
  );

  test('the page of rules gives each its source, its example and its fix', () => {
    const page = readFileSync('docs/rules.md', 'utf8');
    const kinds = page.split(/^## /m).slice(1, -1);
    for (const kind of kinds) {
      const [head = '', ...rules] = kind.split(/^### /m);
      for (const rule of rules) {
        const [name = ''] = rule.split('\n');
        expect(`${name} ${head}${rule}`).toMatch(/Source: \S/);
        expect(`${name} ${rule}`).toMatch(/^- Example: \S/m);
        expect(`${name} ${rule}`).toMatch(/^- Fix: \S/m);
      }
    }
  });

  test('no two rules have one id', () => expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length));
});

test('the public surface changes only on purpose', () => {
  expect(Object.keys(library).sort()).toMatchSnapshot();
});

test('the library can be bundled for a browser: it needs nothing but itself', () => {
  const { metafile } = buildSync({
    entryPoints: ['catalog/index.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const packages = Object.keys(metafile.inputs).filter((input) => input.startsWith('node_modules/'));
  expect(new Set(packages.map((input) => input.split('/')[1]))).toMatchSnapshot();
});

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name = '']) => name);
}

/** A file's text without comments. */
function code(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
