import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import {
  accountDocuments,
  administratorDocuments,
  type ExtensionOptions,
  gatesOf,
  type InstallationOptions,
  subscriptionDocuments,
  suggestedNamespace,
  watchingOf,
} from '../../../catalog/bundle/extension.ts';
import { type Inspected, inspectedBundle, memberText as textIn } from '../../../catalog/bundle/inspect.ts';
import { installedObjects } from '../../../catalog/bundle/install.ts';
import type { Minor } from '../../../catalog/fbc/openshift.ts';
import { clustersAccept, firstWith, tryParsePlatform } from '../../../catalog/fbc/platform.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runInspection } from '../../../catalog/rules/rule.ts';
import { emitPortableYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import { PipelineError } from '../../error.ts';
import { dataBytes, type ExitCode, type Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import { type Command, type Invocation, isGiven, usageError } from '../command.ts';
import { DNS_LABEL, DNS_SUBDOMAIN, type Form, formedOption, NAME, RANGE } from '../formed-option.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { renderingOf } from '../rendering.ts';
import { namedManifest } from './manifest-of.ts';

export const command: Command = {
  words: 'bundle manifests',
  operands: 'DIR|REFERENCE',
  details: [
    'For OLM v1: the namespace, the ClusterExtension, and a ValidatingAdmissionPolicy that allows only the named packages to',
    'users who are not cluster administrators. Up to OpenShift 4.22 (--release, --olm-v1-before), OLM v1 installs by a service',
    'account: Portolan writes one with exactly the permissions that the installation needs instead of the policy. For 4.17, it',
    'writes the ClusterExtension of the technology preview (v1alpha1). The version is pinned to that of the bundle unless you',
    'set --version or --channel.',
    '',
    'For OLM v0: the namespace, the OperatorGroup and the Subscription. The version is held: OLM waits until you approve the',
    'install plan. With --service-account, OLM installs with no more permissions than that takes.',
    '',
    'If OLM cannot install the bundle, the reasons are printed instead.',
  ].join('\n'),
  options: {
    olm: { value: 'v1|v0', description: 'OLM version on the cluster (default: v1)' },
    release: {
      value: 'MINOR',
      description:
        'OpenShift version of the cluster, for example 4.18 or 5.0; before 4.20, OLM v1 does not support webhooks',
    },
    namespace: {
      short: 'n',
      value: 'NAME',
      description:
        'namespace to install into (default: the one that the bundle suggests, or the package name)',
    },
    name: {
      value: 'NAME',
      description: 'name of the ClusterExtension or Subscription (default: the package name)',
    },
    version: { value: 'RANGE', description: 'version range to install (default: the version of the bundle)' },
    channel: {
      value: 'NAME',
      description: 'channel to follow; without --version, any version in it can be installed',
    },
    'olm-v1-before': {
      description:
        'OLM v1 before operator-controller 1.11: write a service account and roles instead of a policy',
    },
    'allow-package': {
      value: 'NAME',
      description: 'further package that the policy allows; all belong in one policy',
      multiple: true,
    },
    group: {
      value: 'NAME',
      description: 'group of users that the policy is about (default: all but cluster administrators)',
    },
    'upgrade-constraint-policy': {
      value: 'CatalogProvided|SelfCertified',
      description: 'for OLM v1: follow the upgrade edges of the catalog, or ignore them',
    },
    'crd-upgrade-safety': {
      value: 'Strict|None',
      description: 'for OLM v1: refuse unsafe upgrades of CRDs, or skip the check',
    },
    'watch-namespace': {
      value: 'NAME',
      description: 'the one namespace that the operator watches (default: as its install modes allow)',
    },
    'deployment-config': {
      value: 'FILE',
      description: "YAML file with settings of the operator's deployments, as spec.config of a Subscription",
    },
    'service-account': {
      value: 'NAME',
      description: 'for OLM v0: service account to write, by which OLM installs the operator',
    },
    certificates: {
      value: 'service-ca|cert-manager',
      description: 'issuer of the webhook certificates (default: service-ca, as on OpenShift)',
    },
    catalog: {
      value: 'NAME',
      description: 'for OLM v0: name of the CatalogSource (default: operatorhubio-catalog)',
    },
    'catalog-namespace': {
      value: 'NAME',
      description: 'for OLM v0: namespace of the CatalogSource (default: olm)',
    },
    ...REGISTRY_OPTIONS,
  },
  examples: [
    'portolan bundle manifests quay.io/example/etcd-bundle:v0.9.4 | kubectl apply -f -',
    "portolan bundle manifests operators/etcd/0.9.4 --version '>=0.9.4 <1.0.0' --namespace etcd",
    'portolan bundle manifests operators/etcd/0.9.4 --olm v0 --catalog community-operators --catalog-namespace openshift-marketplace',
  ],
  run: async (invocation, terminal) => {
    const [name = ''] = invocation.operands;
    const olm = invocation.word('olm', ['v1', 'v0']) ?? 'v1';
    checkForms(invocation, olm);
    return withBundle(name, renderingOf(invocation, terminal), async ({ source }) => {
      const bundle = await inspectedBundle(source);
      const documents =
        olm === 'v1'
          ? documentsForV1(bundle, invocation, terminal)
          : documentsForV0(bundle, invocation, terminal);
      return print(documents, terminal);
    });
  },
};

/** Checks the values of options. @throws PipelineError `usage` for one that OLM or Kubernetes would refuse */
function checkForms(invocation: Invocation, olm: 'v1' | 'v0'): void {
  releaseOf(invocation.text('release'));
  const forms: readonly (readonly [option: string, form: Form])[] = [
    ['namespace', DNS_LABEL],
    ['name', DNS_SUBDOMAIN],
    ['version', RANGE],
    ['channel', olm === 'v1' ? DNS_SUBDOMAIN : NAME],
    ['catalog', DNS_SUBDOMAIN],
    ['catalog-namespace', DNS_LABEL],
    ['watch-namespace', DNS_LABEL],
    ['service-account', DNS_SUBDOMAIN],
    ['group', NAME],
  ];
  for (const [option, form] of forms) formedOption(command, invocation, { option, form });
  for (const name of invocation.list('allow-package')) {
    if (!DNS_SUBDOMAIN.accepts(name))
      throw usageError(
        command,
        `--allow-package must be ${DNS_SUBDOMAIN.expected}, not ${JSON.stringify(name)}`,
      );
  }
  const other = OF_ONE_OLM[olm === 'v1' ? 'v0' : 'v1'].find((option) => isGiven(invocation, option));
  if (other !== undefined) throw usageError(command, `--${other} has no effect with --olm ${olm}`);
}

/** Options that one OLM alone knows. */
const OF_ONE_OLM = {
  v0: ['service-account'],
  v1: ['olm-v1-before', 'allow-package', 'group', 'upgrade-constraint-policy', 'crd-upgrade-safety'],
} as const;

/** Prints the objects as YAML documents. @param documents undefined where the bundle was refused: then the command fails */
async function print(documents: readonly Json[] | undefined, terminal: Terminal): Promise<ExitCode> {
  if (!documents) return 1;
  for (const document of documents) await terminal.out(dataBytes(`---\n${emitPortableYaml(document)}`));
  return 0;
}

/** What Kubernetes keeps for itself: a foreign bundle does not choose it. */
const KEPT_NAMESPACE = /^(?:kube-.*|default|openshift)$/;

/** What the options choose for the installation. @throws PipelineError `usage` if the bundle does not allow it */
function optionsOf(bundle: Inspected, { text }: Invocation, { directory }: Terminal): InstallationOptions {
  const { csv, package: packageName } = bundle;
  if (!csv || packageName === '') {
    throw new PipelineError(
      'usage',
      'the bundle has no ClusterServiceVersion, or its annotations do not name a package',
      {
        hint: 'run portolan bundle validate for details',
      },
    );
  }
  const channel = text('channel');
  // Who follows a channel takes any version in it; without one, the version is that of the bundle.
  const version = text('version') ?? (channel === undefined ? textIn(csv.spec, 'version') : undefined);
  const suggested = suggestedNamespace(bundle);
  const namespace = text('namespace') ?? suggested ?? packageName;
  if (text('namespace') === undefined && KEPT_NAMESPACE.test(namespace))
    throw new PipelineError(
      'usage',
      `the bundle suggests the namespace ${JSON.stringify(namespace)}, which is not for operators`,
      {
        hint: `name one, for example --namespace ${packageName}`,
      },
    );
  const watching = watchingOf(bundle, { namespace, wanted: text('watch-namespace') });
  if (watching.kind === 'refused')
    throw new PipelineError('usage', `OLM cannot install the bundle: ${watching.why}`);
  const file = text('deployment-config');
  return {
    name: text('name') ?? packageName,
    package: packageName,
    namespace,
    ...(version === undefined ? {} : { version }),
    ...(channel === undefined ? {} : { channel }),
    ...(watching.kind === 'all' ? {} : { watched: watching.namespace }),
    ...(file === undefined ? {} : { deployment: deploymentIn(resolve(directory, file)) }),
  };
}

/** The settings for the operator's deployments in a file. @throws PipelineError `usage` if it is not one YAML mapping */
function deploymentIn(path: string): Json {
  const { documents } = namedManifest(path);
  const [first, ...more] = documents;
  // An empty mapping sets nothing, so the wrong file was named.
  if (
    first?.kind === 'value' &&
    more.length === 0 &&
    isObject(first.value) &&
    Object.keys(first.value).length > 0
  )
    return first.value as Json;
  throw new PipelineError('usage', `${path} is not one YAML mapping`, {
    hint: 'for example: env: [{name: LOG_LEVEL, value: debug}]',
  });
}

/** Rules whose findings mean that OLM v1 refuses a bundle, or installs what cannot work. */
const REFUSED: readonly RegExp[] = [
  /^olmv1\//,
  /^annotations\/(?:missing|package|unreadable)$/,
  /^manifest\/(?:kind|unreadable|csv-missing|several-csvs|subfolder|folders)$/,
  /^csv\/(?:type|unquoted|conversion-modes)$/,
  /^crd\/(?:type|owned-missing|duplicate)$/,
  /^webhook\//,
];

/**
 * How OLM v1 of a release installs: as cluster administrator, by a service account, or in the technology preview, by a
 * service account of an extension of `v1alpha1`.
 */
type OlmV1Kind = 'administrator' | 'account' | 'preview';

/** Who installs the bundle, by release; without one, as the newest. @throws PipelineError `usage` for one without OLM v1 */
function olmV1KindOf(invocation: Invocation): OlmV1Kind {
  const release = releaseOf(invocation.text('release'));
  if (!clustersAccept('extensionsV1alpha1', release)) {
    throw usageError(
      command,
      `OLM v1 is in OpenShift ${firstWith('extensionsV1alpha1')} and later: use --olm v0 for ${invocation.text('release')}`,
    );
  }
  if (!clustersAccept('olmV1', release)) return 'preview';
  const isBefore = invocation.flag('olm-v1-before') || !clustersAccept('administratorV1', release);
  return isBefore ? 'account' : 'administrator';
}

/** The documents for OLM v1; undefined if OLM v1 refuses the bundle, which is printed. */
function documentsForV1(bundle: Inspected, invocation: Invocation, terminal: Terminal): Json[] | undefined {
  const installer = olmV1KindOf(invocation);
  const reasons = refusalsBy(installer, bundle, releaseOf(invocation.text('release')));
  if (reasons.length > 0) {
    for (const finding of reasons) terminal.err(findingText(finding));
    terminal.err('FAIL: OLM v1 cannot install this bundle, or the operator would not work\n');
    return undefined;
  }
  const options = extensionOptions(bundle, invocation, terminal);
  if (installer === 'administrator') {
    for (const gate of gatesOf(options))
      terminal.err(`the ClusterExtension needs the feature gate ${gate}\n`);
    const permission = { packages: invocation.list('allow-package'), group: invocation.text('group') };
    return administratorDocuments(bundle, permission, options);
  }
  // An earlier OLM v1 has no such settings, and gets a service account in place of the policy for packages.
  const unsupportedOption = ['allow-package', 'group', 'watch-namespace', 'deployment-config'].find(
    (option) => isGiven(invocation, option),
  );
  if (unsupportedOption !== undefined)
    throw usageError(
      command,
      `--${unsupportedOption} needs OLM v1 of OpenShift ${firstWith('administratorV1')} or later`,
    );
  const certificates = invocation.word('certificates', ['service-ca', 'cert-manager']) ?? 'service-ca';
  // operator-controller names roles by this hash.
  const hash = (bytes: Uint8Array): string => createHash('sha224').update(bytes).digest('hex');
  const installed = installedObjects(bundle, { hash, certificates });
  const api = installer === 'preview' ? 'v1alpha1' : 'v1';
  return accountDocuments(bundle, { installed, api }, options);
}

/** What the options choose for a ClusterExtension; what is not chosen stays out of it. */
function extensionOptions(bundle: Inspected, invocation: Invocation, terminal: Terminal): ExtensionOptions {
  const upgrades = invocation.word('upgrade-constraint-policy', ['CatalogProvided', 'SelfCertified']);
  const crdSafety = invocation.word('crd-upgrade-safety', ['Strict', 'None']);
  return {
    ...optionsOf(bundle, invocation, terminal),
    ...(upgrades === undefined ? {} : { upgrades }),
    ...(crdSafety === undefined ? {} : { crdSafety }),
  };
}

/**
 * Why OLM v1 would refuse a bundle. An OLM v1 that installs as administrator can be told which namespace the operator watches:
 * {@link optionsOf} refuses the install modes that do not fit.
 */
function refusalsBy(installer: OlmV1Kind, bundle: Inspected, release: Minor | undefined): Finding[] {
  const ignored = [
    ...(clustersAccept('webhooksV1', release) ? ['olmv1/webhooks'] : []),
    ...(installer === 'administrator' ? ['olmv1/install-mode'] : []),
  ];
  return runInspection(bundle, RULES).filter(
    ({ rule }) => REFUSED.some((pattern) => pattern.test(rule)) && !ignored.includes(rule),
  );
}

/** The release of OpenShift that `--release` names; undefined without it. @throws PipelineError `usage` */
function releaseOf(text: string | undefined): Minor | undefined {
  if (text === undefined) return undefined;
  const release = tryParsePlatform(text);
  if (release) return release;
  throw usageError(command, `--release must be a version such as 4.18 or 5.0, not ${JSON.stringify(text)}`);
}

/** The documents for OLM v0, by default for the community's catalog and namespace outside of OpenShift. */
function documentsForV0(bundle: Inspected, invocation: Invocation, terminal: Terminal): Json[] {
  const account = invocation.text('service-account');
  return subscriptionDocuments(bundle, {
    ...optionsOf(bundle, invocation, terminal),
    catalog: invocation.text('catalog') ?? 'operatorhubio-catalog',
    catalogNamespace: invocation.text('catalog-namespace') ?? 'olm',
    ...(account === undefined ? {} : { account }),
  });
}
