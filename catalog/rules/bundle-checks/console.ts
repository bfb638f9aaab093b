/**
 * Annotations that web consoles and catalogs read from a ClusterServiceVersion.
 *
 * @see https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/operators/developing-operators
 */

import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import { kindOf } from '../../bundle/manifest.ts';
import { readJson, tryReadJson } from '../../go/json.ts';
import { jsonText } from '../../json.ts';
import { isDnsLabel } from '../../names.ts';
import type { Report } from '../rule.ts';
import { csvCheck, csvText, ownedApis } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

interface Annotation {
  readonly csv: TypedCsv;
  readonly key: string;
  readonly value: string;
  /** Reports at the annotation; the message follows its key. */
  readonly say: (message: string, hint?: string) => void;
}

/** Makes a check of one annotation, which reports at its location. */
function annotationCheck(key: string, check: (annotation: Annotation) => void): Check {
  return csvCheck((csv, report) => {
    const value = csv.annotations[key];
    if (value === undefined) return;
    const say: Annotation['say'] = (message, hint) =>
      report(
        `${csvText(csv)}: the annotation ${key} ${message}`,
        csv.at('metadata', 'annotations', key),
        hint === undefined ? {} : { hint },
      );
    check({ csv, key, value, say });
  });
}

/** The value of JSON text; undefined, with a finding, if it is not valid JSON. */
function jsonOf({ value, say }: Annotation, hint: string): unknown {
  const read = readJson(value);
  if ('value' in read) return read.value;
  say(`is not valid JSON: ${read.defect}`, hint);
  return undefined;
}

/** The strings of a list in JSON; empty, with a finding, if it is not one. */
function textsOf(annotation: Annotation, hint: string): readonly string[] {
  const value = jsonOf(annotation, hint);
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  annotation.say('is not a list of strings', hint);
  return [];
}

const FEATURES = 'features.operators.openshift.io/';
/** Features that consoles ask every operator about, and that openshift-preflight requires (RequiredAnnotations). */
export const REQUIRED_FEATURES: readonly string[] = [
  'disconnected',
  'fips-compliant',
  'proxy-aware',
  'tls-profiles',
  'token-auth-aws',
  'token-auth-azure',
  'token-auth-gcp',
];
const OTHER_FEATURES = ['cnf', 'cni', 'csi'];

export const checkFeatures: Check = csvCheck((csv, report) => {
  const known = [...REQUIRED_FEATURES, ...OTHER_FEATURES];
  for (const [key, value] of Object.entries(csv.annotations)) {
    if (!key.startsWith(FEATURES)) continue;
    const name = key.slice(FEATURES.length);
    const place = csv.at('metadata', 'annotations', key);
    if (!known.includes(name)) {
      report(`${csvText(csv)}: ${JSON.stringify(name)} is not a feature that consoles know`, place, {
        hint: `one of ${known.join(', ')}`,
      });
    } else if (value !== 'true' && value !== 'false') {
      report(
        `${csvText(csv)}: the annotation ${key} must be "true" or "false", found ${JSON.stringify(value)}`,
        place,
        {
          // What the author most likely meant.
          hint: `${key}: "${/^(?:true|yes|y|1)$/i.test(value)}"`,
        },
      );
    }
  }
});

export const checkFeaturesPresent: Check = csvCheck((csv, report) => {
  const missing = REQUIRED_FEATURES.filter((name) => !(`${FEATURES}${name}` in csv.annotations));
  if (missing.length === 0) return;
  report(
    `${csvText(csv)} does not declare ${missing.join(', ')} (${FEATURES}…)`,
    csv.at('metadata', 'annotations'),
    {
      hint: `${FEATURES}${missing[0]}: "false"`,
    },
  );
});

const INFRASTRUCTURE = ['disconnected', 'cnf', 'cni', 'csi', 'fips', 'proxy-aware'];

export const checkInfrastructure: Check = annotationCheck(
  'operators.openshift.io/infrastructure-features',
  (annotation) => {
    for (const feature of textsOf(annotation, `'["disconnected", "proxy-aware"]'`)) {
      if (INFRASTRUCTURE.includes(feature.toLowerCase())) continue;
      annotation.say(
        `lists ${JSON.stringify(feature)}, which consoles do not know`,
        `one of ${INFRASTRUCTURE.join(', ')}`,
      );
    }
  },
);

