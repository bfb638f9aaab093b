import { type Fields, memberObject, memberObjects, memberTexts } from '../../bundle/inspect.ts';
import { tryReadJson } from '../../go/json.ts';
import { jsonText } from '../../json.ts';
import { namedImages } from '../../references/csv.ts';
import { tryParseVersion } from '../../version/version.ts';
import { REQUIRED_FEATURES } from '../bundle-checks/console.ts';
import { csvCheck, csvText } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'release/features',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports a feature annotation that the release policy requires and that is missing, or not true or false',
    opm: ['The annotation "A" is either missing or has an unexpected value'],
    inspect: csvCheck((csv, report) => {
      for (const name of REQUIRED_FEATURES) {
        const key = `features.operators.openshift.io/${name}`;
        const value = csv.annotations[key];
        if (value === 'true' || value === 'false') continue;
        const found = value === undefined ? 'is missing' : `is ${JSON.stringify(value)}`;
        const message = `${csvText(csv)}: the annotation ${key} ${found}, expected "true" or "false"`;
        report(message, csv.at('metadata', 'annotations', key), { hint: `${key}: "false"` });
      }
    }),
  },
  {
    id: 'release/image-registry',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports an image in a ClusterServiceVersion that is not from a registry that the release policy allows',
    opm: ['The "I" CSV image reference is not from an allowed registry.'],
    inspect: csvCheck((csv, report) => {
      const seen = new Set<string>();
      for (const { image, place, path } of namedImages(csv.object.value)) {
        if (seen.has(image) || ALLOWED_REGISTRIES.some((prefix) => image.startsWith(prefix))) continue;
        seen.add(image);
        const message = `${csvText(csv)}: the image ${JSON.stringify(image)} (${place}) is not from an allowed registry`;
        report(message, csv.at(...path), { hint: `use an image from ${ALLOWED_REGISTRIES.join(' or ')}` });
      }
    }),
  },
  {
    id: 'release/kind',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a manifest of a kind that the release policy of Conforma does not allow',
    opm: ['The "K" manifest kind is not in the list of OLM allowed resource kinds.'],
    inspect({ allObjects }, report) {
      for (const { kind, name, document } of allObjects) {
        if (ALLOWED_KINDS.has(kind)) continue;
        const message = `${kind} ${JSON.stringify(name)} has a kind that the release policy does not allow in bundles`;
        report(message, document.locate(['kind']), { hint: 'let the operator create the object' });
      }
    },
  },
  {
    id: 'release/network-policy-rights',
    severity: 'error',
    isOptional: true,
    summary: 'Reports an operator that may not create, change and delete NetworkPolicies for its operands',
    opm: ['Operator "N" version "V" is missing required NetworkPolicy RBAC'],
    inspect: csvCheck((csv, report, bundle) => {
      // The policy names the operator by the label of its package, and says nothing without one.
      if (bundle.package === '') return;
      const rules = ['clusterPermissions', 'permissions'].flatMap((kind) =>
        memberObjects(csv.spec, 'install', 'spec', kind).flatMap((permission) =>
          memberObjects(permission, 'rules'),
        ),
      );
      if (rules.some(allows)) return;
      const message = `${csvText(csv)} has no permission to create, delete, and update or patch NetworkPolicies`;
      const hint =
        '- {apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [create, delete, update]}';
      report(message, csv.at('spec', 'install', 'spec'), { hint });
    }),
  },
  {
    id: 'release/subscriptions',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a ClusterServiceVersion without a JSON list of the subscriptions that it is valid with',
    opm: ['Value of operators.openshift.io/valid-subscription annotation is missing'],
    inspect: csvCheck((csv, report) => {
      const value = csv.annotations[KEY];
      const defect = value === undefined ? 'is missing' : defectOf(tryReadJson(value));
      if (defect === undefined) return;
      const message = `${csvText(csv)}: the annotation ${KEY} ${defect}`;
      const hint = `${KEY}: '["OpenShift Container Platform"]'`;
      report(message, csv.at('metadata', 'annotations', KEY), { hint });
    }),
  },
  {
    id: 'release/version',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a ClusterServiceVersion whose version is not a semantic version',
    opm: ['The ClusterServiceVersion spec.version, "V", is not a valid semver'],
    inspect: csvCheck((csv, report) => {
      const version = memberObject(csv.object.value, 'spec')['version'];
      if (typeof version === 'string' && tryParseVersion(version)) return;
      const found = version === undefined ? 'has no version' : `has version ${jsonText(version)}`;
      const message = `${csvText(csv)} ${found}: the release policy requires a semantic version`;
      report(message, csv.at('spec', 'version'), { hint: 'version: 1.0.0' });
    }),
  },
];

/** @see https://github.com/conforma/policy/blob/7211d032/policy/lib/rule_data/rule_data.rego allowed_olm_image_registry_prefixes */
const ALLOWED_REGISTRIES: readonly string[] = ['registry.access.redhat.com/', 'registry.redhat.io/'];

/** @see https://github.com/conforma/policy/blob/7211d032/policy/lib/rule_data/rule_data.rego allowed_olm_resource_kinds */
const ALLOWED_KINDS: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'ClusterServiceVersion',
  'ConfigMap',
  'ConsoleCLIDownload',
  'ConsoleLink',
  'ConsolePlugin',
  'ConsoleQuickStart',
  'ConsoleYAMLSample',
  'CustomResourceDefinition',
  'PodDisruptionBudget',
  'PriorityClass',
  'PrometheusRule',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
  'VerticalPodAutoscaler',
]);

/** Whether a rule of RBAC lets the operator create, change and delete NetworkPolicies. */
function allows(rule: Fields): boolean {
  const [groups, resources, verbs] = ['apiGroups', 'resources', 'verbs'].map((key) => memberTexts(rule, key));
  if (!groups?.some((one) => one === 'networking.k8s.io' || one === '*')) return false;
  if (!resources?.some((one) => one === 'networkpolicies' || one === '*')) return false;
  const has = (verb: string): boolean => verbs?.includes(verb) === true;
  return has('*') || (has('create') && has('delete') && (has('update') || has('patch')));
}

const KEY = 'operators.openshift.io/valid-subscription';

/** What is wrong with a list of subscriptions, in words that follow its name; undefined if nothing is. */
function defectOf(list: unknown): string | undefined {
  if (list === undefined) return 'is not JSON';
  if (!Array.isArray(list)) return 'is not a list';
  if (list.length === 0) return 'is an empty list';
  if (list.some((one) => typeof one !== 'string')) return 'is not a list of strings';
  return new Set(list).size < list.length ? 'has a subscription twice' : undefined;
}
