import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import * as library from '../catalog/index.ts';
import { CATALOG_RULES } from '../catalog/rules/catalog.ts';
import { RULES } from '../catalog/rules/index.ts';
import { INSPECTION_RULES } from '../catalog/rules/inspection.ts';

/** Every source file of the layers, with what it imports. */
const sources = ['catalog', 'pipeline', 'functions', 'playground']
  .flatMap((layer) =>
    existsSync(layer)
      ? readdirSync(layer, { recursive: true, encoding: 'utf8' }).map((file) => join(layer, file))
      : [],
  )
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, imports: importsOf(readFileSync(file, 'utf8')) }));

/** The folders and loose files of each layer, from top to bottom: each imports only from what stands below it. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  catalog: [
    'index.ts',
    'opm',
    'edit',
    'mirror',
    'rules',
    'olm',
    'references',
    'bundle',
    'crd',
    'fbc',
    'yaml',
    'version',
    'source.ts',
    'spelling.ts',
    'names.ts',
    'reference.ts',
    'finding.ts',
    'go',
    'json.ts',
    'undecided.ts',
  ],
  pipeline: [
    'action',
    'cli',
    'github',
    'forge',
    'publish',
    'mirror',
    'report',
    'check',
    'change',
    'catalogs',
    'policy',
    'git',
    'oci',
    'terminal.ts',
    'settings.ts',
    'text.ts',
    'write.ts',
    'directory.ts',
    'file-pieces.ts',
    'parallel.ts',
    'processes.ts',
    'server-limits.ts',
    'lru-cache.ts',
    'ports.ts',
    'error.ts',
    'secrets.ts',
  ],
};
/** What a reader can take in at once. */
const MOST_LOOSE_FILES = 13;
const MOST_FOLDERS = 13;

describe('layout', () => {
  /** Imports between two files of our own, as paths from the root. Imports of types count. */
  const arrows = sources.flatMap(({ file, imports }) =>
    imports
      .filter((name) => name.startsWith('.') && name.endsWith('.ts'))
      .map((name) => ({ from: file, to: relative('.', resolve(dirname(file), name)) })),
  );

  test.each(Object.entries(LAYERS))('%s/ holds what the order names', (layer, order) => {
    const found = readdirSync(layer, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() || entry.name.endsWith('.ts'),
    );
    expect(found.map(({ name }) => name).sort()).toEqual([...order].sort());
    expect(found.filter((entry) => entry.isFile()).length).toBeLessThanOrEqual(MOST_LOOSE_FILES);
    expect(found.filter((entry) => entry.isDirectory()).length).toBeLessThanOrEqual(MOST_FOLDERS);
  });

  test.each(Object.entries(LAYERS))('nothing in %s/ imports from above', (layer, order) => {
    const rank = (path: string) => order.indexOf(path.split('/')[1] ?? '');
    const upward = arrows
      .filter(({ from, to }) => from.startsWith(`${layer}/`) && to.startsWith(`${layer}/`))
      .filter(({ from, to }) => rank(to) < rank(from));
    expect(upward).toEqual([]);
  });

  test('no folder imports from one beside it that imports from it, however far around', () => {
    const folders = new Map<string, Map<string, Set<string>>>();
    for (const { from, to } of arrows) {
      const [a, b] = [from.split('/'), to.split('/')];
      const depth = a.findIndex((name, at) => name !== b[at]);
      // A file beside folders is part of neither.
      if (depth < 1 || depth >= a.length - 1 || depth >= b.length - 1) continue;
      const [parent, source = '', sink = ''] = [a.slice(0, depth).join('/'), a[depth], b[depth]];
      const beside = folders.get(parent) ?? new Map<string, Set<string>>();
      folders.set(parent, beside.set(source, (beside.get(source) ?? new Set()).add(sink)));
    }
    const cycles = [...folders].flatMap(([parent, beside]) =>
      [...beside.keys()].filter((name) => reaches(beside, name)).map((name) => `${parent}/${name}`),
    );
    expect(cycles).toEqual([]);
  });

  test('no file imports from one that imports from it, however far around', () => {
    const files = new Map<string, Set<string>>();
    for (const { from, to } of arrows) files.set(from, (files.get(from) ?? new Set()).add(to));
    expect([...files.keys()].filter((file) => reaches(files, file))).toEqual([]);
  });

  test('a small file that one file beside it imports, and no test, is part of that file', () => {
    const importers = new Map<string, string[]>();
    for (const { from, to } of arrows) importers.set(to, [...(importers.get(to) ?? []), from]);
    const tested = new Set(testImports());
    const parts = [...importers]
      .filter(([file, by]) => by.length === 1 && dirname(by[0] ?? '') === dirname(file))
      // What is loaded when it is needed has to be a file.
      .filter(([file, [by = '']]) => !tested.has(file) && !code(by).includes(`import('./${basename(file)}')`))
      .filter(
        ([file]) => !file.startsWith('functions/') && readFileSync(file, 'utf8').split('\n').length <= SMALL,
      )
      .map(([file]) => file);
    expect(parts.filter((file) => !(file in CONCERNS))).toEqual([]);
  });
});

