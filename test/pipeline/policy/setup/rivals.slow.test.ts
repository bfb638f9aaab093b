import { describe, expect, test } from 'vitest';
import type { WrittenPattern } from '../../../../pipeline/policy/policy-file.ts';
import { unclearLayout } from '../../../../pipeline/policy/setup/layout-errors.ts';
import { layoutAt } from '../../../fakes/found-layout.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import type { Files } from '../../../fakes/repository.ts';

const etcd = catalogOf('etcd', ['1.0.0']);
const newer = catalogOf('etcd', ['1.0.0', '1.1.0']);
const quay = catalogOf('quay', ['3.0.0']);
const copies = { 'current/etcd/catalog.yaml': etcd, 'next/etcd/catalog.yaml': newer };

describe('two folders with the same package', () => {
  test('are a question where no build file names one of them', async () => {
    const { questions } = await layoutAt({ ...copies, 'README.md': 'current is published\n' });
    expect(questions).toEqual([
      'current and next both define package etcd, and no Dockerfile, Makefile or CI file says which of them is published',
    ]);
  });

  test.each<[string, Files]>([
    ['a Dockerfile', { Dockerfile: 'FROM opm\nCOPY current /configs\n' }],
    ['a Makefile', { Makefile: 'check:\n\topm validate ./current\n' }],
    ['a workflow', { '.github/workflows/ci.yaml': 'jobs: {a: {steps: [{run: opm validate current}]}}\n' }],
  ])('are one catalog where %s names one', async (_, build) => {
    const { found, questions, leftOut } = await layoutAt({ ...copies, ...build });
    expect(questions).toEqual([]);
    expect(found.catalogs).toEqual(['current']);
    expect(leftOut).toEqual([
      {
        path: 'next/etcd/catalog.yaml',
        reason: 'no build file names it, and current, which one does, has the same package',
      },
    ]);
  });

  test.each<[string, Files]>([
    ['each of them', { Makefile: 'check:\n\tfor d in current next; do opm validate $$d; done\n' }],
    [
      'a Dockerfile beside each',
      {
        'current/catalog.Dockerfile': 'FROM opm\nADD etcd /configs/etcd\n',
        'next/catalog.Dockerfile': 'FROM opm\nADD . /configs\n',
      },
    ],
  ])('are two catalogs where build files name %s', async (_, build) => {
    const { found, questions } = await layoutAt({ ...copies, ...build });
    expect(questions).toEqual([]);
    expect(found.catalogs).toEqual(['current', 'next']);
  });

  test('are one catalog where one is a source of another platform, which no build file names', async () => {
    const files = {
      'catalog/v4.19/etcd/catalog.yaml': etcd,
      'catalog/v4.19/Dockerfile': 'FROM opm\nADD etcd /configs/etcd\n',
      'catalog/v4.20/etcd/catalog.yaml': newer,
      'sources/catalog-v4.19.yaml': etcd,
      'sources/catalog-v4.21.yaml': newer,
    };
    const { found, questions, leftOut } = await layoutAt(files);
    expect(questions).toEqual([]);
    expect(found.catalogs).toEqual(['v4.19', 'v4.20']);
    expect(leftOut.map(({ path }) => path)).toEqual([
      'sources/catalog-v4.19.yaml',
      'sources/catalog-v4.21.yaml',
    ]);
    const empty =
      'schema: olm.package\nname: etcd\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: etcd\nname: stable\nentries: []\n';
    const filled = { 'sources/catalog-v4.19.yaml': empty, 'sources/catalog-v4.21.yaml': empty };
    const patched = { ...files, ...filled, 'patch.sh': 'opm render x > sources/catalog-v4.21.yaml\n' };
    expect((await layoutAt(patched)).found.catalogs).toEqual(['v4.19', 'v4.20']);
    const named = { ...files, Makefile: 'check:\n\topm validate sources/catalog-v4.21.yaml\n' };
    expect((await layoutAt(named)).leftOut.map(({ path }) => path)).not.toContain(
      'sources/catalog-v4.21.yaml',
    );
  });

  test('are one catalog where what a build file names is in one of them, and the other lies above it', async () => {
    const { found, questions, leftOut } = await layoutAt({
      'catalog/generated/alpha.yaml': etcd,
      'catalog/index.yaml': etcd,
      'catalog/Makefile': 'image:\n\tdocker build .. && echo done\n',
      Makefile: 'image:\n\tdocker build catalog\n',
      'catalog.Dockerfile':
        'FROM opm\nARG STREAM=alpha\nCOPY catalog/generated/$STREAM.yaml /configs/index.yaml\n',
    });
    expect(questions).toEqual([]);
    expect(found.patterns).toEqual([{ path: 'catalog/generated/alpha.yaml', name: 'generated' }]);
    expect(leftOut.map(({ path }) => path)).toEqual(['catalog/index.yaml']);
  });

  test('are no question where a version, an architecture or a folder of catalogs tells them apart', async () => {
    const versions = await layoutAt({
      'a/v4.18/etcd/catalog.yaml': etcd,
      'a/v4.19/etcd/catalog.yaml': newer,
    });
    const machines = await layoutAt({ 'a/amd64/etcd/c.yaml': etcd, 'a/arm64/etcd/c.yaml': newer });
    const catalogs = await layoutAt({ 'catalogs/a/etcd/c.yaml': etcd, 'catalogs/b/etcd/c.yaml': newer });
    expect([versions, machines, catalogs].map(({ questions }) => questions)).toEqual([[], [], []]);
  });

  test('are a question for each version that both have, where one may be a copy of the other', async () => {
    const { questions } = await layoutAt({
      'fbc/v4.18/etcd/catalog.yaml': etcd,
      'fbc-old/v4.18/etcd/catalog.yaml': newer,
    });
    expect(questions).toEqual([expect.stringMatching(/fbc(-old)?\/v4\.18 both define package etcd/)]);
    const stages = await layoutAt({ 'stage/v4.18/etcd/c.yaml': etcd, 'prod/v4.18/etcd/c.yaml': newer });
    expect(stages.questions).toEqual([]);
  });
});

