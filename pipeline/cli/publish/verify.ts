import { resolve } from 'node:path';
import { parseJson } from '../../../catalog/json.ts';
import { withDigest } from '../../../catalog/reference.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { formatLocation, parseLocation } from '../../oci/registry/image-location.ts';
import { openSource } from '../../oci/registry/open.ts';
import type { Trust } from '../../oci/signatures/signatures.ts';
import { isSigned, type SignatureReport, verifySignatures } from '../../oci/signatures/verify.ts';
import type { Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'verify',
  operands: 'IMAGE',
  options: {
    key: {
      value: 'FILE',
      description: 'public key (PEM); a signature by any of the keys is accepted',
      multiple: true,
    },
    identity: { value: 'TEXT', description: 'identity in the signing certificate; * matches any text' },
    issuer: { value: 'URL', description: 'OIDC issuer of the identity' },
    'trusted-root': {
      value: 'FILE',
      description: "trusted root (JSON; default: the root of Sigstore's public instance)",
    },
    says: {
      value: 'TYPE',
      description: 'required predicate type, for example https://slsa.dev/provenance/v1',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Checks the Sigstore bundles among the referrers of the image, and the signatures and attestations that cosign stores',
    'under tags. With --key, Portolan contacts only the registry. With --trusted-root, it does not contact Sigstore.',
  ].join('\n'),
  examples: [
    'portolan verify quay.io/acme/catalog:v4.20 --key catalog.pub',
    'portolan verify quay.io/acme/catalog:v4.20 --identity "https://github.com/acme/catalog/*" --issuer https://token.actions.githubusercontent.com',
  ],
  run: async (invocation, terminal) => {
    const format = invocation.text('format') ?? 'text';
    const [image = ''] = invocation.operands;
    const trust = trustOf(invocation, terminal);
    const client = registryClientFor(invocation, terminal, { named: [image] });
    const place = parseLocation(image);
    const source = await openSource(place, client);
    try {
      const found = await source.registry.resolve(source.reference);
      if (!found) throw new PipelineError('not-found', `image ${formatLocation(place)} not found`);
      const at = withDigest(source.reference, found.digest);
      const report = await verifySignatures(source.registry, at, trust);
      const says = invocation.text('says');
      const verified = report.verified.filter((one) => says === undefined || one.says === says);
      // Without --says a signature is wanted; an attestation may say that a test failed.
      const isValid = says === undefined ? isSigned(report) : verified.length > 0;
      const told = {
        image: formatLocation(place),
        digest: found.digest,
        verified,
        rejected: report.rejected,
      };
      await terminal.out(format === 'json' ? `${JSON.stringify(told, null, 2)}\n` : textOf(told, isValid));
      return isValid ? 0 : 1;
    } finally {
      await source.close();
      client.close();
    }
  },
};

/** Whom the options trust: owners of keys, or an identity. @throws PipelineError `usage` */
function trustOf({ list, text }: Invocation, { directory }: Terminal): Trust {
  const [identity, issuer, root] = [text('identity'), text('issuer'), text('trusted-root')];
  const keys = list('key').map((file) => readText(resolve(directory, file)));
  if (keys.length > 0 && identity === undefined && issuer === undefined) return { kind: 'keys', keys };
  if (identity === undefined || issuer === undefined || keys.length > 0) {
    throw usageError(command, 'use either --key, or --identity with --issuer');
  }
  if (root === undefined) return { kind: 'identity', identity, issuer };
  return { kind: 'identity', identity, issuer, root: rootOf(readText(resolve(directory, root)), root) };
}

/** The JSON of a trusted root. @throws PipelineError `usage` */
function rootOf(text: string, name: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new PipelineError('usage', `${name} is not a trusted root: not valid JSON`, { cause });
  }
}

type VerifyResult = Omit<SignatureReport, 'unread'> & { readonly image: string; readonly digest: string };

/** The result as text: who signed the image, and which signatures do not count and why. */
function textOf({ image, digest, verified, rejected }: VerifyResult, isValid: boolean): string {
  return [
    `${image} ${digest}`,
    ...verified.map(({ by, says }) => `  signed by ${plainText(by)}: ${plainText(says)}`),
    ...rejected.map(({ where, why }) => `  rejected: ${plainText(where)}: ${plainText(why)}`),
    ...(isValid ? [] : ['FAIL: no valid signature']),
    '',
  ].join('\n');
}