/** Lines of a file that hardly stands alone. */
const SMALL = 40;
/** Small files that stay by themselves, and why. */
const CONCERNS: Readonly<Record<string, string>> = {
  'pipeline/check/extra-steps.ts': 'the list of what extras add to a check',
  'pipeline/cli/opm/commands.ts': 'the table of commands, which the build cuts down',
  'pipeline/oci/registry/embedded/password-program.ts': 'the text of a program, which the build completes',
  'pipeline/policy/setup/policy.ts': 'the text of a first policy',
  'pipeline/policy/setup/workflows.ts': 'generated',
  'pipeline/report/browser/findings.ts': 'one file for each part of the page',
  'pipeline/report/page/script.ts': 'generated',
};

/** The sources that tests import, and those that have a test of their own. */
function testImports(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      file.replace(/(?:\.slow)?\.test\.ts$/, '.ts'),
      ...importsOf(readFileSync(join('test', file), 'utf8')).map((name) =>
        relative('.', resolve(dirname(join('test', file)), name)),
      ),
    ]);
}

/** Whether arrows lead from a folder, or a file, back to itself. */
function reaches(arrows: ReadonlyMap<string, ReadonlySet<string>>, start: string): boolean {
  const seen = new Set<string>();
  const open = [...(arrows.get(start) ?? [])];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === start) return true;
    if (!seen.has(name)) open.push(...(arrows.get(name) ?? []));
    seen.add(name);
  }
  return false;
}

describe('arrows', () => {
  test.each([
    ['catalog', ['pipeline', 'functions', 'playground']],
    ['pipeline', ['functions', 'playground']],
    ['functions', ['playground']],
    ['playground', ['functions']],
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
        (file) =>
          !/^pipeline\/(?:cli\/(?:bin|start)|action\/index)\.ts$|^functions\/\w+\/env\.ts$/.test(file),
      ),
    ).toEqual([]);
  });
});

test('74: output is written where what it must not have is taken out', () => {
  const writes = sources.filter(({ file }) =>
    /\bprocess\.std(?:out|err)\b|\bconsole\.\w+\(/.test(code(file)),
  );
  expect(writes.map(({ file }) => file)).toEqual([
    'pipeline/cli/bin.ts',
    'pipeline/cli/lsp/command.ts',
    'pipeline/cli/lsp/server.ts',
    'functions/kubernetes/main.ts',
  ]);
  const infos = sources.filter(({ file }) => /\binfo\b[^}]*} from '@actions\/core'/.test(code(file)));
  expect(infos.map(({ file }) => file)).toEqual(['pipeline/action/log.ts']);
});

test('76: files that somebody else may have made are opened in one place', () => {
  const own = [
    'pipeline/file-pieces.ts',
    'pipeline/oci/image/layer-piece.ts', // written by this process
    'pipeline/oci/registry/layout/lock.ts', // of the kernel, and locks of Portolan
    'pipeline/processes.ts', // of the kernel
  ];
  const opens =
    /\b(?:readFileSync|readFile|createReadStream)\b[^}]*} from 'node:fs|\bopen(?:Sync)?\([^()]*(?:'r\+?'|O_RDONLY)/;
  const openers = sources.filter(
    ({ file }) => /^(?:pipeline|functions)\//.test(file) && opens.test(code(file)),
  );
  expect(openers.map(({ file }) => file).sort()).toEqual(
    [...own, 'pipeline/oci/registry/layout/files.ts'].sort(),
  );
});

