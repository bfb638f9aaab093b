import { describe, expect, test } from 'vitest';
import { type Extension, resolveExtension } from '../../../../catalog/olm/resolve/extension.ts';
import { selectorOf } from '../../../../catalog/olm/resolve/selector.ts';
import type { ScopeCatalog } from '../../../../catalog/olm/resolve/snapshot.ts';
import { bundleName, catalogFrom, PACKAGE, type WrittenPackage } from '../universe.ts';

const CHAIN: WrittenPackage = {
  versions: ['1.0.0', '1.1.0', '2.0.0'],
  channels: {
    stable: [
      { name: bundleName('1.0.0') },
      { name: bundleName('1.1.0'), replaces: bundleName('1.0.0') },
      { name: bundleName('2.0.0'), replaces: bundleName('1.1.0') },
    ],
  },
};

async function catalog(written: WrittenPackage, more: Partial<ScopeCatalog> = {}): Promise<ScopeCatalog> {
  const one = { name: 'cat', namespace: '', priority: 0, serving: true };
  return { ...one, catalog: await catalogFrom({ [PACKAGE]: written }), ...more };
}

function answer(
  catalogs: readonly ScopeCatalog[],
  extension: Partial<Extension> & { from?: string } = {},
): string {
  const { from, ...rest } = extension;
  const installed = from === undefined ? undefined : { name: bundleName(from), version: from };
  const all = {
    package: PACKAGE,
    version: '',
    channels: [],
    policy: 'CatalogProvided' as const,
    installed,
    ...rest,
  };
  const { outcome } = resolveExtension({ catalogs }, all);
  if (outcome.kind === 'upgrade') return `${outcome.to.catalog}/${outcome.to.name} by ${outcome.edge}`;
  return `${outcome.kind}: ${outcome.reason.code}`;
}

describe('what is left to choose from', () => {
  test.each([
    [{}, 'cat/p.v2.0.0 by none'],
    [{ version: '1.x' }, 'cat/p.v1.1.0 by none'],
    [{ version: '9.x' }, 'fails: no-bundle'],
    [{ version: 'latest' }, 'fails: bad-version'],
    [{ channels: ['none'] }, 'fails: no-bundle'],
    [{ package: 'other' }, 'fails: no-bundle'],
    [{ from: '1.0.0' }, 'cat/p.v1.1.0 by replaces'],
    [{ from: '2.0.0' }, 'stays: newest'],
    [{ from: '0.9.0' }, 'fails: no-bundle'],
    [{ from: '1.0.0', version: '2.0.0' }, 'fails: no-bundle'],
    [{ from: '1.0.0', version: '2.0.0', policy: 'SelfCertified' as const }, 'cat/p.v2.0.0 by none'],
    [{ installed: { name: 'renamed', version: '1.1.0' } }, 'cat/p.v1.1.0 by version'],
    [{ installed: { name: 'renamed', version: 'one' } }, 'fails: bad-version'],
  ])('%j: %s', async (extension, told) => expect(answer([await catalog(CHAIN)], extension)).toBe(told));
});

describe('what is chosen', () => {
  test('the highest version, whatever is skipped or stands nearer to the head', async () => {
    const written: WrittenPackage = {
      versions: ['1.0.0', '1.2.0', '1.1.0'],
      channels: {
        a: [
          { name: bundleName('1.1.0'), replaces: bundleName('1.0.0'), skips: [bundleName('1.2.0')] },
          { name: bundleName('1.2.0'), skipRange: '<1.2.0' },
          { name: bundleName('1.0.0') },
        ],
      },
    };
    expect(answer([await catalog(written)], { from: '1.0.0' })).toBe('cat/p.v1.2.0 by skipRange');
  });

  test('rather what is not deprecated, even if it is lower', async () => {
    const written = { ...CHAIN, deprecated: ['2.0.0', '1.1.0'] };
    expect(answer([await catalog(written)])).toBe('cat/p.v1.0.0 by none');
    expect(answer([await catalog(written)], { from: '1.0.0' })).toBe('stays: successor-deprecated');
  });

  test('nothing where the best has dependencies, though others have none', async () => {
    const properties = {
      '2.0.0': [{ type: 'olm.gvk.required', value: { group: 'a', version: 'v1', kind: 'A' } }],
    };
    expect(answer([await catalog({ ...CHAIN, properties })])).toBe('fails: dependency');
  });

  test('any of those that cannot be told apart', async () => {
    const written: WrittenPackage = {
      versions: ['1.0.0+007', '1.0.0+008'],
      channels: { a: [{ name: bundleName('1.0.0+007') }, { name: bundleName('1.0.0+008') }] },
    };
    const extension = { package: PACKAGE, version: '', channels: [], policy: 'CatalogProvided' as const };
    const { ties } = resolveExtension(
      { catalogs: [await catalog(written)] },
      { ...extension, installed: undefined },
    );
    expect(ties).toEqual([bundleName('1.0.0+008')]);
  });

  test('releases behind + are ordered as numbers', async () => {
    const versions = ['1.0.0+2', '1.0.0+10'];
    const written = { versions, channels: { a: versions.map((version) => ({ name: bundleName(version) })) } };
    expect(answer([await catalog(written)], { version: '1.0.0' })).toBe('cat/p.v1.0.0+10 by none');
  });
});

describe('several catalogs', () => {
  test('the priority decides, not the version; equals are an error', async () => {
    const high = await catalog({ ...CHAIN, versions: ['1.0.0'] }, { name: 'high', priority: 1 });
    expect(answer([await catalog(CHAIN), high])).toBe('high/p.v1.0.0 by none');
    expect(answer([await catalog(CHAIN), await catalog(CHAIN, { name: 'dog' })])).toBe('fails: ambiguous');
  });

  test('what is not deprecated beats the priority', async () => {
    const high = await catalog({ ...CHAIN, deprecated: CHAIN.versions }, { name: 'high', priority: 1 });
    expect(answer([await catalog(CHAIN), high])).toBe('cat/p.v2.0.0 by none');
  });

  test('one that does not serve fails all, unless it is not selected', async () => {
    const down = await catalog(CHAIN, { name: 'down', serving: false });
    const labelled = await catalog(CHAIN, { labels: { support: 'yes' } });
    expect(answer([labelled, down])).toBe('fails: not-serving');
    expect(answer([labelled, down], { selects: selectorOf({ matchLabels: { support: 'yes' } }) })).toBe(
      'cat/p.v2.0.0 by none',
    );
  });
});

test.each([
  [{}, true],
  [{ matchLabels: { a: '1' } }, true],
  [{ matchLabels: { a: '2' } }, false],
  [{ matchLabels: { toString: 'x' } }, false],
  [{ matchExpressions: [{ key: 'a', operator: 'In' as const, values: ['1', '2'] }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'NotIn' as const, values: ['1'] }] }, false],
  [{ matchExpressions: [{ key: 'b', operator: 'NotIn' as const, values: ['1'] }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'Exists' as const }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' as const }] }, false],
])('the selector %j selects {a: 1}: %s', (selector, selects) => {
  expect(selectorOf(selector)({ a: '1' })).toBe(selects);
});
