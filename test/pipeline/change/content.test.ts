import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { fileReader, keptFiles, readContent } from '../../../pipeline/change/content.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { entryAt } from '../../../pipeline/git/tree.ts';
import { makeRepository } from '../../fakes/repository.ts';

const CHANNELS: Readonly<Record<string, string>> = {
  'p/a.yaml': `schema: olm.channel
package: p
name: a
entries:
- name: p.v1.0.0
- {name: p.v1.1.0, replaces: p.v1.0.0}
`,
  'p/b.yaml': `schema: olm.channel
package: p
name: b
entries:
- name: p.v1.1.0
  skipRange: '<1.0.0 || >=1.0.1 <1.1.0'
`,
};

async function channelsWith(mostEntries: number): Promise<{ channels: string[]; messages: string[] }> {
  const reader = {
    mostEntries,
    readTemplate: () => Promise.resolve(undefined),
    // What a file has is read without its name: others may have the same.
    read: ({ path }: { path: string }) =>
      load({
        files: () =>
          Promise.resolve([
            { path: 'file.yaml', read: () => new TextEncoder().encode(CHANNELS[path] ?? '') },
          ]),
      }),
  };
  const files = Object.keys(CHANNELS).map((path) => ({ path, mode: '100644', id: path }));
  const { packages, excess } = await readContent(reader, files);
  return {
    channels: packages.get('p')?.channels.map(({ name }) => name) ?? [],
    messages: excess.map(({ rule, message, location }) => `${location.file}: ${rule}: ${message}`),
  };
}

test('entries of all channels of a package count, with the alternatives of their ranges', async () => {
  expect(await channelsWith(4)).toEqual({ channels: ['a', 'b'], messages: [] });
  expect(await channelsWith(3)).toEqual({
    channels: [],
    messages: [
      'p/a.yaml: fbc/limits: the channels of package "p" have 4 entries, with the alternatives of their ranges; the limit is 3',
    ],
  });
});

test('what a change may not read of a file is not kept as what the file has', async () => {
  const source = makeRepository();
  const commit = source.commit({ 'a.yaml': CHANNELS['p/a.yaml'] ?? '' });
  const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
  try {
    const { objects } = repository;
    const entry = await entryAt(objects, await objects.treeOf(commit), 'a.yaml');
    const file = { path: 'a.yaml', mode: entry?.mode ?? '', id: entry?.id ?? '' };
    const limits = { fileBytes: 1000, documents: 10, depth: 10 };
    const kept = keptFiles();
    const refused = await fileReader(objects, limits, kept, {
      ids: new Set([file.id]),
      values: { left: 3 },
    }).read(file);
    expect(refused.findings.map(({ rule }) => rule)).toEqual(['fbc/limits']);
    expect(await fileReader(objects, limits, kept).read(file)).toMatchObject({
      findings: [],
      blobs: { channels: [{ name: 'a' }] },
    });
  } finally {
    await repository.close();
    source.remove();
  }
});
