import { expect, onTestFinished, test } from 'vitest';
import { BASE, catalogOf, POLICY } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';
const NOTES = 'catalogs/v4.20/etcd/notes.yaml';
const notes = (count: number): string =>
  Array.from({ length: count }, (_, i) => `---\nschema: x.y\npackage: etcd\nname: n${i}\n`).join('');

/** Findings about the size of catalogs: new ones, and known ones. */
async function sizes(limit: number, before: Files, after: Files): Promise<[string[], string[]]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const policy = { '.github/portolan.yaml': `${POLICY}limits: {docs: ${limit}}\n` };
  const [base = '', head = ''] = repository.chain({ ...BASE, ...policy, ...before }, after);
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  const report = JSON.parse((await portolan(repository.directory, ...words)).out);
  const texts = (all: { rule: string; message: string }[]): string[] =>
    all.filter(({ rule }) => rule === 'fbc/limits').map(({ message }) => message);
  return [texts(report.findings), texts(report.known)];
}

test('157: all files of a catalog have so many documents together, also those that do not change', async () => {
  const all = Object.entries(BASE).filter(([path]) => path.startsWith('catalogs/v4.20/'));
  const documents = all.flatMap(([, text]) => String(text).trimEnd().split('\n')).length;
  const message = `catalog v4.20 has more than ${documents + 5} documents`;
  expect(await sizes(documents + 5, {}, { [NOTES]: notes(5) })).toEqual([[], []]);
  expect(await sizes(documents + 5, {}, { [NOTES]: notes(6) })).toEqual([[message], []]);
  const changed = { [FILE]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
  expect(await sizes(documents + 5, { [NOTES]: notes(6) }, changed)).toEqual([[], [message]]);
});
