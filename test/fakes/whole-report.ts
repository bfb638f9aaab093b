/** A report in which each property has a value: the compiler asks for it, and the schema of reports must know it. */
import type { CheckReport } from '../../pipeline/check/report.ts';

/** A value of which nothing is left out, at any depth. */
type Whole<T> = T extends object ? { readonly [K in keyof T]-?: Whole<NonNullable<T[K]>> } : T;

const LOCATION = { file: 'catalogs/v4.20/etcd/catalog.yaml', line: 7, column: 3 };

const FINDING = {
  rule: 'graph/strands-installed-v0',
  severity: 'error',
  message: 'etcd 1.0.0 has no upgrade',
  location: LOCATION,
  hint: 'Keep the entry.',
  correction: { kind: 'replace', location: LOCATION, found: 'a', wanted: 'b' },
  package: 'etcd',
  catalogs: ['v4.20'],
  channel: 'stable',
  subject: 'etcd.v1.0.0',
  installed: ['1.0.0'],
  clusters: 3,
} as const;

const OUTCOMES = [
  { outcome: 'strands', clusters: 3, platforms: [{ platform: '4.20', clusters: 3 }] },
] as const;

const SUMMARY = { next: '1.1.0', kind: 'upgrade', end: '1.2.0', arrives: true, why: '' } as const;

export const WHOLE: Whole<CheckReport> = {
  apiVersion: 'portolan/v1alpha1',
  kind: 'CheckReport',
  verdict: 'fail',
  headline: 'bob must correct 1 error',
  enforce: 'off',
  notEnforced: ['graph/skips'],
  authority: {
    decision: 'needs',
    author: 'bob',
    reasons: ['bob owns etcd'],
    needs: ['1 approval of an admin'],
    missing: [{ who: 'admin', count: 1, from: ['ann'], subjects: ['etcd'], why: 'a channel is removed' }],
    warnings: ['no commit is signed'],
  },
  base: 'a'.repeat(40),
  head: 'b'.repeat(40),
  tree: 'c'.repeat(40),
  policy: { source: '.github/portolan.yaml', expired: ['graph/skips until 2020-01-01'] },
  packages: [{ name: 'etcd', catalogs: ['v4.20'], classes: ['prune'], details: ['etcd.v1.0.0 goes'] }],
  findings: [
    FINDING,
    { ...FINDING, correction: { kind: 'add', location: LOCATION, found: 'a', member: 'b: c' } },
  ],
  suggestions: [{ rule: 'catalog/order', message: 'm', file: 'f', line: 1, before: 'a', after: 'b' }],
  known: [FINDING],
  waived: [{ finding: FINDING, until: '2099-01-01', reason: 'known' }],
  diffs: [
    {
      package: 'etcd',
      kind: 'changed',
      defaultChannel: { before: 'stable', after: 'fast' },
      channels: [
        {
          channel: 'stable',
          kind: 'changed',
          head: { before: 'etcd.v1.0.0', after: 'etcd.v1.1.0' },
          added: ['etcd.v1.1.0'],
          removed: ['etcd.v1.0.0'],
          edges: [{ kind: 'added', to: 'etcd.v1.1.0', field: 'replaces', from: 'etcd.v1.0.0' }],
        },
      ],
      bundles: [{ bundle: 'etcd.v1.1.0', kind: 'changed', fields: ['image'] }],
      deprecations: [{ kind: 'added', of: 'the package', message: 'gone' }],
      fates: [
        {
          channels: ['stable'],
          installed: ['1.0.0'],
          v0: { before: SUMMARY, after: SUMMARY },
          v1: { before: SUMMARY, after: SUMMARY },
        },
      ],
      reviews: [
        {
          package: 'etcd',
          from: 'etcd.v1.0.0',
          to: 'etcd.v1.1.0',
          act: 1,
          know: 0,
          sections: [
            {
              title: 'CRDs',
              items: [{ weight: 'act', text: 'a field goes', means: 'objects lose it', details: ['spec.a'] }],
              unknown: 'no manifests',
            },
          ],
          channels: ['stable'],
          images: { from: 'quay.io/a/b@sha256:0', to: 'quay.io/a/b@sha256:1' },
        },
      ],
      graph: {
        package: 'etcd',
        lanes: [
          {
            channel: 'stable',
            isDefault: true,
            kind: 'same',
            isChanged: true,
            stops: [
              {
                bundle: 'etcd.v1.0.0',
                label: '1.0.0',
                kind: 'same',
                isHead: false,
                isSkipped: false,
                isDeprecated: false,
                stuck: ['v0'],
                hops: [{ to: 'etcd.v1.1.0', olm: ['v1'], kind: 'added' }],
                why: { v0: 'skipped', v1: 'not skipped' },
              },
            ],
          },
        ],
      },
      catalogs: ['v4.20'],
    },
  ],
  holds: ['frozen'],
  byHand: ['workflows change'],
  waitsFor: ['build'],
  request: {
    repository: 'example/catalogs',
    number: 7,
    branch: 'main',
    merge: { mode: 'auto', method: 'squash', via: 'queue-if-enabled' },
    suggestions: true,
    labels: true,
    ask: true,
    basis: '0'.repeat(32),
    ungated: [{ number: 8, branch: 'next' }],
  },
  disconnected: [
    {
      catalogs: ['v4.20'],
      bundles: 2,
      ready: 1,
      unchecked: 1,
      worse: [{ bundle: 'etcd/etcd.v1.1.0', missing: ['quay.io/a/b:latest: a tag'] }],
    },
  ],
  fleet: {
    total: 4,
    clusters: 3,
    outcomes: OUTCOMES,
    packages: [
      {
        package: 'etcd',
        clusters: 3,
        outcomes: OUTCOMES,
        flows: [
          {
            platform: '',
            outcome: 'not-known',
            installed: '',
            next: '',
            end: '',
            notKnown: 'platform',
            clusters: 3,
          },
        ],
      },
    ],
    unread: 1,
  },
  released: [
    { package: 'etcd', version: '1.1.0', image: 'quay.io/a/b@sha256:1', by: 'propose', files: ['f'] },
  ],
  omitted: ['diffs'],
  gates: [
    {
      preset: 'community-operators',
      gate: 'the pipeline of community operators',
      source: 'operator-pipelines',
      date: '2026-11-01',
      verdict: 'fail',
      checks: [{ check: 'check_using_fbc', errors: 1, warnings: 0 }],
      notChecked: [{ check: 'check_images', why: 'needs a registry' }],
    },
  ],
  unchecked: [{ what: 'images', why: 'no registry' }],
  context: { files: 1, bytes: 2, fetched: 1, fetchedBytes: 2, requests: 1 },
};
