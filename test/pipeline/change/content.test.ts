import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { readContent } from '../../../pipeline/change/content.ts';

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
    read: ({ path }: { path: string }) =>
      load({
        files: () => Promise.resolve([{ path, read: () => new TextEncoder().encode(CHANNELS[path] ?? '') }]),
      }),
  };
  const files = Object.keys(CHANNELS).map((path) => ({ path, mode: '100644', id: path }));
  const { packages, unread } = await readContent(reader, files);
  return {
    channels: packages.get('p')?.channels.map(({ name }) => name) ?? [],
    messages: unread.map(({ rule, message, location }) => `${location.file}: ${rule}: ${message}`),
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
