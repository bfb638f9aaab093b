/** Catalogs that are published with a signed statement about their upgrade safety. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseReference, type Reference, withDigest } from '../../catalog/reference.ts';
import { BUNDLE_TYPE } from '../../pipeline/publish/attest/sign.ts';
import { folder } from './folder.ts';
import { testClient } from './host.ts';
import { registry } from './registry.ts';
import { type SampleRepository, sampleFiles, sampleRepository } from './sample.ts';
import { portolan, type Ran } from './terminal.ts';

export const UPGRADE_SAFETY = 'urn:portolan:upgrade-safety:v1';

export interface Statement {
  readonly predicateType: string;
  readonly subject: readonly { readonly digest: Readonly<Record<string, string>> }[];
  readonly predicate: {
    readonly result: string;
    readonly commit: string;
    readonly previous?: string;
    readonly simulated: readonly { readonly package: string }[];
    readonly findings: readonly unknown[];
  };
}

const POLICY = '.github/portolan.yaml';
const WAIVER = `
waivers:
- {rule: graph/strands-installed-v0, package: lighthouse-operator, until: 2999-01-01, reason: tried}
`;
const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';

interface Scene {
  readonly base: string;
  readonly addition: string;
  readonly stranding: string;
  /** Goes back to the catalog of `base` after `addition`. */
  readonly reverted: string;
  /** `stranding`, with a policy that waives its findings. */
  readonly waived: string;
  readonly host: string;
  /** File with the public key. */
  readonly publicKey: string;
  readonly run: (
    tag: string,
    commit: string,
    words: readonly string[],
    from?: SampleRepository,
  ) => Promise<Ran>;
  /** Publishes with a signature. @returns the digest */
  readonly publish: (
    tag: string,
    commit: string,
    options?: { readonly from?: SampleRepository; readonly words?: readonly string[] },
  ) => Promise<string>;
  /** The statements about upgrade safety beside an image. */
  readonly statements: (tag: string, digest: string) => Promise<Statement[]>;
}

export async function upgradeSafetyScene(): Promise<Scene> {
  const sample = sampleRepository();
  onTestFinished(() => sample.remove());
  const { base, addition, stranding } = sample;
  const reverted = sample.commit(
    { [HARBOUR]: sampleFiles()[HARBOUR] ?? null },
    { parents: [addition], branch: 'reverted' },
  );
  const policy = `${sample.git('show', `main:${POLICY}`)}${WAIVER}`;
  const waived = sample.commit({ [POLICY]: policy }, { parents: [stranding], branch: 'waived' });
  const { host } = await registry();
  const client = testClient([host]);
  const at = folder({ 'fence/README': 'Claims of tags.' });
  const key = join(at, 'key');
  const { privateKey, publicKey: verifier } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const publicKey = join(at, 'pub');
  writeFileSync(publicKey, verifier.export({ type: 'spki', format: 'pem' }));
  const referenceOf = (tag: string): Reference => parseReference(`${host}/sea/catalog:${tag}`);
  const run: Scene['run'] = (tag, commit, words, from = sample) =>
    portolan(
      from.directory,
      ...['publish', '--commit', commit, '--catalog', 'v4.20', '--to', `${host}/sea/catalog:${tag}`],
      ...['--insecure', host, '--out', folder(), '--fence', join(at, 'fence'), '--format', 'json', ...words],
    );
  return {
    ...{ base, addition, stranding, reverted, waived, host, publicKey, run },
    publish: async (tag, commit, { from, words = [] } = {}) => {
      const ran = await run(tag, commit, ['--sign-key', key, '--upgrade-safety', ...words], from);
      if (ran.exit !== 0) throw new Error(ran.err);
      return JSON.parse(ran.out).receipt.digest;
    },
    statements: async (tag, digest) => {
      const reference = referenceOf(tag);
      const found = await client.listReferrers(reference, digest, BUNDLE_TYPE);
      const all = await Promise.all(
        found.map(async (one): Promise<Statement> => {
          const manifest = await client.getManifest(withDigest(reference, one.digest));
          const { layers } = JSON.parse(Buffer.from(manifest?.bytes ?? []).toString());
          const parts: Uint8Array[] = [];
          for await (const part of client.getBlob(reference, layers[0])) parts.push(part);
          const { dsseEnvelope } = JSON.parse(Buffer.concat(parts).toString());
          return JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString());
        }),
      );
      return all.filter(({ predicateType }) => predicateType === UPGRADE_SAFETY);
    },
  };
}
