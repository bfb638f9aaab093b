/** Good practice of operators, and objects that endanger the clusters they are installed on. */
import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
  PREFIX,
} from '../../bundle/inspect.ts';
import type { BundleObject } from '../../bundle/registry-bundle.ts';
import { intOrString } from '../../go/kubernetes-readers.ts';
import { LABEL_SELECTOR, OBJECT_META, POLICY_RULE } from '../../go/kubernetes-types.ts';
import {
  bool,
  fitStruct,
  int32,
  listOf,
  type Misfit,
  type Path,
  structShape,
  text as textShape,
} from '../../go/shape.ts';
import { nameEnd } from '../../names.ts';
import { tryParseVersion } from '../../version/version.ts';
import type { Report } from '../rule.ts';
import { csvCheck, csvText } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

export const checkDeployments: Check = csvCheck((csv, report) => {
  if (Array.isArray(memberObject(csv.spec, 'install', 'spec')['deployments'])) return;
  report(`${csvText(csv)} installs no deployment`, csv.at('spec', 'install', 'spec'));
});

export const checkResourceRequests: Check = csvCheck((csv, report) => {
  for (const { value, path } of deploymentsOf(csv)) {
    for (const [i, container] of memberObjects(value, 'spec', 'template', 'spec', 'containers').entries()) {
      if (memberObject(container, 'resources')['requests']) continue;
      const message = `${csvText(csv)}: the container ${JSON.stringify(memberText(container, 'name'))} requests neither CPU nor memory`;
      report(message, csv.at(...path, 'spec', 'template', 'spec', 'containers', i), {
        hint: 'resources: {requests: {cpu: 10m, memory: 64Mi}}',
      });
    }
  }
});

const VERSION_AT_END = /\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+)?$/;

export const checkNaming: Check = csvCheck((csv, report) => {
  const hint = '<operator>.v<version>, for example etcd.v1.0.0';
  const version = VERSION_AT_END.exec(nameEnd(csv.name))?.[0];
  if (version === undefined || !tryParseVersion(version)) {
    report(`${csvText(csv)}: the name does not end with a version`, csv.at('metadata', 'name'), { hint });
  }
  if (csv.name.split('.v').length !== 2) {
    report(`${csvText(csv)}: the name is not <operator>.v<version>`, csv.at('metadata', 'name'), { hint });
  }
});

export const checkChannelNames: Check = ({ annotations, channels }, report) => {
  if (!annotations) return;
  const byDefault = memberText(annotations.values, `${PREFIX}channel.default.v1`).trim();
  for (const name of new Set([...channels, byDefault])) {
    if (name === '' || /^(?:candidate|stable|fast)/.test(name)) continue;
    const message = `the channel ${JSON.stringify(name)} does not start with candidate, fast or stable`;
    report(message, annotations.document.locate([annotations.key, `${PREFIX}channels.v1`]));
  }
};

// As in the validator of operator-framework/api, which knows the star in brackets as well.
const CRD_RESOURCES: readonly string[] = ['*', '[*]', 'customresourcedefinitions'];
const CREATING_VERBS: readonly string[] = ['create', '*', '[*]', 'patch'];

export const checkCreatesCrds: Check = csvCheck((csv, report) => {
  for (const section of ['permissions', 'clusterPermissions']) {
    for (const [i, permission] of memberObjects(csv.spec, 'install', 'spec', section).entries()) {
      for (const [j, rule] of memberObjects(permission, 'rules').entries()) {
        const mayCreate =
          memberTexts(rule, 'apiGroups').includes('apiextensions.k8s.io') &&
          memberTexts(rule, 'resources').some((resource) => CRD_RESOURCES.includes(resource)) &&
          memberTexts(rule, 'verbs').some((verb) => CREATING_VERBS.includes(verb));
        if (!mayCreate) continue;
        const message = `${csvText(csv)} may create CRDs, but OLM should install them`;
        report(message, csv.at('spec', 'install', 'spec', section, i, 'rules', j), {
          hint: 'declare a dependency on the operator that owns them',
        });
        // One finding is enough: it is about the ClusterServiceVersion, not about the rule.
        return;
      }
    }
  }
});

export const checkCrdDescriptions: Check = csvCheck((csv, report) => {
  for (const which of ['owned', 'required']) {
    for (const [i, crd] of memberObjects(csv.spec, 'customresourcedefinitions', which).entries()) {
      if (memberText(crd, 'description') !== '') continue;
      const message = `${csvText(csv)}: the ${which} CRD ${JSON.stringify(memberText(crd, 'name'))} has no description`;
      report(message, csv.at('spec', 'customresourcedefinitions', which, i));
    }
  }
});

