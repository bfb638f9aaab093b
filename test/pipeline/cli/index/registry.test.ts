import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { createRegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { selfSigned } from '../../../fakes/certificate.ts';
import { folder } from '../../../fakes/folder.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { portolan, started } from '../../../fakes/terminal.ts';

/** What `htpasswd -nbB u p` printed. */
const ACCOUNT = 'u:$2y$05$ZEpDdr8YvQJiBEh21SIYIuc5KwefDMKRJ4ziyFF96Y.htgcEnFru2';

async function serving(directory: string, ...options: string[]): Promise<string> {
  const { out, err } = await started(
    directory,
    'registry',
    'images',
    '--listen',
    '127.0.0.1:0',
    '-q',
    ...options,
  );
  const [, host] = / at (\S+)\n/.exec(out()) ?? [];
  expect(host, err()).toBeDefined();
  return host ?? '';
}

describe('portolan registry', () => {
  test('takes pushes over HTTPS, with an account of the htpasswd file', async () => {
    const directory = folder();
    const { cert, key } = selfSigned('127.0.0.1');
    for (const [name, text] of Object.entries({ cert, key, accounts: `# ours\n${ACCOUNT}\n` }))
      writeFileSync(join(directory, name), text);
    const host = await serving(
      directory,
      ...['--tls-cert', 'cert', '--tls-key', 'key', '--htpasswd', 'accounts', '--anonymous-pull'],
    );
    const client = (password: string) =>
      createRegistryClient({
        internal: ['127.0.0.0/8'],
        authorities: [cert],
        credentials: { credential: async () => ({ kind: 'basic', username: 'u', password }) },
      });
    const reference = parseReference(`${host}/a:v1`);
    const image = sampleImage();
    await expect(pushImage(client('wrong'), reference, { image })).rejects.toMatchObject({ code: 'denied' });
    await pushImage(client('p'), reference, { image });
    await pushImage(client('p'), parseReference(`${host}/a:v2`), { image });
    const anonymous = createRegistryClient({ internal: ['127.0.0.0/8'], authorities: [cert] });
    expect(await anonymous.getManifest(reference)).toEqual(image.root);
  });

  test.each([
    [['--tls-cert', 'cert'], '--tls-cert and --tls-key go together'],
    [['--tls-cert', 'md5', '--tls-key', 'md5'], 'md5 and md5 are not a certificate and its private key'],
    [['--anonymous-pull'], '--anonymous-pull needs --htpasswd'],
    [['--htpasswd', 'md5'], 'md5:2 is not an account with a bcrypt password'],
    [['--htpasswd', 'none'], 'none'],
  ])('%j is an error', async (options, message) => {
    const directory = folder();
    writeFileSync(join(directory, 'md5'), `${ACCOUNT}\nv:$apr1$9LHMKL2O$AtiymMNlqaPRWg9FWOM4p.\n`);
    const { exit, err } = await portolan(directory, 'registry', 'images', ...options);
    expect([exit, err]).toEqual([2, expect.stringContaining(message)]);
    expect(readdirSync(directory)).toEqual(['md5']);
  });
});

describe('portolan registry gc', () => {
  test('says what goes, and removes it', async () => {
    const directory = folder();
    const host = await serving(directory);
    const client = createRegistryClient({ plainHttp: [host], internal: [host] });
    for (const layers of [['one'], ['two']])
      await pushImage(client, parseReference(`${host}/a/b:v1`), { image: sampleImage({ layers }) });
    const gc = (...options: string[]) => portolan(directory, 'registry', 'gc', 'images', ...options);
    expect((await gc('--untagged', '1h')).out).toBe(
      'removed 0 manifests without a tag and 0 files, 0.0 MB; 6 files stay\n',
    );
    const old = ['--untagged', '0m', '--min-age', '0m'];
    const { out } = await gc(...old, '--dry-run');
    expect(out).toMatch(
      /^- a\/b@sha256:[0-9a-f]{64}\nwould remove 1 manifest without a tag and 3 files, 0\.0 MB; 3 files stay\n$/,
    );
    const json = JSON.parse((await gc(...old, '--json')).out);
    expect(json).toMatchObject({ dryRun: false, manifests: [{ repository: 'a/b' }], kept: 3 });
    expect(json.files).toHaveLength(3);
    // The registry runs on, and knows.
    await pushImage(client, parseReference(`${host}/a/b:v2`), { image: sampleImage({ layers: ['one'] }) });
    expect(await client.resolve(parseReference(`${host}/a/b:v1`))).toBeDefined();
  });

  test.each([
    [['images', '--untagged', '7'], '--untagged must be a number with m, h or d, such as 7d, not "7"'],
    [['plain'], 'is not an OCI image layout'],
  ])('%j is an error', async (parameters, message) => {
    const directory = folder();
    mkdirSync(join(directory, 'plain'));
    const { exit, err } = await portolan(directory, 'registry', 'gc', ...parameters);
    expect([exit, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