export const checkSuggestedNamespace: Check = annotationCheck(
  'operatorframework.io/suggested-namespace',
  ({ value, say }) => {
    if (!isDnsLabel(value)) say(`must be the name of a namespace, found ${JSON.stringify(value)}`);
  },
);

const NAMESPACE = `'{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": …}}'`;

export const checkNamespaceTemplate: Check = annotationCheck(
  'operatorframework.io/suggested-namespace-template',
  (annotation) => {
    const value = jsonOf(annotation, NAMESPACE);
    if (value === undefined) return;
    const { csv, say } = annotation;
    const kind = kindOf(value);
    if (kind?.kind !== 'Namespace' || kind.version !== 'v1' || kind.group !== '') {
      say('is not a v1 Namespace', NAMESPACE);
      return;
    }
    const name = memberText(memberObject(value, 'metadata'), 'name');
    if (!isDnsLabel(name))
      say(`names the namespace ${JSON.stringify(name)}, which is not a valid name`, NAMESPACE);
    const plain = csv.annotations['operatorframework.io/suggested-namespace'];
    if (plain !== undefined && plain !== name)
      say(
        `names ${JSON.stringify(name)}, but operatorframework.io/suggested-namespace names ${JSON.stringify(plain)}: consoles use the template`,
      );
  },
);

export const checkInitialization: Check = annotationCheck(
  'operatorframework.io/initialization-resource',
  (annotation) => {
    const hint = `one object as JSON: '{"apiVersion": …, "kind": …, "metadata": {"name": …}, "spec": {…}}'`;
    const value = jsonOf(annotation, hint);
    if (value === undefined) return;
    const kind = kindOf(value);
    if (!kind) {
      annotation.say('is not a single object with a kind', hint);
      return;
    }
    const api = `${kind.group}/${kind.version}, Kind=${kind.kind}`;
    if (!ownedApis(annotation.csv).has(api))
      annotation.say(`has kind ${api}, which the ClusterServiceVersion does not own`);
  },
);

/** Most names in a hint. */
const NAMED = 20;

export const checkInternalObjects: Check = annotationCheck(
  'operators.operatorframework.io/internal-objects',
  (annotation) => {
    const owned = new Set(
      memberObjects(annotation.csv.spec, 'customresourcedefinitions', 'owned').map((crd) =>
        memberText(crd, 'name'),
      ),
    );
    const hint = `one of ${[...owned].slice(0, NAMED).join(', ')}${owned.size > NAMED ? ', …' : ''}`;
    for (const name of textsOf(annotation, `'["internals.example.com"]'`)) {
      if (!owned.has(name))
        annotation.say(`hides ${JSON.stringify(name)}, which the ClusterServiceVersion does not own`, hint);
    }
  },
);

export const checkSubscriptions: Check = annotationCheck(
  'operators.openshift.io/valid-subscription',
  (annotation) => {
    // It reports what is not a list of strings.
    textsOf(annotation, `'["OpenShift Container Platform"]'`);
  },
);

const PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  arch: ['amd64', 'arm64', 'ppc64le', 's390x'],
  os: ['linux', 'zos'],
};

export const checkPlatformLabelNames: Check = csvCheck((csv, report) => {
  for (const [key, value] of Object.entries(csv.labels)) {
    const [, kind = '', name = ''] = /^operatorframework\.io\/(arch|os)\.(.*)$/.exec(key) ?? [];
    const known = PLATFORMS[kind];
    if (!known) continue;
    const place = csv.at('metadata', 'labels', key);
    if (!known.includes(name))
      report(`${csvText(csv)}: the label ${key} is not a platform that consoles filter by`, place, {
        hint: `one of ${known.join(', ')}`,
      });
    else if (value !== 'supported')
      report(`${csvText(csv)}: the label ${key} must be "supported", found ${JSON.stringify(value)}`, place, {
        hint: `${key}: supported`,
      });
  }
});

