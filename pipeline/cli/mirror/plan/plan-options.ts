/** The options of `mirror plan` that are about documents. */
import { resolve } from 'node:path';
import { type DocumentOptions, EXTRACTED } from '../../../../catalog/mirror/documents/documents.ts';
import type { Signer } from '../../../../catalog/mirror/documents/signing.ts';
import type { PlanRequest } from '../../../../catalog/mirror/plan-request.ts';
import { ARCHITECTURES } from '../../../../catalog/mirror/release/release-selection.ts';
import type { Scope } from '../../../../catalog/mirror/scope.ts';
import { STYLES } from '../../../../catalog/mirror/style.ts';
import { readFileBytes } from '../../../directory.ts';
import type { Terminal } from '../../../terminal.ts';
import {
  type Command,
  type Invocation,
  isGiven,
  numberOption,
  type Option,
  usageError,
} from '../../command.ts';
import { REGISTRY_OPTIONS } from '../../registry-options.ts';
import { GRAPH_OPTIONS, RELEASE_OPTIONS } from '../release-options.ts';

export const DOCUMENT_OPTIONS: Readonly<Record<string, Option>> = {
  'max-icsp-size': { value: 'BYTES', description: 'maximum size of an ImageContentSourcePolicy' },
  'max-idms-size': { value: 'BYTES', description: 'maximum size of an image mirror set' },
  'never-contact-source': { description: 'never fall back to the source registry' },
  platform: {
    value: 'MINOR',
    description: 'OpenShift version of the clusters, for example 4.20 or 5.0 (default: a current one)',
  },
  name: { value: 'NAME', description: 'name of the catalog on clusters' },
  'display-name': { value: 'TEXT', description: 'display name of the catalog in the console' },
  publisher: { value: 'TEXT', description: 'publisher of the catalog' },
  poll: { value: 'DURATION', description: 'how often clusters poll for a new index image, for example 30m' },
  secret: {
    value: 'NAME',
    description: 'pull secret in the namespace of the catalog source',
    multiple: true,
  },
  'catalogd-secret': {
    value: 'NAME',
    description: 'pull secret in the namespace of catalogd (up to OpenShift 4.17)',
  },
  priority: { value: 'N', description: 'priority of the catalog relative to others' },
  'extract-content': {
    description: 'let the opm of the cluster serve the content; for an index image without a server',
  },
  signer: {
    value: 'SCOPE=FILE',
    description: 'require signatures with this public key (PEM) on images of a registry or path',
    multiple: true,
  },
};

/**
 * How the options want the plan's documents to be.
 *
 * @param builds whether the index image of a selection is built
 * @throws PipelineError `usage`, `not-found`
 */
export function documentOptions(
  command: Command,
  invocation: Invocation,
  { directory, builds }: Pick<Terminal, 'directory'> & { readonly builds: boolean },
): DocumentOptions {
  const { text, list, flag } = invocation;
  const pollInterval = text('poll');
  const priority = numberOption(command, invocation, 'priority');
  // An image that is built on nothing has no server either.
  const hasServer = !flag('extract-content') && (!builds || text('base-image') !== undefined);
  const extractContent = hasServer ? undefined : EXTRACTED;
  return {
    platform: text('platform'),
    sourcePolicy: flag('never-contact-source') ? 'NeverContactSource' : undefined,
    maxBytes: numberOption(command, invocation, 'max-idms-size'),
    maxPolicyBytes: numberOption(command, invocation, 'max-icsp-size'),
    catalogSource: {
      displayName: text('display-name'),
      publisher: text('publisher'),
      secrets: list('secret'),
      priority,
      pollInterval,
      ...(extractContent && { extractContent }),
    },
    clusterCatalog: { priority, pollInterval, pullSecret: text('catalogd-secret') },
    signers: list('signer').map((written) => signerOf(command, written, directory)),
  };
}

/** The signer that `SCOPE=FILE` names. @throws PipelineError `usage` for a file that is not a public key */
function signerOf(command: Command, written: string, directory: string): Signer {
  const equals = written.indexOf('=');
  if (equals < 1) throw usageError(command, `--signer must be SCOPE=FILE, not ${JSON.stringify(written)}`);
  const bytes = readFileBytes(resolve(directory, written.slice(equals + 1)));
  const pem = new TextDecoder().decode(bytes);
  if (!/^-----BEGIN PUBLIC KEY-----\n[\s\S]*-----END PUBLIC KEY-----\n?$/.test(pem)) {
    throw usageError(command, `${written.slice(equals + 1)} is not a public key in PEM format`);
  }
  // Policies of nodes have the key in Base64; with a line feed, however the file ends, they stay the same.
  const keyData = Buffer.from(pem.endsWith('\n') ? pem : `${pem}\n`).toString('base64');
  return { scope: written.slice(0, equals), keyData };
}

// The options of `mirror plan` and `mirror sync` that are about names in the mirror.