test('70: folders that a clone may have are listed in one place', () => {
  const own = [
    'functions/aws/env.ts', // of temporary files
    'pipeline/cli/lsp/server.ts', // of the names beside a file that is open
    'pipeline/directory.ts',
    'pipeline/git/special-files.ts', // of git
    'pipeline/mirror/archive/parts.ts', // behind the look of archives
    'pipeline/oci/registry/layout/blobs.ts', // behind the look of layouts
    'pipeline/oci/registry/layout/layout.ts',
    'pipeline/publish/records/directory.ts', // of Portolan
  ];
  const lists = /\breaddir(?:Sync)?\(/;
  const listing = sources.filter(({ file }) => !file.startsWith('playground/') && lists.test(code(file)));
  expect(listing.map(({ file }) => file).sort()).toEqual(own);
});

test('npm test leaves out no test of what decides about a change', () => {
  const decides =
    /^test\/(?:[^/]+\.|catalog\/|oracle\/|pipeline\/(?:change|check\/(?:authority|content|world|outcome))\/)/;
  const slow = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.slow.test.ts'));
  expect(slow.length).toBeGreaterThan(0);
  expect(slow.filter((file) => decides.test(file))).toEqual([]);
});

describe('rooms', () => {
  test('no room for leftovers', () => {
    const leftovers = /(?:^|\/)(?:src|lib|utils?|helpers?|common|misc|types\.ts|constants\.ts)(?:\/|$)/;
    expect(sources.map(({ file }) => file).filter((file) => leftovers.test(file))).toEqual([]);
  });

  test('no pattern looks for blanks over lines at each line: that costs the square of empty lines', () => {
    const crossing = /\/\^\(*(?:\\s|\[[^\]]*\\s[^\]]*\])[*+].*\/[gisuvy]*m/;
    expect(sources.map(({ file }) => file).filter((file) => crossing.test(code(file)))).toEqual([]);
  });

  test('no list is copied to add one value to it: that costs the square of its length', () => {
    const copying = /([\w.]+)\.set\(([\w.]+), \[\.\.\.\(\1\.get\(\2\) \?\? \[\]\), (?!\.\.\.)[^\]]+\]/;
    expect(sources.map(({ file }) => file).filter((file) => copying.test(code(file)))).toEqual([]);
  });

  test('65: a command for people to copy has each value as a word of the shell', () => {
    const command =
      /(?:^|[ :(])(?:portolan (?!could )[a-z]|git (?:branch|push|fetch|sparse-checkout) |opm render |oc (?:apply|get) |rm |mkdir |echo )/;
    // Names of the program's own: options, kinds, commands, numbers.
    const own =
      /^(?:LISTED|names|flag|kind|program|option|words|shell|command\.(?:words$|operands .*)|event\.number|COMMANDS\.length|type\.replace\(.*)$/;
    const bare = sources.flatMap(({ file }) =>
      [...code(file).matchAll(/`((?:\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\]|\\.)*)`/g)].flatMap(
        ([, text = '']) => {
          const from = text.search(command);
          if (from < 0) return [];
          const values = [...text.slice(from).matchAll(/\$\{((?:[^{}]|\{[^{}]*\})*)\}/g)].map(
            ([, value = '']) => value,
          );
          return values
            .filter((value) => !value.includes('shellWord') && !own.test(value))
            .map((value) => `${file}: ${value}`);
        },
      ),
    );
    expect(bare).toEqual([]);
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
  'bundle/dangling',
  'operator/bundle-changed',
  'operator/bundle-deleted',
  'operator/pull-request',
  'fbc/unreadable',
  'fbc/limits',
  'drift/mapping',
  'drift/template',
  'layout/unmatched',
  'advisory/undone',
  'package/update-graph',
];

/** Texts of the files that have a rule, or a table of them. */
const RULE_FILES = Object.fromEntries(
  sources
    .filter(({ file }) => file.startsWith('catalog/rules/'))
    .map(({ file }) => [file, readFileSync(file, 'utf8')]),
);

describe('rules', () => {
  test.each(RULES.map((rule) => [rule.id, rule] as const))(
    '%s has its file or row, its fixtures and its place in the docs',
    (id, rule) => {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*$/);
      const files = Object.entries(RULE_FILES).filter(([, text]) => text.includes(`  id: '${id}',\n`));
      const [[file, text] = ['', '']] = files;
      expect([files.length, dirname(file)]).toEqual([1, `catalog/rules/${id.split('/')[0]}`]);
      if (!text.includes('export const rules: ')) expect(file).toBe(`catalog/rules/${id}.ts`);
      expect(readFileSync('docs/rules.md', 'utf8')).toContain(`\`${id}\``);
      expect(rule.summary).toMatch(/^Reports .*[^.]$/);
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

  test('the shorter lists have what they are for, by id', () => {
    const catalogs = RULES.filter(
      ({ id, check, bundleCheck }) => check ?? bundleCheck ?? id.startsWith('fbc/'),
    );
    expect(CATALOG_RULES).toEqual(catalogs);
    expect(INSPECTION_RULES).toEqual(RULES.filter(({ inspect }) => inspect));
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
  // A clone may share the packages of another one by a link.
  const packages = Object.keys(metafile.inputs).flatMap((input) => input.split('node_modules/')[1] ?? []);
  expect(new Set(packages.map((path) => path.split('/')[0]))).toMatchSnapshot();
});

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name = '']) => name);
}

/** A file's text without comments. */
function code(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