/** Fields that a description of an operator needs, each with the test whether its value says anything. */
const PRESENTED: readonly (readonly [field: string, isThere: (value: unknown) => boolean])[] = [
  ['description', (value) => typeof value === 'string' && value.trim() !== ''],
  ['keywords', isFilled],
  ['maintainers', isFilled],
  ['maturity', (value) => typeof value === 'string' && value !== ''],
];

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

export const checkPresentation: Check = csvCheck((csv, report) => {
  const missing = PRESENTED.filter(([field, isThere]) => !isThere(csv.spec[field])).map(([field]) => field);
  if (csv.annotations['capabilities'] === undefined) missing.push('the annotation capabilities');
  if (missing.length === 0) return;
  report(`${csvText(csv)} lacks ${missing.join(', ')}, which consoles show to users`, csv.at('spec'));
});

const API_FIELDS = {
  customresourcedefinitions: ['name', 'version', 'kind', 'displayName', 'description'],
  apiservicedefinitions: ['group', 'version', 'kind', 'displayName', 'description'],
} as const;

export const checkApiFields: Check = csvCheck((csv, report) => {
  for (const section of ['customresourcedefinitions', 'apiservicedefinitions'] as const) {
    for (const which of ['owned', 'required']) {
      for (const [i, api] of memberObjects(csv.spec, section, which).entries()) {
        const wanted: string[] = [...API_FIELDS[section]];
        if (section === 'apiservicedefinitions' && which === 'owned') wanted.push('name', 'deploymentName');
        const missing = wanted.filter((field) => memberText(api, field) === '');
        if (missing.length === 0) continue;
        const name = memberText(api, 'name') || memberText(api, 'kind');
        report(
          `${csvText(csv)}: the ${which} API ${JSON.stringify(name)} lacks ${missing.join(', ')}`,
          csv.at('spec', section, which, i),
        );
      }
    }
  }
});

const DESCRIPTORS = ['specDescriptors', 'statusDescriptors', 'actionDescriptors'] as const;

export const checkDescriptors: Check = csvCheck((csv, report) => {
  for (const section of ['customresourcedefinitions', 'apiservicedefinitions']) {
    for (const [i, api] of memberObjects(csv.spec, section, 'owned').entries()) {
      for (const kind of DESCRIPTORS) {
        for (const [j, descriptor] of memberObjects(api, kind).entries()) {
          const defect = descriptorDefect(descriptor);
          if (defect === undefined) continue;
          const message = `${csvText(csv)}: ${kind}[${j}] of ${JSON.stringify(memberText(api, 'name'))} ${defect}`;
          report(message, csv.at('spec', section, 'owned', i, kind, j));
        }
      }
    }
  }
});

/** What is wrong with a descriptor, in words that follow its name; undefined if nothing is. */
function descriptorDefect(descriptor: Fields): string | undefined {
  if (memberText(descriptor, 'path') === '') return 'has no path';
  const hints = descriptor['x-descriptors'];
  const odd = Array.isArray(hints)
    ? hints.find((hint) => typeof hint !== 'string' || !hint.startsWith('urn:'))
    : undefined;
  return odd === undefined ? undefined : `has the x-descriptor ${jsonText(odd)}, which is not a URN`;
}

export const checkApiServiceDeployment: Check = csvCheck((csv, report) => {
  const deployments = new Set(deploymentsOf(csv).map(({ value }) => memberText(value, 'name')));
  for (const [i, api] of memberObjects(csv.spec, 'apiservicedefinitions', 'owned').entries()) {
    const name = memberText(api, 'deploymentName');
    if (name === '' || deployments.has(name)) continue;
    const message = `${csvText(csv)}: the API service ${JSON.stringify(memberText(api, 'name'))} names the deployment ${JSON.stringify(name)}, which does not exist: the ClusterServiceVersion stays pending`;
    report(message, csv.at('spec', 'apiservicedefinitions', 'owned', i, 'deploymentName'));
  }
});

/** Whether a feature is annotated, in the new way or in the old one. */
export function isAnnotated(csv: TypedCsv, feature: string): boolean {
  if (csv.annotations[`${FEATURES}${feature}`] === 'true') return true;
  const old = csv.annotations['operators.openshift.io/infrastructure-features'] ?? '[]';
  const features = tryReadJson(old);
  return Array.isArray(features) && features.some((item) => String(item).toLowerCase() === feature);
}
