/** Signatures by the built program: the libraries that it loads for them are found, and do their work. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { COSIGN_PREDICATE } from '../../pipeline/oci/signatures/verify.ts';
import { attachDocument } from '../../pipeline/publish/attest/artifact.ts';
import { signedStatement } from '../../pipeline/publish/attest/sign.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { sigstore } from '../fakes/sigstore.ts';
import { run } from '../fakes/tools.ts';

let sample: SampleRepository;
beforeAll(() => {
  buildProgram();
  sample = sampleRepository();
  return sample.remove;
});

/** In a process of its own: the registry of the test answers from this one. */
async function portolan(...words: readonly string[]): Promise<string> {
  return (await run(process.execPath, 'dist/portolan.mjs', ...words)).toString();
}

test('what is published with a key is verified with it', async () => {
  const { host } = await registry();
  const at = folder();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(at, 'key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(at, 'pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  const name = `${host}/sea/catalog:v4.20`;
  const common = ['--insecure', host];
  const what = [
    'publish',
    '--repo',
    sample.directory,
    '--commit',
    'main',
    '--catalog',
    'v4.20',
    '--to',
    name,
  ];
  await portolan(...what, ...common, '--out', at, '--sbom', '--sign-key', join(at, 'key'));
  expect(await portolan('verify', name, ...common, '--key', join(at, 'pub'))).toContain('signed by key 1');
  const types = (
    await testClient([host]).listReferrers(parseReference(name), await digestOf(host, name))
  ).map(({ artifactType }) => artifactType);
  expect(types).toContain('application/vnd.cyclonedx+json');
});

async function digestOf(host: string, name: string): Promise<string> {
  return (await testClient([host]).resolve(parseReference(name)))?.digest ?? '';
}

test('what a job signed without a key is verified by identity, with a trusted root and no network', async () => {
  const { host } = await registry();
  const client = testClient([host]);
  const reference = parseReference(`${host}/acme/catalog:v1`);
  const image = sampleImage();
  await pushImage(client, reference, { image });
  const identity = 'https://github.com/acme/catalog/.github/workflows/publish.yaml@refs/heads/main';
  const { root, issuer, signer, close } = await sigstore(identity);
  onTestFinished(close);
  const [algorithm = '', hex = ''] = image.root.digest.split(':');
  const subject = [{ digest: { [algorithm]: hex } }];
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: COSIGN_PREDICATE,
    predicate: {},
  };
  const signed = await signedStatement(Buffer.from(JSON.stringify(statement)), COSIGN_PREDICATE, signer);
  await attachDocument(client, { reference, manifest: image.root }, signed);
  const file = join(folder(), 'root.json');
  writeFileSync(file, JSON.stringify(root));
  const words = ['verify', `${host}/acme/catalog:v1`, '--insecure', host, '--trusted-root', file];
  const by = (name: string): Promise<string> => portolan(...words, '--issuer', issuer, '--identity', name);
  expect(await by(identity)).toContain(`signed by ${identity}`);
  await expect(by('https://github.com/other/*')).rejects.toThrow('no valid signature');
});