describe('two operators below the folder of each version', () => {
  const operators = {
    'v4.18/etcd-operator/catalog/etcd/catalog.json': etcd,
    'v4.18/quay-operator/catalog/quay/catalog.json': quay,
    'v4.19/etcd-operator/catalog/etcd/catalog.json': newer,
    'v4.19/quay-operator/catalog/quay/catalog.json': quay,
    'README.md': 'x',
  };
  const folders = [
    'v4.18/etcd-operator',
    'v4.18/quay-operator',
    'v4.19/etcd-operator',
    'v4.19/quay-operator',
  ];

  test('are catalogs of their own where each has a Dockerfile', async () => {
    const dockerfiles = folders.map((one) => [
      `${one}/catalog.Dockerfile`,
      `FROM ${one}\nADD catalog /configs\n`,
    ]);
    const { found, questions } = await layoutAt({ ...operators, ...Object.fromEntries(dockerfiles) });
    expect(questions).toEqual([]);
    expect(found.patterns).toEqual([
      {
        path: '{catalog:v*.*}/etcd-operator/catalog/{package}/catalog.json',
        name: 'etcd-operator-{catalog}',
      },
      {
        path: '{catalog:v*.*}/quay-operator/catalog/{package}/catalog.json',
        name: 'quay-operator-{catalog}',
      },
    ]);
    expect(found.catalogs).toEqual([
      'etcd-operator-v4.18',
      'quay-operator-v4.18',
      'etcd-operator-v4.19',
      'quay-operator-v4.19',
    ]);
  });

  test('are one catalog where one Dockerfile copies both', async () => {
    const dockerfiles = ['v4.18', 'v4.19'].map((one) => [
      `${one}/catalog.Dockerfile`,
      `FROM ${one}\nADD etcd-operator/catalog quay-operator/catalog /configs/\n`,
    ]);
    const { found } = await layoutAt({ ...operators, ...Object.fromEntries(dockerfiles) });
    expect(found.catalogs).toEqual(['v4.18', 'v4.19']);
  });
});

describe('folders of packages beside each other, in a folder that a Dockerfile copies', () => {
  const dockerfile = { Dockerfile: 'FROM opm\nADD catalog /configs\n' };

  test('are one catalog, also those to come', async () => {
    const { found, questions } = await layoutAt({
      'catalog/storage/etcd/catalog.yaml': etcd,
      'catalog/network/quay/catalog.yaml': catalogOf('quay', ['1.0.0']),
      ...dockerfile,
    });
    expect(questions).toEqual([]);
    expect(found.patterns).toEqual(['catalog/*/{package}/**']);
    expect(found.catalogs).toEqual(['catalog']);
  });

  test('are not where they define a package twice, which the question says', async () => {
    const { questions } = await layoutAt({
      'catalog/one/etcd/catalog.yaml': etcd,
      'catalog/two/etcd/catalog.yaml': newer,
      ...dockerfile,
    });
    expect(questions).toEqual([
      'catalog/one and catalog/two both define package etcd, and Dockerfile copies them into one image, which opm cannot serve',
    ]);
  });
});

