import { expect, test } from 'vitest';
import { RULES } from '../../../catalog/rules/index.ts';

/**
 * Every check that the real tools have, by table (the loader of operator-framework/api, the format and content of
 * operator-registry, …) and number, and the rules that stand for it.
 */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  L: [
    'manifest/csv-missing manifest/several-csvs manifest/subfolder manifest/hidden-file manifest/unreadable',
    'csv/type crd/type crd/api-version annotations/unreadable',
  ],
  F: [
    'manifest/folders manifest/folders manifest/folders annotations/missing annotations/key annotations/media-type',
    'annotations/empty annotations/empty',
  ],
  D: [
    'dependency/gvk dependency/gvk dependency/gvk dependency/label dependency/package dependency/package',
    'dependency/package dependency/constraint dependency/constraint dependency/constraint dependency/type',
  ],
  K: [
    'manifest/kind crd/api-version manifest/metadata manifest/unreadable crd/owned-missing crd/not-owned',
    'csv/substitutes-for manifest/kind manifest/metadata manifest/csv-missing manifest/folders manifest/csv-missing',
  ],
  C: [
    'csv/name csv/name csv/annotations csv/examples-missing csv/examples-twice csv/examples csv/examples csv/crd-name',
    'csv/example-api csv/api-example csv/install-modes csv/install-modes-twice csv/conversion-modes csv/install-modes',
    'csv/min-kube-version-missing csv/min-kube-version csv/required-field csv/annotation-case',
    'csv/properties-annotation csv/type-meta csv/type-meta',
  ],
  R: [
    'crd/name crd/group crd/group crd/group crd/scope crd/scope crd/storage-version crd/version-names crd/version-names',
    'crd/names crd/names crd/names crd/names crd/names crd/names crd/names crd/names crd/conversion crd/conversion',
    'crd/conversion crd/conversion crd/conversion crd/conversion crd/conversion crd/conversion crd/conversion',
    'crd/conversion crd/preserve-unknown crd/deprecation-warning crd/printer-column crd/printer-column',
    'crd/printer-column crd/printer-column crd/scale crd/scale-status crd/scale crd/scale crd/single-version',
    'crd/protected-group crd/selectable-field',
  ],
  B: [
    'crd/duplicate crd/owned-missing crd/not-owned csv/service-account manifest/size manifest/size manifest/size',
    'manifest/size csv/release-name csv/related-image csv/related-image',
  ],
  H: [
    'csv/provider csv/maintainer csv/maintainer csv/link csv/link csv/version csv/icon csv/icon csv/icon',
    'csv/icon-missing csv/min-kube-version-missing csv/min-kube-version csv/capabilities csv/categories csv/categories',
    'csv/categories',
  ],
  A: [
    'api/removed-1-22 api/removed-1-25 api/removed-1-25 api/removed-1-26 api/min-kube-version api/min-kube-version',
  ],
  G: [
    'practice/deployment practice/resource-requests practice/csv-name practice/csv-name practice/channel-name',
    'practice/creates-crds practice/crd-description',
  ],
  O: [
    'object/disruption-budget object/disruption-budget object/priority-class object/disruption-rights',
    'object/scc-rights object/type object/type object/type object/type csv/annotation-case',
  ],
  M: [
    'platform/unsupported platform/label platform/label platform/alike platform/alike platform/affinity',
    'platform/affinity platform/affinity platform/affinity platform/unknown -',
  ],
  Y: [
    'openshift/max-version-needed openshift/max-version openshift/max-version-needed openshift/max-version',
    'openshift/max-version-needed openshift/versions-label openshift/versions-label openshift/versions-label',
    'openshift/versions-label openshift/versions-label openshift/versions-label openshift/versions-label',
    'openshift/versions-label openshift/versions-label',
  ],
  Z: [
    'openshift/max-version openshift/max-version openshift/max-version openshift/max-version-needed',
    'openshift/max-version-needed openshift/versions-range openshift/versions-range openshift/max-version',
    'openshift/max-version',
  ],
  T: [
    'openshift/versions-range openshift/versions-range openshift/versions-range console/feature disconnected/claim',
    'disconnected/listed - openshift/scc',
  ],
  S: [
    'scorecard/resources scorecard/example-field scorecard/spec-descriptor scorecard/status-descriptor',
    'csv/example-api manifest/folders',
  ],
  V: [
    'olmv1/deployment-name olmv1/deployment-name crd/duplicate crd/owned-missing annotations/package',
    'csv/conversion-modes webhook/deployment webhook/duplicate webhook/name webhook/conversion-twice',
    'webhook/conversion-owned webhook/rules manifest/kind',
  ],
  P: [
    'olmv1/api-service olmv1/webhooks olmv1/install-mode olmv1/install-mode webhook/conversion-owned',
    'olmv1/install-mode',
  ],
  N: ['olmv1/dependency'],
  W: [
    'webhook/rules webhook/rules webhook/rules webhook/duplicate csv/conversion-modes webhook/conversion-owned',
    'webhook/conversion-owned',
  ],
  PM: [
    'package-manifest/name package-manifest/channels-empty package-manifest/default-missing',
    'package-manifest/channel-name package-manifest/current-empty package-manifest/channel-duplicate',
    'package-manifest/default-unknown package-manifest/several package-manifest/current-unknown',
    'package-manifest/two-csvs package-manifest/owned-missing package-manifest/replaces-missing',
    'package-manifest/cycle package-manifest/csv-duplicate',
  ],
  X: [
    'annotations/default-channel annotations/package disconnected/pinned disconnected/listed console/platform-label',
    'console/namespace-template console/api-fields csv/skip-range annotations/labels csv/unquoted csv/version',
    'manifest/duplicate-object csv/icon-data manifest/lost-document',
  ],
};

