/** The options of `mirror plan` that are about documents. */
import { resolve } from 'node:path';
import { CACHE, CONFIGS } from '../../catalog/cache/layout.ts';
import type { DocumentOptions } from '../../catalog/mirror/documents.ts';
import type { Signer } from '../../catalog/mirror/signing.ts';
import { readFileBytes } from '../directory.ts';
import { type Command, type Invocation, type Option, usageError } from './command.ts';
import { numberOption } from './number-option.ts';
import type { Terminal } from './terminal.ts';

export const DOCUMENT_OPTIONS: Readonly<Record<string, Option>> = {
  'max-icsp-size': { value: 'BYTES', description: 'most bytes of an ImageContentSourcePolicy' },
  'max-idms-size': { value: 'BYTES', description: 'most bytes of a mirror set' },
  'never-contact-source': { description: 'nodes ask the mirror only' },
  platform: { value: '4.N', description: "the clusters' OpenShift version (default: a current one)" },
  name: { value: 'NAME', description: 'name of the catalog on clusters' },
  'display-name': { value: 'TEXT', description: 'what the console shows' },
  publisher: { value: 'TEXT', description: 'who publishes the catalog' },
  poll: { value: 'DURATION', description: 'let clusters look for a new index image so often, such as 30m' },
  secret: { value: 'NAME', description: "pull secret in the catalog source's namespace", multiple: true },
  'catalogd-secret': {
    value: 'NAME',
    description: "pull secret in catalogd's namespace, up to OpenShift 4.17",
  },
  priority: { value: 'N', description: 'priority of the catalog among others' },
  'extract-content': { description: "the index image has no server: the cluster's own opm reads it" },
  signer: {
    value: 'SCOPE=FILE',
    description: 'nodes demand signatures with this public key (PEM) on images of a registry or path',
    multiple: true,
  },
};

/** @throws PipelineError `usage`, `not-found` */
export function documentOptions(
  command: Command,
  invocation: Invocation,
  { directory }: Terminal,
): DocumentOptions {
  const { text, list, flag } = invocation;
  const pollInterval = text('poll');
  const priority = numberOption(command, invocation, 'priority');
  // An image that is built on nothing has no server either.
  const hasServer =
    !flag('extract-content') && (text('build') === undefined || text('base-image') !== undefined);
  const extractContent = !hasServer ? { cacheDir: `/${CACHE}`, catalogDir: `/${CONFIGS}` } : undefined;
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

function signerOf(command: Command, written: string, directory: string): Signer {
  const equals = written.indexOf('=');
  if (equals < 1) throw usageError(command, `--signer must be SCOPE=FILE, not ${JSON.stringify(written)}`);
  const bytes = readFileBytes(resolve(directory, written.slice(equals + 1)));
  const pem = new TextDecoder().decode(bytes);
  if (!/^-----BEGIN PUBLIC KEY-----\n[\s\S]*-----END PUBLIC KEY-----\n?$/.test(pem)) {
    throw usageError(command, `${written.slice(equals + 1)} is no public key in PEM`);
  }
  const keyData = Buffer.from(pem.endsWith('\n') ? pem : `${pem}\n`).toString('base64');
  return { scope: written.slice(0, equals), keyData };
}
