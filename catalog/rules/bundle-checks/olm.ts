/**
 * What clusters refuse when they install a bundle: OLM v1's checks and limits, and what
 * both generations demand of webhooks.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go
 */
import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
  type TypedCsv,
} from '../../bundle/inspect.ts';
import { annotatedProperties } from '../../bundle/properties.ts';
import { isDirect } from '../../bundle/read.ts';
import { propertiesIn, readInto } from '../../bundle/registry-bundle.ts';
import type { Severity } from '../../finding.ts';
import { groupedBy, repeatedPlaces } from '../../go/grouped.ts';
import { readJson } from '../../go/json.ts';
import { any, fitStruct, listOf, type Path, structShape, text as textShape } from '../../go/shape.ts';
import { isDnsSubdomain } from '../../names.ts';
import type { Report } from '../rule.ts';
import { csvCheck, csvText } from './csv.ts';
import { permissionsOf } from './rights.ts';

type Check = (bundle: Inspected, report: Report) => void;

export const checkDeploymentNames: Check = csvCheck((csv, report) => {
  const names = deploymentsOf(csv).map(({ value }) => memberText(value, 'name'));
  const repeated = repeatedPlaces(names);
  for (const [i, { path }] of deploymentsOf(csv).entries()) {
    const name = names[i] ?? '';
    if (repeated.has(i))
      report(
        `${csvText(csv)}: the deployment ${JSON.stringify(name)} is a duplicate`,
        csv.at(...path, 'name'),
      );
    else if (!isDnsSubdomain(name)) {
      report(
        `${csvText(csv)}: the deployment's name ${JSON.stringify(name)} must be a lower-case DNS name`,
        csv.at(...path, 'name'),
      );
    }
  }
});

export const checkPackageNamed: Check = ({ annotations, package: name }, report) => {
  if (!annotations || name !== '') return;
  report(
    'the annotations do not name the package: OLM v1 and opm cannot render the bundle',
    annotations.document.locate([annotations.key]),
  );
};

type WebhookCheck = (
  webhook: Fields,
  say: (field: string, message: string, severity?: Severity) => void,
  index: number,
) => void;

/** Makes a check of each webhook. @param prepare gives it, and reads what it compares with, once */
function eachWebhook(prepare: (csv: TypedCsv, bundle: Inspected) => WebhookCheck): Check {
  return csvCheck((csv, report, bundle) => {
    const check = prepare(csv, bundle);
    for (const [i, webhook] of memberObjects(csv.spec, 'webhookdefinitions').entries()) {
      const shown = `${csvText(csv)}: webhook ${JSON.stringify(memberText(webhook, 'generateName'))}`;
      const say = (field: string, message: string, severity?: Severity): void =>
        report(
          `${shown} ${message}`,
          csv.at('spec', 'webhookdefinitions', i, field),
          severity === undefined ? {} : { severity },
        );
      check(webhook, say, i);
    }
  });
}

const TYPES = ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook', 'ConversionWebhook'];

export const checkWebhookType: Check = eachWebhook(() => (webhook, say) => {
  const type = memberText(webhook, 'type');
  if (!TYPES.includes(type))
    say('type', `must be of a type ${TYPES.join(', ')}, found ${JSON.stringify(type)}`);
});

export const checkWebhookDeployment: Check = eachWebhook((csv) => {
  const deployments = new Set(deploymentsOf(csv).map(({ value }) => memberText(value, 'name')));
  return (webhook, say) => {
    const name = memberText(webhook, 'deploymentName');
    if (deployments.has(name)) return;
    say('deploymentName', `names the deployment ${JSON.stringify(name)}, which does not exist`);
  };
});

export const checkWebhookName: Check = eachWebhook(() => (webhook, say) => {
  if (!isDnsSubdomain(memberText(webhook, 'generateName')))
    say('generateName', 'must have a lower-case DNS name');
});

