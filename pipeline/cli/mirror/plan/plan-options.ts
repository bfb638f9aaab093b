/** The options of `mirror plan` that are about documents. */
import { resolve } from 'node:path';
import { type DocumentOptions, EXTRACTED } from '../../../../catalog/mirror/documents/documents.ts';
import type { Signer } from '../../../../catalog/mirror/documents/signing.ts';
import type { PlanRequest } from '../../../../catalog/mirror/plan-request.ts';
import type { Scope } from '../../../../catalog/mirror/scope.ts';
import { STYLES } from '../../../../catalog/mirror/style.ts';
import { readFileBytes } from '../../../directory.ts';
import type { Terminal } from '../../../terminal.ts';
import { type Command, type Invocation, numberOption, type Option, usageError } from '../../command.ts';

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