describe('catalogs of one version in folders beside each other, each with packages of its own', () => {
  const quay = catalogOf('quay', ['1.0.0']);
  const kiali = catalogOf('kiali', ['1.0.0']);

  test.each([
    [
      'catalogs/certified-',
      'catalogs/community-',
      'certified-v4.19',
      ['catalogs/{catalog}/{package}/catalog.yaml'],
    ],
    [
      'public/',
      'private/',
      'public-v4.19',
      [
        { path: 'private/{catalog}/{package}/catalog.yaml', name: 'private-{catalog}' },
        { path: 'public/{catalog}/{package}/catalog.yaml', name: 'public-{catalog}' },
      ],
    ],
  ])('are catalogs of their own: %s and %s', async (one, other, name, patterns) => {
    const { found, questions, contradictions } = await layoutAt({
      [`${one}v4.18/etcd/catalog.yaml`]: etcd,
      [`${one}v4.19/etcd/catalog.yaml`]: etcd,
      [`${other}v4.18/quay/catalog.yaml`]: quay,
      [`${other}v4.19/quay/catalog.yaml`]: quay,
      'README.md': 'x',
    });
    expect([questions, contradictions]).toEqual([[], []]);
    expect(found.catalogs).toHaveLength(4);
    expect(found.catalogs).toContain(name);
    expect(found.patterns).toEqual(patterns);
  });

  test('are one catalog where one Dockerfile copies both', async () => {
    const { found } = await layoutAt({
      'public/v4.18/etcd/catalog.yaml': etcd,
      'public/v4.19/etcd/catalog.yaml': etcd,
      'private/v4.18/quay/catalog.yaml': quay,
      'private/v4.19/quay/catalog.yaml': quay,
      Dockerfile: 'ARG VERSION\nFROM opm\nCOPY public/$VERSION private/$VERSION /configs/\n',
    });
    expect(found.catalogs).toEqual(['v4.18', 'v4.19']);
  });

  test('stay one catalog where folders of packages lie in the folder of the version', async () => {
    const { found } = await layoutAt({
      'v4.19/one/etcd/catalog.yaml': etcd,
      'v4.19/two/quay/catalog.yaml': quay,
      'v4.19/two/kiali/catalog.yaml': kiali,
      'README.md': 'x',
    });
    expect(found.catalogs).toEqual(['v4.19']);
  });
});

describe('a build argument', () => {
  const sets = { 'sets/one/etcd/catalog.yaml': etcd, 'sets/two/etcd/catalog.yaml': newer };
  const dockerfile = { Dockerfile: 'ARG SET\nFROM opm\nCOPY sets/$SET /configs\n' };

  test('leaves open what is published, also with a default', async () => {
    for (const line of ['ARG SET', 'ARG SET=one']) {
      const { questions } = await layoutAt({
        ...sets,
        Dockerfile: dockerfile.Dockerfile.replace('ARG SET', line),
      });
      expect(questions, line).toEqual([expect.stringContaining('a build argument decides')]);
    }
  });

  test('does not where a workflow has its values, or they are versions', async () => {
    const matrix = 'jobs: {a: {strategy: {matrix: {set: [one, two]}}}}\n';
    const named = await layoutAt({ ...sets, ...dockerfile, '.github/workflows/ci.yaml': matrix });
    expect([named.questions, named.found.catalogs]).toEqual([[], ['one', 'two']]);
    const versions = await layoutAt({
      ...dockerfile,
      'sets/v4.18/etcd/catalog.yaml': etcd,
      'sets/v4.19/etcd/catalog.yaml': newer,
    });
    expect(versions.questions).toEqual([]);
  });

  test('leaves open whether folders of packages are one catalog', async () => {
    const files = { 'sets/etcd/catalog.yaml': etcd, 'sets/quay/catalog.yaml': quay };
    const open = await layoutAt({ ...files, ...dockerfile });
    expect(open.questions).toEqual([expect.stringContaining('sets may be one catalog or several')]);
    const whole = await layoutAt({ ...files, Dockerfile: 'FROM opm\nCOPY sets /configs\n' });
    expect([whole.questions, whole.found.catalogs]).toEqual([[], ['sets']]);
  });
});

