/** That the table of hostile inputs has a row for whatever reads the bytes of others. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cpuTime } from './fakes/cpu-time.ts';
import { HOSTILE } from './fuzz/hostile.ts';
import { TARGETS } from './fuzz/targets.ts';

/** What only writes, makes patterns of its own constants, or reads what the host's administrator wrote. */
const OWN: readonly string[] = [
  'catalog/bundle/suite.ts',
  'catalog/go/text.ts',
  'catalog/rules/bundle-checks/store.ts',
  'functions/aws/ecr.ts',
  'functions/ecr/credentials.ts',
  'functions/github.ts',
  'pipeline/change/path.ts',
  'pipeline/cli/formed-option.ts',
  'pipeline/cli/monitor/monitor.ts',
  'pipeline/oci/image/compress.ts',
  'pipeline/oci/registry/quirks.ts',
  'pipeline/publish/delivery/local.ts',
  'pipeline/secrets.ts',
];

const sources = ['catalog', 'pipeline', 'functions', 'playground']
  .flatMap((layer) =>
    readdirSync(layer, { recursive: true, encoding: 'utf8' }).map((file) => join(layer, file)),
  )
  .filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && file !== 'pipeline/report/page/script.ts',
  );

/** A function that takes text or bytes first, and is called after reading. */
const READER =
  /^export (?:async )?function\*? (?:parse|read|decode|unpack|un[a-z]+ed|decompress|compile|tryParse|tryRead)\w*\(\s*(?!path|folder|directory|operands)\w+\??: (?:readonly )?(?:string|Uint8Array|Buffer|AsyncIterable<Uint8Array>)\b/m;
/** A decoder or a parser of somebody else's that is brought in, or a pattern that is made from text. */
const DECODER =
  /(?:gunzip|inflate|brotliDecompress|Gunzip|Inflate|DecompressionStream)\w*\b|from '(?:js-yaml|pako|modern-tar|re2js|@marcbachmann\/cel-js|@hpcc-js\/wasm-zstd|@grpc\/proto-loader)'|import\('(?:sql\.js|@hpcc)|new RegExp\((?![`'][^$]*[`']\))/;

const reads = Object.values(HOSTILE).flatMap((row) => row.reads);

test('43: whatever reads the bytes of others has a row in the table of hostile inputs', () => {
  const readers = sources.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return READER.test(text) || DECODER.test(text);
  });
  expect(readers.length).toBeGreaterThan(50);
  expect(readers.filter((file) => !reads.includes(file) && !OWN.includes(file))).toEqual([]);
});

test('the modules of the table exist, and none is in both lists', () => {
  expect([...reads, ...OWN].filter((file) => !existsSync(file))).toEqual([]);
  expect(OWN.filter((file) => reads.includes(file))).toEqual([]);
});

test('each row of the table is on the page of costs', () => {
  const page = readFileSync('bench/hostile-inputs.md', 'utf8');
  expect(Object.keys(HOSTILE).filter((name) => !page.includes(`\n| ${name} | `))).toEqual([]);
});

test.each(['CODEOWNERS (blanks)', 'texts of templates', 'edits', 'cluster-objects'])(
  '45: reading %s does not cost the square of its length',
  async (name) => {
    const row = HOSTILE[name];
    const read = row?.read ?? TARGETS[name];
    const bytes = Buffer.from((await row?.bytes()) ?? []);
    const cpu = cpuTime();
    await read?.(bytes);
    expect(bytes.length).toBeGreaterThan(200_000);
    expect(cpu()).toBeLessThan(5000);
  },
);
