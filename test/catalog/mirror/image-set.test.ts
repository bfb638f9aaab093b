/** What is read of oc-mirror's configurations, and what is refused by name. */
import { describe, expect, test } from 'vitest';
import { readImageSet } from '../../../catalog/mirror/image-set.ts';

const HEAD = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n';
const OPERATORS = '  operators:\n  - catalog: quay.io/c:v1\n';

function read(text: string, skipUnsupported = false) {
  const { imageSet, findings } = readImageSet(text, 'isc.yaml', skipUnsupported);
  const lines = findings.map(
    ({ severity, location, message }) => `${location.line}: ${severity}: ${message}`,
  );
  return { imageSet, lines };
}

describe('samples', () => {
  const [text, what, line] = ['  samples: [{name: x}]\n', 'mirror.samples', 4];
  const whole = `${HEAD}mirror:\n${text}${OPERATORS}`;

  test('is refused by name', () => {
    const { imageSet, lines } = read(whole);
    expect(imageSet).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining(`${line}: error: Portolan does not support ${what}`)]);
  });

  test('is skipped, and named, where that is asked for', () => {
    const { imageSet, lines } = read(whole, true);
    expect(imageSet?.catalogs).toHaveLength(1);
    expect(lines).toEqual([expect.stringContaining(`${line}: warning: skipped, because Portolan does not`)]);
  });
});

test('what is missing is said to be missing', () => {
  expect(read('mirror: {}\n').lines).toContainEqual(
    expect.stringContaining('apiVersion must be mirror.openshift.io/v2alpha1, found nothing'),
  );
});

test('sections without content are no reason to refuse', () => {
  const empty = '  platform: {graph: false}\n  helm: {repositories: [], local: []}\n  samples: []\n';
  expect(read(`${HEAD}mirror:\n${OPERATORS}${empty}`)).toMatchObject({ imageSet: {}, lines: [] });
});

test.each([true, false])('a configuration that selects no image is refused (skip: %s)', (skip) => {
  const { imageSet, lines } = read(`${HEAD}mirror:\n  platform: {architectures: [arm64]}\n`, skip);
  expect(imageSet).toBeUndefined();
  expect(lines.at(-1)).toBe('3: error: no catalog, release, chart or additional image is selected');
});

test('channels of releases, with what oc-mirror takes without a word refused by line', () => {
  const platform = (...lines: string[]) => read(`${HEAD}mirror:\n  platform:\n    ${lines.join('\n    ')}\n`);
  const channel = '{name: stable-4.20, minVersion: 4.20.1, shortestPath: true}';
  expect(platform(`channels: [${channel}, {name: okd, type: okd, full: true}]`, 'graph: true')).toMatchObject(
    {
      lines: [],
      imageSet: {
        platform: {
          channels: [
            { name: 'stable-4.20', type: 'ocp', minVersion: '4.20.1', isShortest: true, isFull: false },
            { name: 'okd', type: 'okd', isFull: true },
          ],
          architectures: ['amd64'],
          hasGraph: true,
          hasKubeVirt: false,
        },
      },
    },
  );
  const filter = 'platforms: [{os: linux, architecture: s390x}]';
  expect(platform(`channels: [${channel}]`, filter)).toMatchObject({
    imageSet: { platform: { architectures: ['multi'], platforms: ['linux/s390x'] } },
  });
  const arm = 'architectures: [arm64, arm64]';
  expect(platform(`channels: [${channel}]`, arm).imageSet?.platform?.architectures).toEqual(['arm64']);
  for (const [line, message] of [
    ["channels: [{name: ''}]", 'a release channel has no name'],
    ['channels: [{name: a}, {name: a}]', 'the release channel "a" is listed twice'],
    ['channels: [{name: a, type: ocpp}]', 'the type "ocpp" of a release channel is read as ocp'],
    ['channels: [{name: a, maxVersion: "4.20"}]', 'maxVersion must be a whole version such as 4.20.3'],
    ['channels: [{name: a, version: "4.20"}]', 'unknown field "version"'],
    ['architectures: [x86_64]', 'an architecture must be one of amd64, arm64, ppc64le, s390x, multi'],
    [`${arm}\n    ${filter}`, 'platforms and architectures cannot be used together'],
  ] as const)
    expect(platform('release: quay.io/a:1', line).lines).toContainEqual(expect.stringContaining(message));
});

test('images may be written with docker://', () => {
  const additional = '  additionalImages: [{name: "docker://quay.io/x:1"}]\n';
  const text = `${HEAD}mirror:\n  operators: [{catalog: "docker://quay.io/c:v1"}]\n${additional}`;
  expect(read(text).imageSet).toMatchObject({
    catalogs: [{ catalog: 'quay.io/c:v1' }],
    additional: [{ reference: 'quay.io/x:1' }],
  });
});

test('platforms are sorted and named once; one without an architecture is refused', () => {
  const platforms = (text: string) =>
    read(
      `${HEAD}mirror:\n${OPERATORS}    platforms: [${text}]\n  additionalImages: [{name: 'quay.io/x:1', platforms: [{os: linux, architecture: s390x}]}]\n`,
    );
  const arm = '{os: linux, architecture: arm64}';
  expect(platforms(`${arm}, {os: linux, architecture: amd64}, ${arm}`)).toMatchObject({
    lines: [],
    imageSet: {
      catalogs: [{ platforms: ['linux/amd64', 'linux/arm64'] }],
      additional: [{ platforms: ['linux/s390x'] }],
    },
  });
  expect(platforms('{os: linux}').lines).toEqual([
    '6: error: a platform must have an os and an architecture, for example linux and amd64',
  ]);
});