test('folders that are called after no package are a question, and after packages one catalog', async () => {
  const { questions } = await layoutAt({ 'fbc/red/catalog.yaml': etcd, 'fbc/blue/catalog.yaml': quay });
  expect(questions).toEqual([expect.stringMatching(/fbc\/blue and fbc\/red|fbc\/red and fbc\/blue/)]);
  const one = await layoutAt({ 'fbc/etcd/catalog.yaml': etcd, 'fbc/quay/catalog.yaml': quay });
  expect([one.questions, one.found.catalogs]).toEqual([[], ['fbc']]);
});

describe('folders that no cluster gets', () => {
  test.each([
    ['third_party/x/v4.19/quay/catalog.yaml', "a copy of another project's files"],
    ['docs/catalogs/quay/catalog.yaml', 'part of the documentation'],
    ['config/samples/catalog.yaml', 'a test, an example or a template'],
  ])('%s is left out, and is a catalog where a Dockerfile copies it', async (path, reason) => {
    const catalog = { 'fbc/v4.19/etcd/catalog.yaml': etcd, [path]: quay };
    const { found, leftOut } = await layoutAt(catalog);
    expect(found.patterns).toEqual(['fbc/{catalog}/{package}/catalog.yaml']);
    expect(leftOut).toEqual([{ path, reason }]);
    const folder = path.split('/').slice(0, 2).join('/');
    const shipped = await layoutAt({ ...catalog, Dockerfile: `FROM opm\nCOPY ${folder} /configs\n` });
    expect(shipped.leftOut).toEqual([]);
    expect(shipped.found.patterns).toHaveLength(2);
  });
});

test('a name of many wildcards, which would take for ever to match, names no folder', async () => {
  const long = 'a'.repeat(60);
  const files = { [`${long}/etcd/catalog.yaml`]: etcd, 'next/etcd/catalog.yaml': newer };
  const { questions } = await layoutAt({ ...files, Dockerfile: `COPY ${'*a'.repeat(40)}b /configs\n` });
  expect(questions).toEqual([expect.stringContaining('no Dockerfile')]);
  const plain = await layoutAt({ ...files, Dockerfile: 'COPY a*a /configs\n' });
  expect([plain.questions, plain.found.catalogs]).toEqual([[], [long]]);
});

describe('a symbolic link', () => {
  const link = (text: string) => ({ mode: '120000', text });

  test('in a catalog makes a store of what it leads to, which is no catalog', async () => {
    const files = {
      'catalogs/v4.19/quay/catalog.yaml': quay,
      'shared/etcd/catalog.yaml': etcd,
    };
    const { found, leftOut } = await layoutAt({
      ...files,
      'catalogs/v4.19/etcd/catalog.yaml': link('../../../shared/etcd/catalog.yaml'),
    });
    expect(found.patterns).toEqual(['catalogs/{catalog}/{package}/catalog.yaml']);
    expect(leftOut).toEqual([
      {
        path: 'shared/etcd/catalog.yaml',
        reason: expect.stringMatching(
          /^the target of the symbolic link catalogs\/v4\.19\/etcd\/catalog\.yaml/,
        ),
      },
    ]);
    const folders = await layoutAt({ ...files, 'catalogs/v4.19/etcd': link('../../shared/etcd') });
    expect(folders.found.patterns).toEqual(found.patterns);
    const without = await layoutAt(files);
    expect(without.found.patterns).toHaveLength(2);
  });

  test('is named where no layout fits without what it leads to', async () => {
    const bundle = etcd.split('\n').find((line) => line.includes('olm.bundle')) ?? '';
    const proven = await layoutAt({
      'v4.19/etcd/catalog.yaml': etcd.replace(bundle, ''),
      'v4.19/etcd/bundle.yaml': link('../../shared/bundle.yaml'),
      'shared/bundle.yaml': bundle,
    });
    expect(unclearLayout(proven).message).toContain(
      'Portolan does not follow symbolic links (1 link to catalog files, such as v4.19/etcd/bundle.yaml -> shared/bundle.yaml), and no layout fits all catalog files: ',
    );
  });

  test('from one version to another, or from elsewhere, leaves the catalog what it is', async () => {
    for (const [path, target] of [
      ['catalogs/v4.20', 'v4.19'],
      ['latest', 'catalogs/v4.19'],
    ] as const) {
      const { found, leftOut, links } = await layoutAt({
        'catalogs/v4.18/etcd/catalog.yaml': etcd,
        'catalogs/v4.19/etcd/catalog.yaml': newer,
        [path]: link(target),
      });
      expect([found.catalogs, leftOut]).toEqual([['v4.18', 'v4.19'], []]);
      expect(links).toEqual([{ path, target: 'catalogs/v4.19' }]);
    }
  });
});