export const checkWebhookNamesOnce: Check = eachWebhook((csv) => {
  const all = memberObjects(csv.spec, 'webhookdefinitions');
  const names = all.map((webhook) => memberText(webhook, 'generateName'));
  const repeated = repeatedPlaces(names);
  const ofSameType = repeatedPlaces(all.map((one, i) => JSON.stringify([names[i], memberText(one, 'type')])));
  return (_, say, index) => {
    if (!repeated.has(index)) return;
    say(
      'generateName',
      ofSameType.has(index)
        ? 'is a duplicate'
        : 'is a duplicate, which OLM v0 refuses even if the types differ',
    );
  };
});

export const checkConversionOwned: Check = eachWebhook(({ spec }, { crds }) => {
  const listed = memberObjects(spec, 'customresourcedefinitions', 'owned');
  const owned = new Set(listed.map((crd) => memberText(crd, 'name')));
  const byName = groupedBy(crds, ({ name }) => name);
  return (webhook, say) => {
    if (memberText(webhook, 'type') !== 'ConversionWebhook') return;
    const converted = memberTexts(webhook, 'conversionCRDs');
    if (converted.length === 0) say('conversionCRDs', 'does not name a CRD to convert');
    for (const name of converted) {
      if (!owned.has(name)) say('conversionCRDs', `converts ${JSON.stringify(name)}, which is not owned`);
      const [crd] = byName.get(name) ?? [];
      if (crd && preservesUnknown(crd.value, crd.version))
        say(
          'conversionCRDs',
          `converts ${JSON.stringify(name)}, so preserveUnknownFields must be false there`,
        );
    }
  };
});

/** Annotations by which cert-manager and OpenShift write a certificate into a CRD. */
const INJECTED = ['cert-manager.io/inject-ca-from', 'service.beta.openshift.io/inject-cabundle'];

/**
 * OLM v0 makes the service of a conversion webhook, and its certificate, only for CRDs in `conversionCRDs`; the API server
 * calls the webhook as soon as it serves several versions. Operators that may change CRDs can set their own webhook.
 */
export const checkConversionDeclared: Check = csvCheck((csv, report, { crds }) => {
  if (permissionsOf(csv.spec).some((one) => memberObjects(one, 'rules').some(changesCrds))) return;
  const declared = new Set(
    memberObjects(csv.spec, 'webhookdefinitions')
      .filter((webhook) => memberText(webhook, 'type') === 'ConversionWebhook')
      .flatMap((webhook) => memberTexts(webhook, 'conversionCRDs')),
  );
  for (const { name, value, document } of crds) {
    if (declared.has(name) || memberObjects(value, 'spec', 'versions').length < 2) continue;
    const conversion = memberObject(value, 'spec', 'conversion');
    const annotations = Object.keys(memberObject(value, 'metadata', 'annotations'));
    if (memberText(conversion, 'strategy') !== 'Webhook' || annotations.some((key) => INJECTED.includes(key)))
      continue;
    report(
      `the CRD ${JSON.stringify(name)} converts its versions by a webhook that no ConversionWebhook of ${csvText(csv)} names: OLM creates neither its service nor its certificate, and requests for other versions than the stored one fail`,
      document.locate(['spec', 'conversion', 'strategy']),
      { hint: `add a ConversionWebhook with conversionCRDs: [${name}], or set strategy: None` },
    );
  }
});

/** Whether a rule of RBAC allows changing CRDs. */
function changesCrds(rule: Fields): boolean {
  const allows = (key: string, wanted: readonly string[]): boolean =>
    memberTexts(rule, key).some((one) => one === '*' || wanted.includes(one));
  return (
    allows('apiGroups', ['apiextensions.k8s.io']) &&
    allows('resources', ['customresourcedefinitions']) &&
    allows('verbs', ['update', 'patch'])
  );
}

/** Whether a CRD keeps unknown fields, as those of v1beta1 do by default. */
function preservesUnknown(crd: Fields, version: string): boolean {
  return (memberObject(crd, 'spec')['preserveUnknownFields'] ?? version === 'v1beta1') === true;
}

