import { expect, test } from 'vitest';
import { newBlob, newDocument } from '../../../../catalog/fbc/new-blob.ts';
import { renderYaml } from '../../../../catalog/fbc/render.ts';
import { expandSemver } from '../../../../catalog/opm/template/semver.ts';
import type { RenderedImage } from '../../../../catalog/opm/template/template.ts';

/** The image of a bundle whose tag is its version. */
async function renderImage(image: string): Promise<RenderedImage> {
  const version = image.slice(image.indexOf(':') + 1).replace('_', '+');
  const made = newBlob(
    {
      schema: 'olm.bundle',
      name: `foo.v${version}`,
      package: 'foo',
      image,
      properties: [{ type: 'olm.package', value: { packageName: 'foo', version } }],
    },
    newDocument({ file: image, line: 1, column: 1 }),
  );
  if (made.kind !== 'bundle') throw new TypeError('no bundle');
  return { bundle: made.blob, csv: { spec: { description: `Foo ${version}` } } };
}

async function channels(template: string): Promise<string> {
  const bytes = new TextEncoder().encode(`schema: olm.semver\n${template}`);
  const { blobs, findings } = await expandSemver({ file: 't.yaml', bytes }, renderImage);
  if (!blobs) return findings.map(({ message, hint }) => `${message} (${hint})`).join('\n');
  return [...blobs.packages, ...blobs.channels].map(renderYaml).join('');
}

const list = (...versions: string[]): string =>
  `  bundles:\n${versions.map((version) => `  - image: foo:${version}\n`).join('')}`;

test('the last patch of a minor version replaces the last of the one before, and skips the rest', async () => {
  const text = await channels(
    `generateMajorChannels: true\nstable:\n${list('1.1.1', '1.0.0', '1.0.1', '1.1.0', '2.0.0')}`,
  );
  expect(text).toBe(`---
defaultChannel: stable-v2
description: Foo 2.0.0
name: foo
schema: olm.package
---
entries:
- name: foo.v1.0.0
- name: foo.v1.0.1
  skips:
  - foo.v1.0.0
- name: foo.v1.1.0
- name: foo.v1.1.1
  replaces: foo.v1.0.1
  skips:
  - foo.v1.0.0
  - foo.v1.1.0
name: stable-v1
package: foo
schema: olm.channel
---
entries:
- name: foo.v2.0.0
name: stable-v2
package: foo
schema: olm.channel
`);
});

test('the most trusted archetype holds the default channel', async () => {
  const text = await channels(`candidate:\n${list('3.0.0')}stable:\n${list('1.0.0')}`);
  expect(text).toContain('defaultChannel: stable-v1.0\n');
});

test.each([
  ['', ['stable-v1.0'], 'stable-v1.0'],
  ['generateMajorChannels: true\n', ['stable-v1'], 'stable-v1'],
  ['generateMinorChannels: true\n', ['stable-v1.0'], 'stable-v1.0'],
  ['generateMajorChannels: true\ngenerateMinorChannels: true\n', ['stable-v1', 'stable-v1.0'], 'stable-v1.0'],
  [
    'generateMajorChannels: true\ngenerateMinorChannels: true\ndefaultChannelTypePreference: major\n',
    ['stable-v1', 'stable-v1.0'],
    'stable-v1',
  ],
  ['generateMajorChannels: true\ndefaultChannelTypePreference: major\n', ['stable-v1'], 'stable-v1'],
  ['defaultChannelTypePreference: minor\n', ['stable-v1.0'], 'stable-v1.0'],
  ["generateMajorChannels: true\ndefaultChannelTypePreference: ''\n", ['stable-v1'], 'stable-v1'],
])('%j makes the channels %j, by default %s', async (fields, names, byDefault) => {
  const text = await channels(`${fields}stable:\n${list('1.0.0')}`);
  expect([...text.matchAll(/^name: (stable-.*)$/gm)].map(([, name]) => name)).toEqual(names);
  expect(text).toContain(`defaultChannel: ${byDefault}\n`);
});

test('an entry without an image is rendered as one without a name', async () => {
  const asked: string[] = [];
  const bytes = new TextEncoder().encode(
    'schema: olm.semver\nfast:\n  bundles:\n  - {}\n  - image: foo:1.0.0\n',
  );
  await expandSemver({ file: 't.yaml', bytes }, (image) => {
    asked.push(image);
    return renderImage('foo:1.0.0');
  });
  expect(asked).toEqual(['', 'foo:1.0.0']);
});

test.each([
  [`stable:\n${list('1.0.0_a', '1.0.0_b')}`, 'differ only by build metadata'],
  [`stable:\n${list('1.0.0', '1.0.0')}`, 'duplicate bundle foo.v1.0.0 in stable'],
  [
    `defaultChannelTypePreference: major\nstable:\n${list('1.0.0')}`,
    'major channels are preferred, but not made (generateMajorChannels: true)',
  ],
  [
    `generateMajorChannels: true\ndefaultChannelTypePreference: minor\nstable:\n${list('1.0.0')}`,
    'minor channels are preferred, but not made (generateMinorChannels: true)',
  ],
  [`defaultChannelTypePreference: patch\n`, 'must be major or minor, found "patch"'],
  ['stable: {}\n', 'the template names no bundles'],
])('%j is refused', async (template, message) => {
  expect(await channels(template)).toContain(message);
});