test('a default channel that is missing is a defect of the commit, and one that is there is none', async () => {
  const broken = await layoutAt({
    'catalogs/v4.19/etcd/catalog.yaml': etcd.replace(/(defaultChannel"?:\s*"?)stable/, '$1gone'),
  });
  expect(broken.defects).toEqual([expect.stringMatching(/^catalogs\/v4\.19\/etcd\/catalog\.yaml: .*gone/)]);
  const valid = await layoutAt({ 'catalogs/v4.19/etcd/catalog.yaml': etcd });
  expect(valid.defects).toEqual([]);
});

describe('packages below one folder', () => {
  const image = (text: string): string => `FROM quay.io/operator-framework/opm:v1\n${text}`;
  const packages = { 'indexes/etcd/catalog.yaml': etcd, 'indexes/quay/catalog.yaml': quay };

  test('are catalogs where a Dockerfile for each copies its file alone', async () => {
    const { found, questions } = await layoutAt({
      ...packages,
      'indexes/etcd/Dockerfile': image('COPY catalog.yaml /configs/etcd/catalog.yaml\n'),
      'indexes/quay/Dockerfile': image('COPY catalog.yaml /configs/quay/catalog.yaml\n'),
    });
    expect([found.patterns, questions]).toEqual([['indexes/{catalog}/catalog.yaml'], []]);
  });

  test('are one catalog where a Dockerfile copies the folder or both', async () => {
    for (const copied of [
      'COPY indexes /configs\n',
      'COPY indexes/etcd /configs/a\nCOPY indexes/quay /configs/b\n',
    ]) {
      const { found, questions } = await layoutAt({ ...packages, Dockerfile: image(copied) });
      expect([found.patterns, questions]).toEqual([['indexes/{package}/**'], []]);
    }
  });

  test('are a question where the folder is called after catalogs and no build file names it', async () => {
    const { questions } = await layoutAt({ ...packages, 'README.md': 'x' });
    expect(questions).toEqual([
      'indexes may be one catalog of 2 packages or a catalog for each: no Dockerfile, Makefile or CI file says which is published',
    ]);
    const index = { 'index/etcd/catalog.yaml': etcd, 'index/quay/catalog.yaml': quay, 'README.md': 'x' };
    expect((await layoutAt(index)).questions).toEqual([]);
  });
});

test('catalogs of products and stages are apart where one variable of a Dockerfile names each', async () => {
  const { found } = await layoutAt({
    'products/a/4.19/prod/catalog.yaml': etcd,
    'products/a/4.19/stage/catalog.yaml': newer,
    'products/b/4.19/prod/catalog.yaml': quay,
    'products/b/4.19/stage/catalog.yaml': quay,
    'products/a/product.yaml': 'name: a\n',
    'build/Dockerfile': 'FROM opm\nADD products/$PRODUCT/$OCP/$STAGE /configs/$PRODUCT\n',
  });
  expect(found.catalogs.toSorted()).toEqual(['a-prod-4.19', 'a-stage-4.19', 'b-prod-4.19', 'b-stage-4.19']);
});

test('a folder with one file is the catalog with all that is added, where a Dockerfile copies it', async () => {
  const files = { 'v4.19/catalog/etcd/catalog.yaml': etcd };
  const patterns = async (more: Files): Promise<readonly WrittenPattern[]> =>
    (await layoutAt({ ...files, ...more })).found.patterns;
  const copying = (what: string): Files => ({
    'v4.19/Dockerfile': `FROM opm\nCOPY ${what} /configs/\n`,
  });
  const [whole] = await patterns(copying('catalog/'));
  expect(whole).toBe('{catalog:v*.*}/catalog/{package}/**');
  const alone = String(whole).replace('**', 'catalog.yaml');
  expect(await patterns(copying('catalog/etcd/catalog.yaml'))).toEqual([alone]);
  expect(await patterns({ ...copying('catalog/'), 'v4.19/catalog/etcd/README.md': 'x\n' })).toEqual([alone]);
});
