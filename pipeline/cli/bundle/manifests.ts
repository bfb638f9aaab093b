import { createHash } from 'node:crypto';
import {
  type ExtensionOptions,
  extensionDocuments,
  subscriptionDocuments,
  suggestedNamespace,
} from '../../../catalog/bundle/extension.ts';
import { type Inspected, inspectedBundle, text as textIn } from '../../../catalog/bundle/inspect.ts';
import { installedObjects } from '../../../catalog/bundle/install.ts';
import type { Minor } from '../../../catalog/fbc/openshift.ts';
import { accepts, tryParsePlatform } from '../../../catalog/fbc/platform.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runInspection } from '../../../catalog/rules/rule.ts';
import { emitYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import { PipelineError } from '../../error.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { DNS_LABEL, DNS_SUBDOMAIN, type Form, formedOption, NAME, RANGE } from '../formed-option.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { renderingOf } from '../rendering.ts';

export const command: Command = {
  words: 'bundle manifests',
  operands: 'DIR|REFERENCE',
  details: [
    'For OLM v1: the namespace, a service account with exactly the permissions that the installation needs, and the',
    'ClusterExtension. It is pinned to the version of the bundle unless you set --version or --channel. For OLM v0: the',
    'namespace, the OperatorGroup and the Subscription. If OLM cannot install the bundle, the reasons are printed instead.',
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
      const documents = olm === 'v1' ? ofV1(bundle, invocation, terminal) : ofV0(bundle, invocation);
      return print(documents, terminal);
    });
  },
};

/** @throws PipelineError `usage` for a value that OLM or Kubernetes would refuse */
function checkForms(invocation: Invocation, olm: 'v1' | 'v0'): void {
  releaseOf(invocation.text('release'));
  const forms: readonly (readonly [option: string, form: Form])[] = [
    ['namespace', DNS_LABEL],
    ['name', DNS_SUBDOMAIN],
    ['version', RANGE],
    ['channel', olm === 'v1' ? DNS_SUBDOMAIN : NAME],
    ['catalog', DNS_SUBDOMAIN],
    ['catalog-namespace', DNS_LABEL],
  ];
  for (const [option, form] of forms) formedOption(command, invocation, { option, form });
}

async function print(documents: readonly Json[] | undefined, terminal: Terminal): Promise<ExitCode> {
  if (!documents) return 1;
  for (const document of documents) await terminal.out(`---\n${emitYaml(document)}`);
  return 0;
}

/** @throws PipelineError `usage` for a bundle without what names it */
function optionsOf(bundle: Inspected, { text }: Invocation): ExtensionOptions {
  const { csv, package: of } = bundle;
  if (!csv || of === '') {
    throw new PipelineError(
      'usage',
      'the bundle has no ClusterServiceVersion, or its annotations do not name a package',
      {
        hint: 'run portolan bundle validate for details',
      },
    );
  }
  const channel = text('channel');
  const version = text('version') ?? (channel === undefined ? textIn(csv.spec, 'version') : undefined);
  return {
    name: text('name') ?? of,
    package: of,
    namespace: text('namespace') ?? suggestedNamespace(bundle) ?? of,
    ...(version === undefined ? {} : { version }),
    ...(channel === undefined ? {} : { channel }),
  };
}

/** Rules whose findings mean that OLM v1 refuses a bundle, or installs what cannot work. */
const REFUSED: readonly RegExp[] = [
  /^olmv1\/(?!webhooks$)/,
  /^annotations\/(?:missing|package|unreadable)$/,
  /^manifest\/(?:kind|unreadable|csv-missing|several-csvs|subfolder|folders)$/,
  /^csv\/(?:type|unquoted|conversion-modes)$/,
  /^crd\/(?:type|owned-missing|duplicate)$/,
  /^webhook\//,
];

function ofV1(bundle: Inspected, invocation: Invocation, terminal: Terminal): Json[] | undefined {
  const takesWebhooks = accepts('webhooksV1', releaseOf(invocation.text('release')));
  const reasons = runInspection(bundle, RULES).filter(
    ({ rule }) =>
      REFUSED.some((pattern) => pattern.test(rule)) || (!takesWebhooks && rule === 'olmv1/webhooks'),
  );
  if (reasons.length > 0) {
    for (const finding of reasons) terminal.err(findingText(finding));
    terminal.err('FAIL: OLM v1 cannot install this bundle, or the operator would not work\n');
    return undefined;
  }
  const certificates = invocation.word('certificates', ['service-ca', 'cert-manager']) ?? 'service-ca';
  const hash = (bytes: Uint8Array): string => createHash('sha224').update(bytes).digest('hex');
  const installed = installedObjects(bundle, { hash, certificates });
  return extensionDocuments(bundle, installed, optionsOf(bundle, invocation));
}

/** @throws PipelineError `usage` */
function releaseOf(text: string | undefined): Minor | undefined {
  if (text === undefined) return undefined;
  const release = tryParsePlatform(text);
  if (release) return release;
  throw usageError(command, `--release must be a version such as 4.18 or 5.0, not ${JSON.stringify(text)}`);
}

function ofV0(bundle: Inspected, invocation: Invocation): Json[] | undefined {
  const documents = subscriptionDocuments(bundle, {
    ...optionsOf(bundle, invocation),
    catalog: invocation.text('catalog') ?? 'operatorhubio-catalog',
    catalogNamespace: invocation.text('catalog-namespace') ?? 'olm',
  });
  if (documents) return documents;
  throw new PipelineError(
    'usage',
    'the bundle does not support any install mode, so OLM v0 cannot install it',
  );
}
