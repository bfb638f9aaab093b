/** registries.conf as podman reads it: prefixes, mirrors, remapped and blocked registries; what is wrong is named. */
import { describe, expect, test } from 'vitest';
import { nodeConfig, pullOnNode } from '../../../../catalog/mirror/node/node.ts';
import { readRegistriesConf } from '../../../../catalog/mirror/node/registries-conf.ts';

const D = `sha256:${'a'.repeat(64)}`;

function asked(text: string, written: string) {
  return pullOnNode(nodeConfig({ digest: [], tag: [] }, readRegistriesConf(text)), written);
}

const CONF = `unqualified-search-registries = ["registry.fedoraproject.org", # the first
  "docker.io"]
short-name-mode = "enforcing"

[[registry]]
prefix = "example.com/foo"
insecure = false
location = 'internal.example.com/bar'

  [[registry.mirror]]
  location = "mirror.example.com/digests/" # with a slash
  pull-from-mirror = "digest-only"

  [[registry.mirror]]
  location = "mirror.example.com/all"

[[registry]]
location = "example.com"
blocked = true
mirror-by-digest-only = true
[[registry.mirror]]
location = "second.example.com"

[aliases]
"fedora" = "registry.fedoraproject.org/fedora"
`;

test('the longest prefix counts, mirrors come in order, then the location', () => {
  expect(asked(CONF, `example.com/foo/app@${D}`)).toEqual({
    asked: [
      `mirror.example.com/digests/app@${D}`,
      `mirror.example.com/all/app@${D}`,
      `internal.example.com/bar/app@${D}`,
    ],
    sourceBlocked: false,
  });
  expect(asked(CONF, 'example.com/foo/app:v1')).toEqual({
    asked: ['mirror.example.com/all/app:v1', 'internal.example.com/bar/app:v1'],
    sourceBlocked: false,
  });
});

test('a blocked registry is read from its mirrors only, by digest where it says so', () => {
  expect(asked(CONF, `example.com/foot/app@${D}`)).toEqual({
    asked: [`second.example.com/foot/app@${D}`, `example.com/foot/app@${D}`],
    sourceBlocked: true,
  });
  expect(asked(CONF, 'example.com/foot/app:v1')).toEqual({
    asked: ['example.com/foot/app:v1'],
    sourceBlocked: true,
  });
  expect(asked(CONF, 'quay.io/app:v1')).toEqual({ asked: ['quay.io/app:v1'], sourceBlocked: false });
});

test('a mirror set takes the place of the entry for the same source, and leaves the others', () => {
  const rules = {
    digest: [{ source: 'example.com', mirrors: ['m.example.com'], blocksSource: false }],
    tag: [],
  };
  const config = nodeConfig(rules, readRegistriesConf(CONF));
  expect(pullOnNode(config, `example.com/app@${D}`)).toMatchObject({
    asked: [`m.example.com/app@${D}`, `example.com/app@${D}`],
  });
  expect(pullOnNode(config, 'example.com/foo/app:v1')).toMatchObject({
    asked: ['mirror.example.com/all/app:v1', 'internal.example.com/bar/app:v1'],
  });
  const tags = nodeConfig({ digest: [], tag: rules.digest }, readRegistriesConf(CONF));
  expect(pullOnNode(tags, `example.com/app@${D}`)).toEqual({
    asked: [`example.com/app@${D}`],
    sourceBlocked: false,
  });
});

describe.each([
  ['[registries.search]\nregistries = ["a"]\n', 1, '[registries.search] is version 1 of the format'],
  ['[[registry.mirror]]\nlocation = "a"\n', 1, 'must follow a [[registry]]'],
  ['[[registry]]\nlocation = "a"\n[[registry]]\nlocation = "a/"\n', 3, 'the registry a is listed twice'],
  ['[[registry]]\nblocked = true\n', 1, 'needs a location or a prefix'],
  ['[[registry]]\nlocation = "a"\nblocked = "yes"\n', 1, 'blocked must be true or false'],
  ['\n[[registry]]\nlocation = "a" "b"\n', 3, 'cannot read the value'],
  ['[[registry]]\nlocation\n', 2, 'expected KEY = VALUE'],
  ['[[registry]]\nlocation = "a"\nlocation = "b"\n', 3, 'location is set twice'],
  ['[[registry]\n', 1, 'is not a table'],
  [
    '[[registry]]\nlocation = "a"\n[[registry.mirror]]\nlocation = "https://b"\n',
    3,
    'must not have a scheme',
  ],
  [
    '[[registry]]\nlocation = "a"\n[[registry.mirror]]\nlocation = "b"\npull-from-mirror = "never"\n',
    3,
    'must be all, digest-only or tag-only',
  ],
  [
    '[[registry]]\nlocation = "a"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "b"\npull-from-mirror = "digest-only"\n',
    4,
    'exclude each other',
  ],
  [
    '[[registry]]\nlocation = "a"\npull-from-mirror = "all"\n',
    1,
    'pull-from-mirror belongs to a [[registry.mirror]]',
  ],
])('%j', (text, line, message) => {
  test('is refused on its line', () => {
    expect(() => readRegistriesConf(text)).toThrowError(message);
    try {
      readRegistriesConf(text);
    } catch (error) {
      expect(error).toMatchObject({ line });
    }
  });
});