test('archiveSize is read, and named as the option of the copy', () => {
  const { imageSet, lines } = read(`${HEAD}archiveSize: 4\nmirror:\n${OPERATORS}`);
  expect(imageSet?.archiveSize).toBe(4);
  expect(lines).toEqual([
    '3: info: archiveSize is used by portolan mirror sync --to-archive; for portolan mirror copy it is --archive-size 4GiB',
  ]);
});

describe('a configuration of oc-mirror v1', () => {
  const head = HEAD.replace('v2alpha1', 'v1alpha2');

  test('is read, and what reads otherwise is said', () => {
    const storage = 'storageConfig: {local: {path: /x}}\n';
    const { imageSet, lines } = read(`${head}${storage}mirror:\n${OPERATORS}    full: true\n`);
    expect(imageSet?.catalogs).toMatchObject([{ catalog: 'quay.io/c:v1', full: true }]);
    expect(lines).toEqual([
      expect.stringContaining('2: warning: mirror.openshift.io/v1alpha2 is read as'),
      expect.stringContaining('3: info: storageConfig is not used'),
    ]);
  });

  test('is refused where it uses what v2 has dropped', () => {
    const { imageSet, lines } = read(`${head}mirror:\n${OPERATORS}    targetName: other\n`);
    expect(imageSet).toBeUndefined();
    expect(lines).toContain('6: error: oc-mirror v2 has no targetName; use targetCatalog');
    // In v2 it is an unknown field.
    expect(read(`${HEAD}mirror:\n${OPERATORS}    targetName: other\n`).imageSet).toBeUndefined();
  });
});

test('a DeleteImageSetConfiguration has its own section', () => {
  const head = HEAD.replace('ImageSet', 'DeleteImageSet');
  expect(read(`${head}delete:\n${OPERATORS}`)).toMatchObject({
    imageSet: { deletes: true, catalogs: [{}] },
    lines: [],
  });
  // Nothing is deleted by a section that says what to mirror.
  expect(read(`${head}mirror:\n${OPERATORS}`).imageSet).toBeUndefined();
  expect(read(`${HEAD}delete:\n${OPERATORS}`).imageSet).toBeUndefined();
});

describe('helm', () => {
  const helm = (text: string) => read(`${HEAD}mirror:\n  helm:\n${text}`);

  test('charts on disk, charts of a repository, and all charts of one', () => {
    const { imageSet, lines } = helm(`    local:
    - {name: a, path: charts/a, imagePaths: ['{.spec.image}'], platforms: [{os: linux, architecture: amd64}]}
    repositories:
    - {name: r, url: 'https://charts.example.com/', charts: [{name: b, version: ~1.2}]}
    - {name: all, url: 'https://other.example.com'}
    - {name: o, url: 'oci://quay.io/charts', charts: [{name: c}]}
`);
    expect(lines).toEqual([]);
    const at = (url: string, name: string) => ({ name, url });
    expect(imageSet?.charts).toMatchObject([
      { name: '', path: 'charts/a', imagePaths: [{ text: '{.spec.image}' }], platforms: ['linux/amd64'] },
      {
        name: 'b',
        version: '~1.2',
        repository: at('https://charts.example.com/', 'r'),
        location: { line: 8 },
      },
      { name: '', repository: at('https://other.example.com', 'all') },
      { name: 'c', repository: at('oci://quay.io/charts', 'o') },
    ]);
  });

  test.each([
    ['    local: [{name: a}]\n', '5: error: a local chart has no path'],
    ["    local: [{path: a, imagePaths: ['.spec']}]\n", '5: error: the path ".spec" has no path in braces'],
    ['    local: [{path: a, value: {}}]\n', '5: error: unknown field "value"'],
    [
      '    repositories: [{name: r, url: ftp://x}]\n',
      '5: error: the url of a chart repository must begin with',
    ],
    ['    repositories: [{name: r, url: oci://x.io/c}]\n', '5: error: a registry does not list its charts'],
    [
      "    repositories: [{url: 'https://x.io', charts: [{version: '1'}]}]\n",
      '5: error: a chart has no name',
    ],
  ])('%s is refused', (text, line) => {
    const { imageSet, lines } = helm(text);
    expect(imageSet).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining(line)]);
  });
});

describe('images that stay out', () => {
  const blocked = (pattern: string) =>
    read(`${HEAD}mirror:\n${OPERATORS}  blockedImages:\n  - name: '${pattern}'\n`);

  test('are patterns of Go', () => {
    const [pattern] = blocked('^quay.io/(?P<team>a|b)/').imageSet?.blocked ?? [];
    expect(['quay.io/a/x', 'quay.io/c/x'].map((name) => pattern?.test(name))).toEqual([true, false]);
    expect(blocked('(?<=a)b').lines).toEqual([
      expect.stringContaining('is not a valid regular expression of Go'),
    ]);
  });

  test('take time that is linear in the name', () => {
    const [pattern] = blocked('^(a+)+$').imageSet?.blocked ?? [];
    expect(pattern?.test(`${'a'.repeat(5000)}!`)).toBe(false);
  });
});
