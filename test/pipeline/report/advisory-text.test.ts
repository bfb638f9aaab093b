import { expect, test } from 'vitest';
import { NO_EDIT } from '../../../catalog/olm/advisory/package-edit.ts';
import type { CatalogPlan } from '../../../pipeline/check/advisories/advisories.ts';
import type { StoredAdvisory } from '../../../pipeline/policy/advisories.ts';
import { advisoryBody } from '../../../pipeline/report/advisory-text.ts';

const ADVISORY: StoredAdvisory = {
  id: 'ETCD-1',
  path: 'advisories/ETCD-1.yaml',
  package: 'etcd',
  versions: ['1.1.0'],
  reason: { kind: 'withdrawn' },
  action: 'yank',
  message: 'do not use it',
  allowDowngrade: false,
  withoutUpgradePath: [],
  catalogs: ['*'],
};

function planned(channelsWithNewGraphs: readonly string[]): CatalogPlan {
  const plan = {
    kind: 'edit',
    edit: NO_EDIT,
    proof: undefined,
    withoutUpgradePath: [],
    downgraded: [],
    channelsWithNewGraphs,
  } as const;
  return { catalog: 'v4.20', plan, unaccepted: [], holders: new Set(), files: new Map(), refused: undefined };
}

test('a pull request says which channels have a new upgrade graph, and only those', () => {
  const body = advisoryBody(ADVISORY, [planned(['alpha', '<b>'])], []);
  expect(body).toContain(
    '- v4.20: new upgrade graph from suggest-graph for channels alpha, &lt;b&gt;: no edit of single entries is enough\n\nTest the direct upgrades that no entry had before.',
  );
  expect(advisoryBody(ADVISORY, [planned([])], [])).not.toContain('suggest-graph');
});
