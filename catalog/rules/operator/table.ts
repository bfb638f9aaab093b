import { memberObject, memberText } from '../../bundle/inspect.ts';
import { packageOf } from '../../bundle/operator-folder.ts';
import { jsonText } from '../../json.ts';
import {
  bundlesIn,
  channelsOf,
  edgesPlace,
  followersIn,
  graphMode,
  loopIn,
  replacedNames,
  skipRangeOf,
} from '../operator-checks/graph.ts';
import {
  CI_CONFIG,
  mappedTemplates,
  RELEASE_CONFIG,
  reportSettings,
  settingOf,
  settingsPlace,
  usesCatalogs,
} from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'operator/catalog-mapping',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a catalog that ci.yaml maps to two templates',
    opm: ["Operator's 'ci.yaml' contains multiple templates 'T' for the same catalog 'C'."],
    operator(operator, report) {
      const templates = new Map<string, string>();
      for (const { index, template, catalogs } of mappedTemplates(operator)) {
        for (const [i, catalog] of catalogs.entries()) {
          const other = templates.get(catalog);
          if (other === undefined) templates.set(catalog, template);
          else {
            const message = `catalog ${quoted(catalog)} has two templates in fbc.catalog_mapping: ${quoted(other)} and ${quoted(template)}`;
            const place = operator.config?.locate('fbc', 'catalog_mapping', index, 'catalog_names', i);
            const details = { package: operator.name, hint: 'remove the catalog from one of the two' };
            if (place) report(message, place, details);
          }
        }
      }
    },
  },
  {
    id: 'operator/categories',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a ClusterServiceVersion without categories',
    opm: [
      "Key not found - 'metadata.annotations.categories'",
      "An empty value found - 'metadata.annotations.categories'",
    ],
    operator({ name, changed }, report) {
      for (const { folder, csv, csvFile } of changed) {
        const categories = memberObject(csv, 'metadata', 'annotations')['categories'];
        if (!csvFile || (typeof categories === 'string' && categories !== '')) continue;
        const message = `bundle ${quoted(folder)}: the annotation categories is missing or empty`;
        report(message, csvFile.locate('metadata', 'annotations', 'categories'), {
          package: name,
          hint: 'categories: Database',
        });
      }
    },
  },
  {
    id: 'operator/ci-config',
    severity: 'error',
    isOptional: true,
    summary: 'Reports what operator-pipelines does not accept in ci.yaml',
    opm: ["Operator's 'ci.yaml' contains invalid data which does not comply with the schema: E"],
    operator({ name, config }, report) {
      if (config) reportSettings(config, CI_CONFIG, report, name);
    },
  },
  {
    id: 'operator/dangling',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports a bundle that is not the head of its channel, and that no other bundle of it replaces or skips',
    opm: ['Channel C has dangling bundles: {B}'],
    operator(operator, report) {
      if (usesCatalogs(operator) || graphMode(operator) === undefined) return;
      for (const channel of channelsOf(operator.changed)) {
        const inside = bundlesIn(operator, channel);
        const followers = followersIn(operator, channel);
        for (const bundle of inside.slice(0, -1)) {
          if (followers.has(bundle)) continue;
          const message = `no bundle of channel ${quoted(channel)} replaces or skips ${quoted(bundle.folder)}: clusters that have it get no upgrade`;
          const hint = `replace or skip ${bundle.name?.operator}.v${bundle.name?.version} in a later bundle of the channel`;
          report(message, edgesPlace(bundle, operator), { package: operator.name, channel, hint });
        }
      }
    },
  },
  {
    id: 'operator/edge',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a name without a version in replaces or skips',
    opm: ["B has invalid 'replaces' field: 'N'"],
    operator(operator, report) {
      if (usesCatalogs(operator) || graphMode(operator) !== 'replaces') return;
      const bundles = new Set(
        channelsOf(operator.bundles).flatMap((channel) => bundlesIn(operator, channel)),
      );
      for (const bundle of bundles) {
        const name = replacedNames(bundle).find((one) => !one.includes('.'));
        if (name === undefined) continue;
        const message = `bundle ${quoted(bundle.folder)} replaces or skips ${quoted(name)}, which has no version`;
        const hint = `replaces: ${operator.name}.v…`;
        report(message, edgesPlace(bundle, operator), { package: operator.name, hint });
      }
    },
  },
  {
    id: 'operator/graph-unused',
    severity: 'error',
    isOptional: true,
    summary: 'Reports an updateGraph in ci.yaml of an operator that has file-based catalogs of its own',
    opm: ['FBC is enabled, updateGraph cannot be defined.'],
    operator({ name, config }, report) {
      const mode = settingOf(config, 'updateGraph');
      if (settingOf(config, 'fbc', 'enabled') !== true || mode === undefined || mode === null) return;
      const message =
        'ci.yaml has both fbc.enabled: true and updateGraph, which only bundles without catalogs use';
      const place = config?.locate('updateGraph');
      if (place) report(message, place, { package: name, hint: 'remove updateGraph' });
    },
  },
  {
    id: 'operator/loop',
    severity: 'error',
    isOptional: true,
    summary: 'Reports bundles of a channel that replace each other in a circle',
    opm: ['Upgrade graph loop detected: B -> C'],
    operator(operator, report) {
      if (usesCatalogs(operator) || graphMode(operator) === undefined) return;
      for (const channel of channelsOf(operator.bundles)) {
        const loop = loopIn(followersIn(operator, channel));
        if (!loop) continue;
        const { from, to } = loop;
        const message =
          from === to
            ? `bundle ${quoted(from.folder)} replaces or skips itself in channel ${quoted(channel)}`
            : `the upgrades of channel ${quoted(channel)} go in a circle: ${quoted(to.folder)} replaces or skips ${quoted(from.folder)}, which comes after it`;
        const details = {
          package: operator.name,
          channel,
          hint: 'remove one of replaces, skips and olm.skipRange',
        };
        report(message, edgesPlace(to, operator), details);
      }
    },
  },
  {
    id: 'operator/other-name',
    severity: 'error',
    isOptional: true,
    summary: 'Reports an operator whose ClusterServiceVersions are named after different operators',
    opm: ['Bundles use multiple operator names: {N, M}'],
    operator(operator, report) {
      if (usesCatalogs(operator)) return;
      const [first, ...others] = operator.bundles.flatMap(({ name }) => (name ? [name.operator] : []));
      const other = others.find((name) => name !== first);
      if (first === undefined || other === undefined) return;
      // Whatever changes, the place is the same: what the base branch has is known by it.
      const bundle = operator.bundles.find(({ name }) => name?.operator === other);
      const message = `the bundles of ${quoted(operator.name)} have ClusterServiceVersions of several operators: ${quoted(first)} and ${quoted(other)}`;
      const place = bundle?.csvFile?.locate('metadata', 'name');
      if (place) report(message, place, { package: operator.name, hint: `name: ${first}.v…` });
    },
  },
  {
    id: 'operator/pruned-graph',
    severity: 'warning',
    isOptional: true,
    summary:
      'Reports a bundle with olm.skipRange that replaces no bundle, unless it is the only one of its channel',
    opm: ['olm.skipRange annotation is set but replaces field is not set in the CSV.'],
    operator(operator, report) {
      if (usesCatalogs(operator)) return;
      for (const bundle of operator.changed) {
        if (skipRangeOf(bundle) === '' || memberText(memberObject(bundle.csv, 'spec'), 'replaces') !== '')
          continue;
        for (const channel of bundle.channels) {
          if (bundlesIn(operator, channel).length === 1) continue;
          const message = `bundle ${quoted(bundle.folder)} has olm.skipRange without replaces: the older bundles leave channel ${quoted(channel)}`;
          const details = { package: operator.name, channel, hint: `replaces: ${operator.name}.v…` };
          report(message, edgesPlace(bundle, operator), details);
        }
      }
    },
  },
  {
    id: 'operator/release-config',
    severity: 'error',
    isOptional: true,
    summary: 'Reports what operator-pipelines does not accept in release-config.yaml',
    opm: ["Bundle's 'release-config.yaml' contains invalid data which does not comply with the schema: E"],
    operator({ name, changed }, report) {
      // An empty file counts as none.
      for (const { releaseConfig: file } of changed)
        if (file && (file.defect || file.value)) reportSettings(file, RELEASE_CONFIG, report, name);
    },
  },
  {
    id: 'operator/update-graph-missing',
    severity: 'warning',
    isOptional: true,
    summary: 'Reports a ci.yaml without updateGraph',
    opm: ["The 'updateGraph' option is missing in ci.yaml."],
    operator(operator, report) {
      if (usesCatalogs(operator) || operator.config?.defect || settingOf(operator.config, 'updateGraph'))
        return;
      const message = 'ci.yaml does not say how versions replace each other: replaces-mode is used';
      report(message, settingsPlace(operator), {
        package: operator.name,
        hint: 'updateGraph: replaces-mode',
      });
    },
  },
  {
    id: 'operator/update-graph',
    severity: 'error',
    isOptional: true,
    summary: 'Reports an updateGraph in ci.yaml that is neither replaces-mode nor semver-mode',
    opm: ["The 'updateGraph' option in ci.yaml must be one of ['replaces-mode', 'semver-mode']"],
    operator(operator, report) {
      if (usesCatalogs(operator) || operator.config?.defect) return;
      const mode = settingOf(operator.config, 'updateGraph');
      if (mode === 'replaces-mode' || mode === 'semver-mode') return;
      if (mode === undefined || mode === null || mode === '') return;
      const message = `ci.yaml: found updateGraph ${jsonText(mode)}, expected replaces-mode or semver-mode`;
      const place = operator.config?.locate('updateGraph') ?? settingsPlace(operator);
      report(message, place, { package: operator.name, hint: 'updateGraph: replaces-mode' });
    },
  },
  {
    id: 'operator/without-catalogs',
    severity: 'warning',
    isOptional: true,
    summary:
      'Reports an operator without file-based catalogs of its own, which operator-pipelines recommends',
    opm: ['This operator does not use FBC.'],
    operator(operator, report) {
      if (usesCatalogs(operator) || operator.changed.length === 0) return;
      const message = `operator ${quoted(operator.name)} has no file-based catalogs of its own`;
      report(message, settingsPlace(operator), { package: operator.name, hint: 'fbc: {enabled: true}' });
    },
  },
  {
    id: 'operator/marketplace',
    severity: 'error',
    isOptional: true,
    summary: 'Reports an operator of the marketplace without the links to its pages for pricing and support',
    opm: ["CSV marketplace.openshift.io/remote-workflow annotation is set to 'U'. Expected value is V."],
    operator({ name, organization, changed }, report) {
      if (organization !== 'redhat-marketplace') return;
      for (const bundle of changed) {
        const annotations = memberObject(bundle.csv, 'metadata', 'annotations');
        for (const [key, page] of WORKFLOWS) {
          const expected = `https://marketplace.redhat.com/en-us/operators/${packageOf(bundle)}/${page}?utm_source=openshift_console`;
          const found = annotations[key];
          if (found === expected || !bundle.csvFile) continue;
          const state = found === undefined ? 'is missing' : `is ${jsonText(found)}`;
          const message = `bundle ${quoted(bundle.folder)}: the annotation ${key} ${state}`;
          const place = bundle.csvFile.locate('metadata', 'annotations', key);
          report(message, place, { package: name, hint: `${key}: ${expected}` });
        }
      }
    },
  },
];

const WORKFLOWS = [
  ['marketplace.openshift.io/remote-workflow', 'pricing'],
  ['marketplace.openshift.io/support-workflow', 'support'],
] as const;
