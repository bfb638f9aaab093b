import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { LineMap, MarkedDocument, OffsetDocument } from '../../catalog/fbc/document.ts';
import { type ReadDocument, readDocuments } from '../../catalog/fbc/documents.ts';
import { splitDocuments, startsLikeJson } from '../../catalog/fbc/split.ts';
import { type Composed, compose } from '../../catalog/yaml/compose.ts';
import { emitYaml } from '../../catalog/yaml/emit.ts';
import { type FastDocument, readFast } from '../../catalog/yaml/fast.ts';
import { readTree } from '../../catalog/yaml/parser.ts';
import type { Json } from '../../catalog/yaml/scalar.ts';
import { YamlError } from '../../catalog/yaml/tree.ts';
import { damage, jsonValue, Random, yamlDocument } from './yaml-documents.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

test(`${RUNS} documents are read by both readers alike, or refused with a place (seed ${SEED})`, () => {
  const random = new Random(SEED);
  let fastOnes = 0;
  for (let run = 0; run < RUNS; run++) {
    const text = yamlDocument(random);
    const composed = readFull(text);
    const fast = /^(?:---|\.\.\.)/m.test(text) ? undefined : readFast(text, 0, text.length, 1);
    if (!fast) continue;
    fastOnes++;
    const same = composed && JSON.stringify(fast.value) === JSON.stringify(inOrder(composed.value));
    if (!same) expect.fail(`the readers differ on ${JSON.stringify(text)}`);
    // Places are compared of some only: it takes long.
    if (run % 4 === 0) comparePlaces(text, fast, composed);
  }
  expect(fastOnes).toBeGreaterThan(RUNS / 50);
});

test(`${RUNS / 4} files of several documents are read as each document is by itself (seed ${SEED})`, () => {
  const random = new Random(SEED + 1);
  let documents = 0;
  for (let run = 0; run < RUNS / 4; run++) {
    const pieces = Array.from({ length: 1 + random.below(4) }, () => `${yamlDocument(random)}\n`);
    const text = pieces.join(random.pick(['---\n', '--- # c\n', '---\n---\n']));
    if (startsLikeJson(text) || !text.isWellFormed()) continue;
    const read = [...readDocuments('f', new TextEncoder().encode(text), { limits: LIMITS, findings: [] })];
    const alone = [...readAlone(text.replaceAll('\r\n', '\n'))];
    documents += read.length;
    const values = (all: readonly ReadDocument[]): string[] =>
      all.map(({ value }) => JSON.stringify(inOrder(value)));
    expect(values(read), JSON.stringify(text)).toEqual(values(alone));
    for (const [i, { value, document }] of alone.entries()) {
      for (const path of scalarPaths(value, [])) {
        const found = read[i]?.document.locate(path);
        expect(found, `${path} in ${JSON.stringify(text)}`).toEqual(document.locate(path));
      }
    }
  }
  expect(documents).toBeGreaterThan(RUNS / 50);
});

const LIMITS = { depth: 100 };

/** The documents of a text, each cut out before it is read, and by the full reader alone. */
function* readAlone(text: string): Generator<ReadDocument> {
  for (const piece of splitDocuments(text)) {
    if ('rest' in piece) continue;
    const source = text.slice(piece.from, piece.to);
    try {
      const { value, locate } = compose(readTree(source, LIMITS).root);
      yield { value, document: new OffsetDocument('f', source, piece.line, locate), values: 0 };
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
    }
  }
}

test(`${RUNS} values are written so that they read back (seed ${SEED})`, () => {
  const random = new Random(SEED);
  for (let run = 0; run < RUNS; run++) {
    const value = jsonValue(random, 3) as Json;
    const yaml = emitYaml(value);
    const back = compose(readTree(yaml, { depth: 100 }).root).value;
    if (!isDeepStrictEqual(back, value)) expect(back, JSON.stringify(value)).toEqual(value);
    const fast = readFast(yaml, 0, yaml.length, 1);
    if (fast && !isDeepStrictEqual(fast.value, value)) {
      expect(fast.value, JSON.stringify(value)).toEqual(value);
    }
    // What is written may be damaged on its way: it is read or refused, never more.
    readFull(damage(yaml, random));
  }
});

test(`${RUNS} damaged parts of catalogs are read by both readers alike (seed ${SEED})`, () => {
  const random = new Random(SEED);
  const files = catalogLines();
  let fastOnes = 0;
  for (let run = 0; run < RUNS; run++) {
    const part = partOf(random.pick(files), random);
    const text = random.below(8) === 0 ? part : damage(part, random);
    const composed = readFull(text);
    const fast = /^(?:---|\.\.\.)/m.test(text) ? undefined : readFast(text, 0, text.length, 1);
    if (!fast) continue;
    fastOnes++;
    const same = composed && JSON.stringify(fast.value) === JSON.stringify(inOrder(composed.value));
    if (!same) expect.fail(`the readers differ on ${JSON.stringify(text)}`);
    // Places are compared of some only: it takes long.
    if (run % 16 === 0) comparePlaces(text, fast, composed);
  }
  expect(fastOnes).toBeGreaterThan(RUNS / 20);
});

/** The lines of the YAML files of the catalogs at `FUZZ_CATALOGS`, by default the sample's. */
function catalogLines(): string[][] {
  const root = process.env['FUZZ_CATALOGS'] ?? 'test/catalogs';
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n'));
}

/** A few lines that begin at a key of the first level, none of them long. */
function partOf(lines: readonly string[], random: Random): string {
  let from = random.below(lines.length);
  while (from > 0 && /^[\s-]|^$/.test(lines[from] ?? '')) from--;
  if (lines[from]?.startsWith('---')) from++;
  const part = lines.slice(from, from + 1 + random.below(30)).map((line) => line.slice(0, 160));
  const end = part.findIndex((line) => line.startsWith('---'));
  return `${part.slice(0, end < 0 ? part.length : end).join('\n')}\n`;
}

/** @returns undefined when the document is refused */
function readFull(text: string): Composed | undefined {
  try {
    const tree = readTree(text, { depth: 100 });
    expect(tree.ignoredFrom).toBeLessThan(text.length);
    return compose(tree.root);
  } catch (error) {
    if (!(error instanceof YamlError)) throw new Error(`reading ${JSON.stringify(text)}`, { cause: error });
    expect(error.offset, JSON.stringify(text)).toBeGreaterThanOrEqual(0);
    expect(error.offset, JSON.stringify(text)).toBeLessThanOrEqual(text.length);
    expect(error.original, JSON.stringify(text)).toMatch(/^(?:yaml|json|unsupported)/);
    return undefined;
  }
}

/** The readers agree on where the scalars of mappings stand. */
function comparePlaces(text: string, fast: FastDocument, { locate }: Composed): void {
  const document = new MarkedDocument('f', fast.value, fast.marks);
  const lines = new LineMap(text, 1);
  for (const path of scalarPaths(fast.value, [])) {
    const { line, column } = document.locate(path);
    expect({ line, column }, `${path} in ${JSON.stringify(text)}`).toEqual(lines.place(locate(path)));
  }
}

function* scalarPaths(value: unknown, path: (string | number)[]): Generator<(string | number)[]> {
  if (typeof value !== 'object' || value === null) {
    if (typeof path.at(-1) === 'string') yield path;
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    yield* scalarPaths(member, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** The value with its keys in JavaScript's order, whatever the order of reading was. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  // Not by way of `JSON.parse`: Node 24 reads some escaped keys as others (nodejs/node#63785).
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inOrder(member)]));
}
