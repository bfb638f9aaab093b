/** Streams of documents: cut anywhere that is allowed, joined in any way that is allowed, they are the same documents. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readDocuments } from '../../catalog/fbc/documents.ts';
import { load } from '../../catalog/fbc/load.ts';
import type { Finding } from '../../catalog/finding.ts';
import type { SourceFile } from '../../catalog/source.ts';
import { piecesOf } from '../../pipeline/file-pieces.ts';
import { damage, jsonValue, Random, yamlDocument } from './yaml-documents.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const LIMITS = { depth: 100 };
const SEPARATORS = ['---\n', '--- # c\n', '---\n---\n', '---  \n', '---\r\n'];

interface Read {
  readonly values: readonly string[];
  readonly findings: readonly Finding[];
}

function readAll(text: string): Read {
  const findings: Finding[] = [];
  const documents = readDocuments('f', new TextEncoder().encode(text), { limits: LIMITS, findings });
  return { values: [...documents].map(({ value }) => JSON.stringify(value)), findings };
}

test(`${RUNS / 4} streams of JSON are read value by value, whatever stands between them (seed ${SEED})`, () => {
  const random = new Random(SEED);
  let values = 0;
  for (let run = 0; run < RUNS / 4; run++) {
    const all = Array.from({ length: 1 + random.below(5) }, () => ({ k: jsonValue(random, 3) }));
    const texts = all.map((value) => JSON.stringify(value, null, random.pick([0, 0, 2])));
    const text = texts.map((one) => one + random.pick(['', ' ', '\n', '\r\n', '\n\n\t'])).join('');
    if (!text.isWellFormed()) continue;
    const read = readAll(text);
    const known = read.findings.filter(({ rule }) => rule !== 'fbc/repeated-key');
    expect({ ...read, findings: known }, JSON.stringify(text)).toEqual({
      values: all.map((value) => JSON.stringify(value)),
      findings: [],
    });
    values += read.values.length;
    // A stream that is damaged loses what is behind the damage, and says so; it gains nothing.
    const broken = damage(text, random).toWellFormed();
    const rest = readAll(broken);
    const isAsBefore = rest.values.every((value, i) => value === read.values[i]);
    if (rest.findings.length === 0 && !isAsBefore)
      expect(soundJson(broken), JSON.stringify(broken)).toEqual(rest.values);
  }
  expect(values).toBeGreaterThan(RUNS / 50);
});

/** A key with an escape, which Node 24 may read as another one. @see https://github.com/nodejs/node/issues/63785 */
const ESCAPED_KEY = /\\[^"]*"\s*:/;

/** A number that may be beyond what JSON's can be: YAML takes it for a text. */
const BEYOND = /e\+?[0-9]{3}/i;

/** The values of a stream by `JSON.parse`; our own where that is no judge: of YAML, and of escaped keys. */
function soundJson(text: string): string[] {
  if (ESCAPED_KEY.test(text) || BEYOND.test(text)) return readAll(text).values.slice();
  const values: string[] = [];
  let from = 0;
  for (let at = 1; at <= text.length; at++) {
    if (text.charAt(at - 1) !== '}') continue;
    try {
      values.push(JSON.stringify(JSON.parse(text.slice(from, at))));
      from = at;
    } catch {
      // More of it may be a value.
    }
  }
  return text.slice(from).trim() === '' ? values : readAll(text).values.slice();
}

test(`${RUNS / 40} files are read in pieces of any size as they are read whole (seed ${SEED})`, async () => {
  const random = new Random(SEED + 2);
  const folder = mkdtempSync(join(tmpdir(), 'streams-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'f');
  for (let run = 0; run < RUNS / 40; run++) {
    const documents = Array.from({ length: 1 + random.below(6) }, () =>
      random.below(4) === 0
        ? `${JSON.stringify({ schema: 'x', v: jsonValue(random, 2) })}\n`
        : `schema: olm.x\n${yamlDocument(random)}\n`,
    );
    const text = documents.reduce((all, one) => all + random.pick(SEPARATORS) + one);
    if (!text.isWellFormed()) continue;
    writeFileSync(path, text);
    const bytes = new TextEncoder().encode(text);
    const window = 8 + random.below(200);
    const whole = await loaded({ path: 'f', read: () => bytes });
    const pieces = await loaded({
      path: 'f',
      read: () => bytes,
      readPieces: () => ({ size: bytes.length, pieces: piecesOf(path, window) }),
    });
    expect(pieces, `${window} ${JSON.stringify(text)}`).toEqual(whole);
  }
});

async function loaded(file: SourceFile): Promise<unknown> {
  const { blobs, findings } = await load({ files: () => Promise.resolve([file]) });
  const places = Object.values(blobs)
    .flat()
    .map(({ value, document }) => [JSON.stringify(value), document.locate([])]);
  return { places, findings };
}
