/** Two threads render the bytes and report the errors that one does, whichever of them has which file. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RenderFormat } from '../../../../catalog/fbc/render.ts';
import { compareFindings, type Finding } from '../../../../catalog/finding.ts';
import { openSharedFile, openSpool, type Spool } from '../../../../pipeline/catalogs/render/ordered-spool.ts';
import { streamReferences } from '../../../../pipeline/catalogs/render/stream.ts';
import {
  joinedShares,
  type RenderShare,
  type RenderTask,
  renderShare,
} from '../../../../pipeline/catalogs/render/two-threads.ts';
import { inTwoThreads, sharedTask, type ThreadOptions } from '../../../../pipeline/catalogs/two-threads.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { runs } from '../../../fakes/runs.ts';
import { builtThread, posting, threadOf } from '../../../fakes/second-thread.ts';

type Files = Readonly<Record<string, string>>;

interface How {
  readonly format: RenderFormat;
  readonly migrates: boolean;
}

/** What people see of a rendering. */
interface Outcome {
  readonly out: string;
  readonly findings: readonly Finding[];
  readonly error?: string;
}

const JSON_AS_IT_IS: How = { format: 'json', migrates: false };

/** A package in three files, a duplicate, blobs of no package, and a bundle whose manifest can be migrated. */
const CATALOG: Files = {
  '.indexignore': 'ignored.yaml\n',
  'a.yaml': catalogOf('vault', ['1.0.0', '1.1.0']),
  'ignored.yaml': 'schema: [\n',
  'etcd/b.yaml': 'schema: custom\npackage: vault\n---\nschema: example.com/note\ntext: é\n',
  'etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
  'etcd-again.yaml': catalogOf('etcd', ['1.1.0']),
  'z.yaml': `schema: olm.bundle
name: vault.v0
package: vault
image: example.com/vault@sha256:${'0'.repeat(64)}
properties:
- type: olm.bundle.object
  value: {data: ${btoa('{"kind":"ClusterServiceVersion","metadata":{"name":"v0"},"spec":{"displayName":"V"}}')}}
`,
};
const CONTROL = 'schema: example.com/note\ntext: "\\x7f"\n';

describe('shares', () => {
  test.each([
    ['json', false],
    ['yaml', true],
  ] as const)(
    'are the whole together, however the files are shared out: %s, migrated: %s',
    async (format, migrates) => {
      const root = folder(CATALOG);
      const whole = await rendered(root, { format, migrates });
      expect(whole.out.includes('olm.bundle.object')).toBe(!migrates);
      expect(whole).toMatchObject({ findings: [] });
      for (let mask = 0; mask < 128; mask++)
        expect(await byTwo(root, { format, migrates }, mask), `${mask}`).toEqual(whole);
    },
  );

  test('of generated catalogs are the whole together', async () => {
    await fc.assert(
      fc.asyncProperty(catalogs(), hows(), fc.nat(), async (files, how, mask) => {
        const root = folder(files);
        const whole = await rendered(root, how);
        const both = await byTwo(root, how, mask);
        // What YAML cannot hold is for one thread to say.
        if (both === undefined) expect(how.format).toBe('yaml');
        else expect(both).toEqual(whole);
      }),
      runs(500),
    );
  });

  test('are refused of a directory whose files have gone', async () => {
    const { task, spool } = await shareOut(folder(CATALOG), JSON_AS_IT_IS);
    onTestFinished(() => spool.close());
    const parts = new Map([...task.parts, ['gone.yaml', 0]]);
    await expect(renderShare({ ...task, parts })).rejects.toThrow('the directory has changed');
  });
});