export const NAMING_OPTIONS: Readonly<Record<string, Option>> = {
  to: {
    value: 'REGISTRY[/PATH]',
    description: 'registry and path of the mirror; with --style oc also file://PATH',
  },
  style: {
    value: STYLES.join('|'),
    description: 'naming scheme for the images in the mirror (default: nested)',
  },
  'max-components': {
    value: 'N',
    description: 'maximum number of path components in the mirror; 0 for no limit',
  },
  scope: {
    value: 'SCOPE',
    description: 'scope of each mirror entry: repository, namespace or registry',
  },
  'icsp-scope': { value: 'SCOPE', description: 'scope of each entry in ImageContentSourcePolicies only' },
  'idms-scope': { value: 'SCOPE', description: 'alias of --scope' },
};

const SCOPES: readonly Scope[] = ['repository', 'namespace', 'registry'];

/** How the options want images to be named in the mirror. @throws PipelineError `usage` */
export function namingOptions(
  command: Command,
  invocation: Invocation,
): Pick<PlanRequest, 'to' | 'style' | 'maxComponents' | 'scope' | 'policyScope'> {
  return {
    to: invocation.needed('to'),
    style: invocation.word('style', STYLES),
    maxComponents: numberOption(command, invocation, 'max-components'),
    scope: invocation.word('scope', SCOPES) ?? invocation.word('idms-scope', SCOPES),
    policyScope: invocation.word('icsp-scope', SCOPES),
  };
}

// Options that only some ways to plan know.

/** Those of the upgrade of a cluster. */
export const UPGRADE_OPTIONS: Readonly<Record<string, Option>> = {
  from: {
    value: 'FILE|CONTEXT',
    description:
      'plan the upgrade of this cluster to the OpenShift version of --to instead: the output of portolan inventory, or a context of the kubeconfig',
  },
  kubeconfig: {
    value: 'FILE',
    description: 'with --from CONTEXT: kubeconfig (default: KUBECONFIG, then ~/.kube/config)',
  },
  'release-channel': {
    value: 'KIND',
    description: 'with --from: channels of releases, such as stable, fast or eus (default: stable)',
  },
  architecture: {
    value: 'ARCH',
    description: `with --from: architecture of the cluster: ${Object.keys(ARCHITECTURES).join(', ')} (default: amd64)`,
  },
};

/** A way to plan: the upgrade of a cluster, a configuration, the plan that is attached to an image, or a catalog. */
type Way = 'upgrade' | 'image-set' | 'attached' | 'catalog';

/** Options of one way that an image set or a catalog, as another one, does not know. */
const NOT_OF_ALL: Readonly<Partial<Record<Way, readonly string[]>>> = {
  upgrade: Object.keys(UPGRADE_OPTIONS),
  'image-set': ['skip-unsupported', ...Object.keys(RELEASE_OPTIONS)],
  catalog: ['as', 'digest', 'name', 'only', 'image-platform'],
};

/** All that the ways know which know little. */
const ALL_OF_WAY: Readonly<Partial<Record<Way, readonly string[]>>> = {
  upgrade: [
    ...['from', 'to', 'as', 'out', 'format'],
    ...Object.keys({ ...UPGRADE_OPTIONS, ...GRAPH_OPTIONS, ...REGISTRY_OPTIONS }),
  ],
  attached: ['out', ...Object.keys(REGISTRY_OPTIONS)],
};

/**
 * Refuses options that the way to plan does not know: a selection that is left out would mirror everything.
 *
 * @throws PipelineError `usage`
 */
export function refuseUnused(command: Command, invocation: Invocation): void {
  const { text } = invocation;
  const way = wayOf(invocation);
  const unused = Object.keys(command.options).find(
    (name) => isGiven(invocation, name) && !isKnownTo(way, name),
  );
  if (unused !== undefined) throw usageError(command, `--${unused} ${WAYS[way]}`);
  if (text('base-image') !== undefined && text('build') === undefined)
    throw usageError(command, '--base-image needs --build');
}

/** The way that the options choose: all but the attached plan need `--to`. */
function wayOf({ text }: Invocation): Way {
  if (text('from') !== undefined) return 'upgrade';
  if (text('image-set') !== undefined) return 'image-set';
  return text('to') === undefined ? 'attached' : 'catalog';
}

/** Whether an option changes what a way plans. */
function isKnownTo(way: Way, option: string): boolean {
  const all = ALL_OF_WAY[way];
  if (all) return all.includes(option);
  return !Object.entries(NOT_OF_ALL).some(([of, names]) => of !== way && names.includes(option));
}

/** Why an option has no effect on a way. */
const WAYS: Readonly<Record<Way, string>> = {
  upgrade: 'has no effect with --from',
  'image-set': 'has no effect with --image-set',
  attached: 'needs --to: without it, the plan that publish attached to the image is taken',
  catalog: 'has no effect on the plan of a catalog: it needs --image-set or --from',
};
