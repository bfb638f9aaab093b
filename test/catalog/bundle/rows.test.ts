import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { firstValue, readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { compare, type Recorded } from '../../conformance/bundle.ts';
import { bundleFiles } from '../../fakes/bundle-fixture.ts';

/**
 * The sample bundle with one thing wrong, for every message that the validators of operator-framework/api v0.45.0
 * and operator-registry v1.73.0 have, with what these said of it. A file is changed by operations `PATH=JSON` and
 * `PATH!` (take away), is a text, or `REMOVE`; a step `+` of a path adds to a list, `~` stands for a slash.
 */
interface Row {
  readonly name: string;
  readonly files: Readonly<Record<string, readonly string[] | string>>;
  readonly said: {
    readonly load?: readonly string[];
    readonly errors?: readonly string[];
    readonly warnings?: readonly string[];
    readonly format?: readonly string[];
    readonly content?: readonly string[];
    readonly panic?: readonly string[];
  };
}

const ROWS: readonly Row[] = JSON.parse(readFileSync('test/catalog/bundle/fixtures/rows.json', 'utf8'));
const SAMPLE = bundleFiles(new Map());

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

function edited(path: string, operations: readonly string[]): string {
  const sample = readManifestFile(path, Buffer.from(SAMPLE.get(path) ?? ''));
  const root: Json = structuredClone(firstValue(sample)?.value);
  for (const operation of operations) {
    const [, steps = '', action = ''] = /^([^=!]+)(=.*|!)$/s.exec(operation) ?? [];
    const names = steps.split('/').map((step) => step.replaceAll('~', '/'));
    const last = names.pop() ?? '';
    let at = root;
    for (const name of names) {
      at[name] ??= {};
      at = at[name];
    }
    if (action === '!') delete at[last];
    else if (last === '+') at.push(JSON.parse(action.slice(1)));
    else at[last] = JSON.parse(action.slice(1));
  }
  return JSON.stringify(root);
}

function filesOf({ files }: Row): Record<string, string> {
  const all = new Map(SAMPLE);
  for (const [path, change] of Object.entries(files)) {
    if (change === 'REMOVE') all.delete(path);
    else all.set(path, typeof change === 'string' ? change : edited(path, change));
  }
  return Object.fromEntries(all);
}

function recorded({ said }: Row): Recorded {
  const { load = [], errors = [], warnings = [], format = [], content = [], panic = [] } = said;
  const details = (texts: readonly string[]): { detail: string }[] => texts.map((detail) => ({ detail }));
  return {
    load: {
      error:
        load.length > 0 ? load.join(', ') : panic.length > 0 ? 'unable to load bundle from directory' : null,
    },
    api: {
      all: [
        { errors: details(errors), warnings: details(warnings) },
        ...panic.map((one) => ({ panic: one })),
      ],
    },
    opmValidate: { default: { format, content } },
  };
}

/** What is ours alone: rules for OLM v1, and for what a real tool gets wrong. */
const OURS = /too much: (?:annotations\/package|openshift\/max-version): /;

test.each(ROWS.map((row) => [row.name, row] as const))('%s', async (name, row) => {
  const gzipLength = (bytes: Uint8Array): number => gzipSync(bytes).length;
  const files = Object.entries(filesOf(row)).map(([path, text]) => [path, Buffer.from(text)]);
  const all: Readonly<Record<string, Uint8Array>> = Object.fromEntries(files);
  const { outcome, detail = '' } = await compare(name, recorded(row), all, { gzipLength });
  const left = outcome === 'differ' ? detail.split(' | ').filter((text) => !OURS.test(text)) : [];
  expect(left).toEqual([]);
});