describe('the second thread', () => {
  const threads = { least: 0, processors: 2 };
  const finding = {
    rule: 'x',
    severity: 'warning',
    message: 'x',
    location: { file: 'x', line: 1, column: 1 },
  };
  const blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] };

  test('is the program that is built, and makes no difference', async () => {
    const program = builtThread();
    await fc.assert(
      fc.asyncProperty(catalogs(), hows(), async (files, how) => {
        const root = folder({ ...files, 'more/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']) });
        expect(await rendered(root, how, { ...threads, program })).toEqual(await rendered(root, how));
      }),
      runs(50),
    );
  });

  test('renders what it takes for both', async () => {
    const { '.indexignore': _, 'ignored.yaml': __, ...files } = CATALOG;
    const root = folder(files);
    const { task, spool } = await shareOut(root, JSON_AS_IT_IS);
    onTestFinished(() => spool.close());
    const takers = new Int32Array(task.takers);
    const shares = await inTwoThreads(builtThread(), task, async (own, thread) => {
      while (takers.includes(0)) await setTimeout(1);
      return renderShare(own, spool, thread);
    });
    expect([...takers]).toEqual(new Array(5).fill(2));
    expect(shares && outcomeOf(shares, spool)).toEqual(await rendered(root, JSON_AS_IT_IS));
  });

  test.each([
    ['throws', 'throw new Error("no")'],
    [
      'throws after it has taken all files',
      `new Int32Array(require('node:worker_threads').workerData.takers).fill(2); throw new Error('no')`,
    ],
    ['ends without an answer', 'process.exit(3)'],
    ['is not there', undefined],
    [
      'has half of the documents that a catalog may have',
      posting({ findings: [{ ...finding, rule: 'fbc/limits' }], blobs }),
    ],
  ])('may fail: one thread renders everything if it %s', async (_, text) => {
    const root = folder(CATALOG);
    const program = text === undefined ? join(root, 'none.cjs') : threadOf(text);
    const whole = await rendered(root, JSON_AS_IT_IS);
    expect(await rendered(root, JSON_AS_IT_IS, { ...threads, program })).toEqual(whole);
  });

  test('leaves what YAML cannot hold to one thread: the first error after the bytes before it', async () => {
    const root = folder({ ...CATALOG, 'x.yaml': CONTROL, 'y.yaml': CONTROL });
    const how = { format: 'yaml', migrates: false } as const;
    const both = await rendered(root, how, { ...threads, program: builtThread() });
    expect(both).toEqual(await rendered(root, how));
    expect(both.error).toMatch(/^x\.yaml:2: .*cannot be written as YAML/);
    expect(both.out).toContain('name: vault.v1.1.0');
  });

  describe('is believed in what it has', () => {
    const program = () => threadOf(posting({ findings: [finding], blobs }));

    test('of a large directory', async () => {
      const { findings } = await rendered(folder(CATALOG), JSON_AS_IT_IS, {
        ...threads,
        program: program(),
      });
      expect(findings).toEqual([finding]);
    });

    test.each([
      ['a small directory', { processors: 2 }],
      ['one processor', { least: 0, processors: 1 }],
    ])('but not started for %s', async (_, options) => {
      const { findings } = await rendered(folder(CATALOG), JSON_AS_IT_IS, {
        ...options,
        program: program(),
      });
      expect(findings).toEqual([]);
    });

    test('but not started for one file, a bundle or where no file for both can be made', async () => {
      const both = { ...threads, program: program() };
      const one = folder({ 'a.yaml': catalogOf('etcd', ['1.0.0']) });
      expect(await rendered(one, JSON_AS_IT_IS, both)).toEqual(await rendered(one, JSON_AS_IT_IS));
      const bundle = folder({
        'manifests/a.yaml': 'kind: Service\n',
        'metadata/annotations.yaml': 'a: b\n',
      });
      expect(await rendered(bundle, JSON_AS_IT_IS, both)).toEqual(await rendered(bundle, JSON_AS_IT_IS));
      const root = folder(CATALOG);
      vi.stubEnv('TMPDIR', '/nowhere/at/all');
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(await rendered(root, JSON_AS_IT_IS, both)).toEqual(await rendered(root, JSON_AS_IT_IS));
    });
  });
});

function hows(): fc.Arbitrary<How> {
  return fc.record({ format: fc.constantFrom('json', 'yaml'), migrates: fc.boolean() });
}