/** How many checks each table has. */
const SIZES: Readonly<Record<string, number>> = {
  ...{
    L: 9,
    F: 8,
    D: 11,
    K: 12,
    C: 21,
    R: 40,
    B: 11,
    H: 16,
    A: 6,
    G: 7,
    O: 10,
    M: 11,
    Y: 14,
    Z: 9,
    T: 8,
    S: 6,
  },
  ...{ V: 13, P: 6, N: 1, W: 7, PM: 14, X: 14 },
};

/** What we have not, and why: rows of docs/bundle-differences.md. */
const ABSENT: Readonly<Record<string, string>> = { M11: 'no-container-tools', T07: 'certification-service' };

const rowsOf = (table: string): string[] => (ROWS[table] ?? []).flatMap((line) => line.split(' '));

test.each(Object.entries(SIZES))('table %s: each of its %i checks has a rule', (table, size) => {
  const rows = rowsOf(table);
  expect(rows).toHaveLength(size);
  const ids = new Set(RULES.map(({ id }) => id));
  const absent = rows.flatMap((rule, i) =>
    rule === '-' ? [`${table}${String(i + 1).padStart(2, '0')}`] : [],
  );
  expect(absent.filter((row) => ABSENT[row] === undefined)).toEqual([]);
  expect(rows.filter((rule) => rule !== '-' && !ids.has(rule))).toEqual([]);
});

test('whatever a rule says that a real tool says, too, is in a table', () => {
  const kinds =
    /^(?:annotations|api|crd|csv|dependency|manifest|object|olmv1|openshift|package-manifest|platform|practice|scorecard|webhook)\//;
  const listed = new Set(Object.keys(ROWS).flatMap(rowsOf));
  const stray = RULES.filter(({ id, opm }) => kinds.test(id) && opm !== undefined && !listed.has(id));
  expect(stray.map(({ id }) => id)).toEqual([
    'annotations/folder',
    'annotations/text',
    'crd/owned-case',
    'crd/owned-group',
    'crd/unquoted',
    'crd/version-parts',
    'csv/field-case-type',
    'csv/field-case',
    'csv/null-api',
    'manifest/json',
    'manifest/metadata-type',
    'manifest/mixed-documents',
    'olmv1/annotations-file',
    'olmv1/properties',
    'package-manifest/csv-unreadable',
    'package-manifest/head',
    'package-manifest/missing',
    'package-manifest/unreadable',
    'package-manifest/version-duplicate',
    'package-manifest/version-folder',
    'package-manifest/version',
  ]);
});