export const checkConversionOnce: Check = csvCheck((csv, report) => {
  const webhooks = new Map<string, string>();
  for (const [i, webhook] of memberObjects(csv.spec, 'webhookdefinitions').entries()) {
    if (memberText(webhook, 'type') !== 'ConversionWebhook') continue;
    for (const crd of memberTexts(webhook, 'conversionCRDs')) {
      const other = webhooks.get(crd);
      webhooks.set(crd, memberText(webhook, 'generateName'));
      if (other === undefined) continue;
      const message = `${csvText(csv)}: both ${JSON.stringify(other)} and ${JSON.stringify(memberText(webhook, 'generateName'))} convert ${JSON.stringify(crd)}`;
      report(message, csv.at('spec', 'webhookdefinitions', i, 'conversionCRDs'));
    }
  }
});

const OLM_GROUPS = ['olm.operatorframework.io', 'operators.coreos.com'];
const CONFIGURATIONS = /^(?:\*|(?:mutating|validating)webhookconfigurations?)$/i;
/** The names by which OLM v0 finds webhook configurations. */
const V0_CONFIGURATIONS = ['*', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/**
 * Rules with which OLM v0 sets the ClusterServiceVersion to Failed are errors; what only OLM v1 refuses is a warning.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/v0.46.0/pkg/controller/install/webhook.go
 */
export const checkWebhookRules: Check = eachWebhook(() => (webhook, say) => {
  const isConversion = memberText(webhook, 'type') === 'ConversionWebhook';
  const sayOfV1 = (message: string): void => {
    if (!isConversion) say('rules', `${message}: OLM v1 refuses the bundle`, 'warning');
  };
  for (const rule of memberObjects(webhook, 'rules')) {
    const resources = memberTexts(rule, 'resources');
    const refused = resources.find((name) => V0_CONFIGURATIONS.includes(name));
    const resource = refused ?? resources.find((name) => CONFIGURATIONS.test(name));
    for (const group of memberTexts(rule, 'apiGroups')) {
      if (group === '*') say('rules', 'must not apply to all API groups');
      if (group === 'operators.coreos.com') say('rules', `must not apply to OLM's group ${group}`);
      else if (OLM_GROUPS.includes(group)) sayOfV1(`must not apply to OLM's group ${group}`);
      if (group !== 'admissionregistration.k8s.io' || resource === undefined) continue;
      const message = `must not apply to webhook configurations, found ${JSON.stringify(resource)} of ${group}`;
      if (refused === undefined) sayOfV1(message);
      else say('rules', message);
    }
  }
});

export const checkApiServices: Check = csvCheck((csv, report) => {
  if (memberObjects(csv.spec, 'apiservicedefinitions', 'owned').length === 0) return;
  report(
    `${csvText(csv)}: OLM v1 cannot install it because it owns API services`,
    csv.at('spec', 'apiservicedefinitions', 'owned'),
  );
});

export const checkWebhookSupport: Check = csvCheck((csv, report) => {
  if (memberObjects(csv.spec, 'webhookdefinitions').length === 0) return;
  const message = `${csvText(csv)}: OLM v1 before 1.4 (OpenShift 4.20) cannot install it because it has webhooks`;
  report(message, csv.at('spec', 'webhookdefinitions'));
});

const SINGLE_MODES = ['AllNamespaces', 'SingleNamespace', 'OwnNamespace'];

/** OLM v1 reads keys only as they are spelled in the type. */
export const checkInstallModeSupport: Check = csvCheck((csv, report) => {
  const supported = memberObjects(csv.object.value, 'spec', 'installModes')
    .filter((mode) => mode['supported'] === true)
    .map((mode) => memberText(mode, 'type'));
  if (supported.includes('AllNamespaces')) return;
  const some = supported.some((mode) => SINGLE_MODES.includes(mode));
  const how = some ? ' without its feature gate SingleOwnNamespaceInstallSupport' : '';
  report(
    `${csvText(csv)}: OLM v1 cannot install it${how} because it does not support AllNamespaces`,
    csv.at('spec', 'installModes'),
  );
});

const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['olm.gvk', 'olm.gvk.required'],
  ['olm.package', 'olm.package.required'],
  ['olm.constraint', 'olm.constraint'],
]);

