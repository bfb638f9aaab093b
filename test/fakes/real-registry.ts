/** Registries that others wrote, started for a test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RegistryClient } from '../../pipeline/oci/registry/client.ts';
import { authfileCredentials } from '../../pipeline/oci/registry/credentials.ts';
import type { CredentialSource } from '../../pipeline/ports.ts';
import { selfSigned } from './certificate.ts';
import { folder } from './folder.ts';
import { testClient } from './host.ts';
import { freePort, run, start } from './tools.ts';

export interface RealRegistry {
  readonly host: string;
  readonly client: RegistryClient;
  /** What skopeo needs to be let in. */
  readonly skopeo: readonly string[];
  /** What our command line needs to be let in. */
  readonly options: readonly string[];
}

/** Debian's registry, plain and open. */
export async function dockerRegistry(): Promise<RealRegistry> {
  const { host } = await distribution({});
  return {
    host,
    client: testClient([host], { chunk: 200_000 }),
    skopeo: ['--tls-verify=false'],
    options: ['--insecure', host],
  };
}

/** Debian's registry with TLS of a private authority and passwords. */
export async function guardedRegistry(): Promise<RealRegistry> {
  const directory = folder();
  const tls = selfSigned('127.0.0.1', 'localhost');
  for (const [name, text] of Object.entries(tls)) writeFileSync(join(directory, `${name}.pem`), text);
  const htpasswd = join(directory, 'htpasswd');
  writeFileSync(htpasswd, await run('htpasswd', '-Bbn', 'me', 'pass:word'));
  const { host } = await distribution({
    REGISTRY_AUTH: 'htpasswd',
    REGISTRY_AUTH_HTPASSWD_REALM: 'test',
    REGISTRY_AUTH_HTPASSWD_PATH: htpasswd,
    REGISTRY_HTTP_TLS_CERTIFICATE: join(directory, 'cert.pem'),
    REGISTRY_HTTP_TLS_KEY: join(directory, 'key.pem'),
  });
  const authfile = join(directory, 'auth.json');
  const auth = Buffer.from('me:pass:word').toString('base64');
  writeFileSync(authfile, JSON.stringify({ auths: { [host]: { auth } } }));
  const credentials: CredentialSource = authfileCredentials({ authfile, environment: {} });
  const client = testClient([], { authorities: [tls.cert], credentials, chunk: 200_000 });
  const options = ['--internal', host, '--ca', join(directory, 'cert.pem'), '--authfile', authfile];
  return { host, client, skopeo: ['--tls-verify=false', '--authfile', authfile], options };
}

async function distribution(environment: Record<string, string>): Promise<{ host: string }> {
  const host = `127.0.0.1:${await freePort()}`;
  const config = join(folder(), 'config.yml');
  writeFileSync(
    config,
    [
      'version: 0.1',
      'log: {level: error}',
      `storage: {filesystem: {rootdirectory: ${folder()}}, delete: {enabled: true}}`,
      `http: {addr: "${host}"}`,
    ].join('\n'),
  );
  const isSecure = 'REGISTRY_HTTP_TLS_KEY' in environment;
  await start({
    program: 'docker-registry',
    parameters: ['serve', config],
    environment,
    url: `${isSecure ? 'https' : 'http'}://${host}/v2/`,
  });
  return { host };
}

/** The registry of go-containerregistry. */
export async function craneRegistry(): Promise<RealRegistry> {
  const port = await freePort();
  await start({
    program: 'registry',
    parameters: ['-port', String(port)],
    url: `http://127.0.0.1:${port}/v2/`,
  });
  const host = `127.0.0.1:${port}`;
  return {
    host,
    client: testClient([host], { chunk: 200_000 }),
    skopeo: ['--tls-verify=false'],
    options: ['--insecure', host],
  };
}
