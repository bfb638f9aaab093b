/**
 * Bundles of fixtures: the sample bundle with changes. A section `edit PATH` replaces
 * lines (`-old` by `+new`, hunks divided by an empty line), `remove PATH` leaves a file
 * out, `fill PATH` makes a manifest of so many characters that do not compress; any
 * other section is a file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SAMPLE = 'test/catalogs/bundle';

let sample: ReadonlyMap<string, string> | undefined;

/** The files of a bundle by path: the sample with changes. */
export function bundleFiles(members: ReadonlyMap<string, string>): Map<string, string> {
  sample ??= new Map(
    readdirSync(SAMPLE, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(SAMPLE.length + 1), readFileSync(path, 'utf8')]),
  );
  return changedFiles(sample, members);
}

/** Files after the changes that an archive describes. */
export function changedFiles(
  before: ReadonlyMap<string, string>,
  members: ReadonlyMap<string, string>,
): Map<string, string> {
  const files = new Map(before);
  for (const [name, text] of members) {
    const [verb, path = ''] = name.split(' ');
    if (verb === 'edit') files.set(path, edited(files.get(path) ?? '', text));
    else if (verb === 'fill') files.set(path, filled(Number(text)));
    else if (verb === 'remove') files.delete(path);
    else files.set(name, text);
  }
  return files;
}

/** @throws Error when the lines to replace are not there */
export function edited(text: string, edits: string): string {
  return edits.split('\n\n').reduce((result, hunk) => {
    const lines = hunk.split('\n').filter((line) => line !== '');
    const of = (sign: string): string =>
      lines
        .filter((line) => line.startsWith(sign))
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    // Whole lines only: `name: a` is not a part of `- name: a`.
    if (!`\n${result}`.includes(`\n${of('-')}`)) throw new Error(`no such lines: ${JSON.stringify(of('-'))}`);
    return `\n${result}`.replace(`\n${of('-')}`, () => `\n${of('+')}`).slice(1);
  }, text);
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Noise of {@link filled}, as long as it was ever needed. */
let noise = '';

/** A ConfigMap with noise in it, the same every time. */
function filled(length: number): string {
  if (noise.length < length) {
    let state = 1;
    noise = Array.from({ length }, () => {
      state = (state * 48271) % 2147483647;
      return DIGITS.charAt(state >> 25);
    }).join('');
  }
  const data = noise.slice(0, length);
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: noise\ndata:\n  noise: ${data}\n`;
}