function isUnsupported(type: string): boolean {
  return [...UNSUPPORTED.values()].includes(type);
}

export const checkDependencySupport: Check = ({ files, csv }, report) => {
  const metadata = files.metadata.filter(isDirect);
  const dependencies = metadata.flatMap((file) => propertiesIn(file, 'dependencies') ?? []);
  for (const { type, location } of dependencies) {
    const property = UNSUPPORTED.get(type);
    if (property)
      report(`OLM v1 does not resolve dependencies: it never installs a bundle with ${property}`, location);
  }
  const properties = metadata.flatMap((file) => propertiesIn(file, 'properties') ?? []);
  for (const { type, location } of properties) {
    if (isUnsupported(type))
      report(`OLM v1 does not resolve dependencies: it never installs a bundle with ${type}`, location);
  }
  for (const { type } of csv ? annotatedProperties(csv.object.value) : []) {
    if (csv && isUnsupported(type))
      report(
        `OLM v1 does not resolve dependencies: it never installs a bundle with ${type}`,
        csv.at('metadata', 'annotations', 'olm.properties'),
      );
  }
  for (const section of ['customresourcedefinitions', 'apiservicedefinitions']) {
    if (!csv || memberObjects(csv.spec, section, 'required').length === 0) continue;
    report(
      'OLM v1 does not resolve dependencies: it never installs a bundle with olm.gvk.required',
      csv.at('spec', section, 'required'),
    );
  }
};

export const checkAnnotationsFile: Check = ({ annotations, files }, report) => {
  const path = 'metadata/annotations.yaml';
  if (!annotations || files.metadata.some((file) => file.path === path)) return;
  report(`OLM v1 reads annotations only from ${path}`, annotations.document.locate([]));
};

const PROPERTIES_FILE = structShape('source.RegistryV1Properties', {
  properties: listOf(structShape('property.Property', { type: textShape, value: any })),
});

/** @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/bundle/source/source.go */
export const checkProperties: Check = ({ csv, files }, report) => {
  const json = csv?.annotations['olm.properties'];
  if (csv && json !== undefined) {
    const read = readJson(json);
    const defect =
      'defect' in read ? ` is not JSON: ${read.defect}` : misfitOf({ properties: read.value })?.text;
    const message = `${csvText(csv)}: OLM v1 cannot load the bundle: the annotation olm.properties`;
    if (defect !== undefined)
      report(`${message}${defect}`, csv.at('metadata', 'annotations', 'olm.properties'));
  }
  const path = 'metadata/properties.yaml';
  const first = files.metadata.find((file) => file.path === path)?.documents[0];
  if (!first) return;
  if (first.kind === 'unread') {
    report(`OLM v1 cannot load the bundle: ${path} cannot be read: ${first.message}`, first.location);
    return;
  }
  const misfit = misfitOf(readInto(PROPERTIES_FILE, first));
  if (misfit)
    report(`OLM v1 cannot load the bundle: ${path}${misfit.text}`, first.document.locate(misfit.path));
};

/** The first place where a file of properties has another form, with what is expected there. */
function misfitOf(value: unknown): { readonly path: Path; readonly text: string } | undefined {
  const [first] = fitStruct(value ?? {}, PROPERTIES_FILE).misfits;
  if (!first) return undefined;
  const { path, expected, found } = first;
  const item = path.length > 1 ? `: ${path.slice(1).join('.')}` : '';
  return { path, text: `${item} must be ${expected}, found ${found}` };
}