/** Few names, so that blobs meet: the same package in several files, duplicates, files with errors. */
function catalogs(): fc.Arbitrary<Files> {
  const paths = [
    '.indexignore',
    'a.yaml',
    'a/x.json',
    'a/x/y.yaml',
    'a-b.yaml',
    'b/.indexignore',
    'b/x.yaml',
  ];
  const blob = fc
    .record({
      schema: fc.constantFrom(
        ...['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations', 'example.com/x', 'custom'],
      ),
      package: fc.constantFrom('p', 'q'),
      name: fc.constantFrom('p', 'q', 'n'),
      text: fc.string({ unit: 'grapheme', maxLength: 5 }),
    })
    .map(({ text, ...more }) => ({
      ...more,
      ...{ image: `example.com/${text}`, description: text },
      entries: [{ name: `n${text}`, reference: { schema: 'olm.package' }, message: text }],
    }));
  const good = blob.map((value) => JSON.stringify(value));
  const broken = fc.constantFrom('schema: [', '{"schema": "olm.channel"}', '- a', 'a: \u0000', CONTROL);
  const document = fc.oneof({ weight: 40, arbitrary: good }, { weight: 1, arbitrary: broken });
  const file = fc.array(document, { maxLength: 5 }).map((documents) => documents.join('\n---\n'));
  return fc
    .dictionary(fc.constantFrom(...paths), file, { minKeys: 4, maxKeys: 6, noNullPrototype: true })
    .map((files) => ({ ...files, 'z.yaml': CATALOG['z.yaml'] ?? '' }));
}

/** A directory rendered as commands do it: by one thread, or by two if these are given. */
async function rendered(root: string, { format, migrates }: How, threads?: ThreadOptions): Promise<Outcome> {
  const found: Finding[] = [];
  const decoder = new TextDecoder();
  let out = '';
  const refuses = (findings: readonly Finding[]): boolean => {
    found.push(...findings);
    return findings.some(({ severity }) => severity === 'error');
  };
  const end = await streamReferences({
    references: ['.'],
    rendering: { directory: root, registry: noRegistry, migrates },
    format,
    refuses,
    out: async (bytes) => {
      out += decoder.decode(bytes, { stream: true });
    },
    threads,
  }).catch((error: unknown) => {
    if (!(error instanceof PipelineError)) throw error;
    return error;
  });
  const findings = found.sort(compareFindings);
  return { out, findings, ...(end instanceof PipelineError ? { error: end.message } : {}) };
}

/** What two threads are told of a directory, and where the first one renders. */
async function shareOut(root: string, how: How): Promise<{ task: RenderTask; spool: Spool }> {
  const task = await sharedTask(root, { least: 0, processors: 2 }, (path) => path);
  const shared = openSharedFile();
  if (!task || !shared) throw new Error('nothing is shared');
  const spool = openSpool(0, shared);
  return { task: { ...task, ...how, shared }, spool };
}

/** A directory rendered in two shares, the files of which `mask` gives out; undefined if one fails. */
async function byTwo(root: string, how: How, mask: number): Promise<Outcome | undefined> {
  const { task, spool } = await shareOut(root, how);
  new Int32Array(task.takers).forEach((_, i, takers) => {
    takers[i] = 1 + ((mask >> i) & 1);
  });
  try {
    return outcomeOf([await renderShare(task, spool, 1), await renderShare(task)], spool);
  } catch (error) {
    if (error instanceof PipelineError) return undefined;
    throw error;
  } finally {
    spool.close();
  }
}

function outcomeOf(shares: readonly [RenderShare, RenderShare], spool: Spool): Outcome | undefined {
  const joined = joinedShares(...shares);
  if (!joined) return undefined;
  const { findings, slots } = joined;
  const decoder = new TextDecoder();
  let out = '';
  if (!findings.some(({ severity }) => severity === 'error'))
    for (const bytes of spool.bytes(slots)) out += decoder.decode(bytes, { stream: true });
  return { out, findings };
}

function noRegistry(): never {
  throw new Error('registries are not contacted');
}