const META = { apiVersion: textShape, kind: textShape, metadata: OBJECT_META };
const RULES = listOf(POLICY_RULE);
const TYPES = new Map([
  [
    'PodDisruptionBudget',
    structShape('v1beta1.PodDisruptionBudget', {
      ...META,
      spec: structShape('v1beta1.PodDisruptionBudgetSpec', {
        minAvailable: intOrString,
        maxUnavailable: intOrString,
      }),
    }),
  ],
  [
    'PriorityClass',
    structShape('v1.PriorityClass', {
      ...META,
      value: int32,
      globalDefault: bool,
      description: textShape,
      preemptionPolicy: textShape,
    }),
  ],
  ['Role', structShape('v1.Role', { ...META, rules: RULES })],
  [
    'ClusterRole',
    structShape('v1.ClusterRole', {
      ...META,
      rules: RULES,
      aggregationRule: structShape('v1.AggregationRule', { clusterRoleSelectors: listOf(LABEL_SELECTOR) }),
    }),
  ],
]);

export const checkObjectTypes: Check = ({ objects }, report) => {
  for (const { kind, name, value, document } of objects) {
    for (const { path, expected, found } of misfitsOf(kind, value)) {
      report(
        `${kind} ${JSON.stringify(name)}: ${path.join('.')} must be ${expected}, found ${found}`,
        document.locate(path),
      );
    }
  }
};

function misfitsOf(kind: string, value: unknown): readonly Misfit[] {
  const type = TYPES.get(kind);
  return type ? fitStruct(value, type).misfits : [];
}

/** Objects with the types that Go expects. */
function typedObjects({ objects }: Inspected, ...kinds: readonly string[]): readonly BundleObject[] {
  return objects.filter(({ kind, value }) => kinds.includes(kind) && misfitsOf(kind, value).length === 0);
}

export const checkDisruptionBudgets: Check = (bundle, report) => {
  for (const { name, value, document } of typedObjects(bundle, 'PodDisruptionBudget')) {
    const spec = memberObject(value, 'spec');
    const say = (field: string, message: string): void =>
      report(
        `PodDisruptionBudget ${JSON.stringify(name)}: ${field} ${message}: nodes cannot be drained`,
        document.locate(['spec', field]),
      );
    if (spec['maxUnavailable'] === 0 || spec['maxUnavailable'] === '0%')
      say('maxUnavailable', 'must not be 0');
    if (spec['minAvailable'] === '100%') say('minAvailable', 'must not be 100%');
  }
};

export const checkPriorityClasses: Check = (bundle, report) => {
  for (const { name, value, document } of typedObjects(bundle, 'PriorityClass')) {
    if (value['globalDefault'] !== true) continue;
    report(
      `PriorityClass ${JSON.stringify(name)}: globalDefault must not be true`,
      document.locate(['globalDefault']),
    );
  }
};

/** The rules of all roles in a bundle, with their places. */
function* rulesOf(bundle: Inspected): Generator<{ object: BundleObject; rule: Fields; path: Path }> {
  for (const object of typedObjects(bundle, 'Role', 'ClusterRole')) {
    for (const [i, rule] of memberObjects(object.value, 'rules').entries())
      yield { object, rule, path: ['rules', i] };
  }
}

/** Whether a rule of a role permits one of the verbs on a resource. Wildcards do not count. */
function asksFor(rule: Fields, group: string, resource: string, verbs: readonly string[]): boolean {
  return (
    memberTexts(rule, 'apiGroups').includes(group) &&
    memberTexts(rule, 'resources').includes(resource) &&
    memberTexts(rule, 'verbs').some((verb) => verbs.includes(verb))
  );
}

export const checkDisruptionRights: Check = (bundle, report) => {
  for (const { object, rule, path } of rulesOf(bundle)) {
    if (!asksFor(rule, 'policy', 'poddisruptionbudgets', ['*', 'create', 'update', 'patch'])) continue;
    report(
      `${object.kind} ${JSON.stringify(object.name)} may change pod disruption budgets`,
      object.document.locate(path),
    );
  }
};

const DEFAULT_SCCS = [
  'privileged',
  'restricted',
  'restricted-v2',
  'anyuid',
  'nonroot',
  'nonroot-v2',
  'hostaccess',
  'hostmount-anyuid',
  'hostnetwork',
  'hostnetwork-v2',
  'node-exporter',
];

export const checkSccRights: Check = (bundle, report) => {
  for (const { object, rule, path } of rulesOf(bundle)) {
    if (
      !asksFor(rule, 'security.openshift.io', 'securitycontextconstraints', [
        '*',
        'delete',
        'update',
        'patch',
      ])
    )
      continue;
    const names = memberTexts(rule, 'resourceNames').filter((name) => DEFAULT_SCCS.includes(name));
    if (names.length === 0) continue;
    const message = `${object.kind} ${JSON.stringify(object.name)} may change the default security context constraints ${names.join(', ')}`;
    report(message, object.document.locate(path));
  }
};
