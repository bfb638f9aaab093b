import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { authfileCredentials, credentialsOnlyFor } from '../../../../pipeline/oci/registry/credentials.ts';
import { folder } from '../../../fakes/folder.ts';

const pair = (text: string) => ({ auth: Buffer.from(text).toString('base64') });
const basic = (username: string, password: string) => ({ kind: 'basic', username, password });

function write(path: string, content: unknown): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** The credential for `registry/repository` from one file. */
async function look(content: unknown, name: string, environment = {}): Promise<unknown> {
  const authfile = write(join(folder(), 'auth.json'), content);
  return ask(authfileCredentials({ authfile, environment }), name);
}

function ask(source: ReturnType<typeof authfileCredentials>, name: string): Promise<unknown> {
  const slash = name.indexOf('/');
  return source.credential({ registry: name.slice(0, slash), repository: name.slice(slash + 1) });
}

describe('keys of a file', () => {
  const file = {
    auths: {
      'quay.io': pair('host:1'),
      'quay.io/org': pair('org:2'),
      'quay.io/org/app': pair('app:3'),
      'https://reg.example:5000/v2/': pair('url:4'),
      'https://index.docker.io/v1/': pair('hub:5'),
      'empty.example': {},
    },
  };

  test.each([
    ['quay.io/org/app', 'app'],
    ['quay.io/org/app/deep', 'app'],
    ['quay.io/org/application', 'org'],
    ['quay.io/other', 'host'],
    ['reg.example:5000/x', 'url'],
    ['docker.io/library/alpine', 'hub'],
  ])('%s is found under %s', async (name, username) => {
    expect(await look(file, name)).toMatchObject({ kind: 'basic', username });
  });

  test.each([
    ['reg.example/x'],
    ['sub.quay.io/org/app'],
    ['empty.example/x'],
    ['constructor/x'],
    ['__proto__/x'],
  ])('%s is not there', async (name) => expect(await look(file, name)).toBeUndefined());
});

test.each([
  [{ auth: Buffer.from('u:p:with:colons').toString('base64') }, basic('u', 'p:with:colons')],
  [{ auth: Buffer.from('u:p\0\0').toString('base64') }, basic('u', 'p')],
  [{ username: 'u', password: 'p' }, basic('u', 'p')],
  [
    { identitytoken: 't', auth: pair('00:x').auth },
    { kind: 'identity', token: 't' },
  ],
  [{ registrytoken: 't' }, { kind: 'bearer', token: 't' }],
  [{ auth: 'no pair' }, undefined],
  ['text', undefined],
  [null, undefined],
])('the entry %j', async (entry, expected) => {
  expect(await look({ auths: { 'r.example': entry } }, 'r.example/x')).toEqual(expected);
});

describe('which file', () => {
  const found = async (environment: Record<string, string>, authfile?: string) =>
    ask(authfileCredentials({ environment, authfile }), 'r.example/x');
  const file = (name: string) => ({ auths: { 'r.example': pair(`${name}:x`) } });

  test('the one that is named, then REGISTRY_AUTH_FILE, then the usual ones in order', async () => {
    const home = folder();
    const runtime = join(home, 'run');
    const named = write(join(home, 'named.json'), file('named'));
    const sure = write(join(home, 'sure.json'), file('sure'));
    const docker = write(join(home, '.docker/config.json'), file('docker'));
    const environment = { HOME: home, XDG_RUNTIME_DIR: runtime };
    expect(await found(environment)).toMatchObject({ username: 'docker' });
    write(join(home, '.config/containers/auth.json'), file('config'));
    expect(await found(environment)).toMatchObject({ username: 'config' });
    write(join(runtime, 'containers/auth.json'), file('runtime'));
    expect(await found(environment)).toMatchObject({ username: 'runtime' });
    expect(await found({ ...environment, REGISTRY_AUTH_FILE: sure })).toMatchObject({ username: 'sure' });
    expect(await found({ ...environment, REGISTRY_AUTH_FILE: sure }, named)).toMatchObject({
      username: 'named',
    });
    expect(await found({ DOCKER_CONFIG: dirname(docker) })).toMatchObject({ username: 'docker' });
  });

  test('a file that knows nothing does not hide the next one', async () => {
    const home = folder();
    write(join(home, '.config/containers/auth.json'), { auths: { other: pair('a:b') } });
    write(join(home, '.docker/config.json'), file('docker'));
    expect(await found({ HOME: home })).toMatchObject({ username: 'docker' });
  });

  test('none of the usual ones is no failure, a named one that is not there is', async () => {
    expect(await found({ HOME: folder() })).toBeUndefined();
    await expect(found({}, '/does/not/exist.json')).rejects.toMatchObject({ code: 'not-found' });
    await expect(found({ REGISTRY_AUTH_FILE: folder() })).rejects.toMatchObject({ code: 'io' });
  });

  test('what is wrong in a file is said without quoting it', async () => {
    await expect(look('{"auths": {"r": {"auth": "c2VjcmV0', 'r/x')).rejects.toMatchObject({
      code: 'usage',
      message: expect.not.stringContaining('c2VjcmV0'),
    });
  });
});

describe('helpers', () => {
  /** A helper that notes each question in a file beside it. */
  function helper(name: string, script: string): { PATH: string; asked: () => string[] } {
    const path = folder();
    const file = join(path, `docker-credential-${name}`);
    writeFileSync(file, `#!/bin/sh\nread server\necho "$1 $server" >> ${path}/asked\n${script}\n`);
    chmodSync(file, 0o755);
    return {
      PATH: `${path}:/usr/bin:/bin`,
      asked: () => readFileSync(`${path}/asked`, 'utf8').trim().split('\n'),
    };
  }
  const answer = (username: string) => `echo '{"ServerURL":"x","Username":"${username}","Secret":"s"}'`;

  test('are asked for the registry that they are named for, once', async () => {
    const { PATH, asked } = helper('mine', answer('u'));
    const authfile = write(join(folder(), 'auth.json'), { credHelpers: { 'r.example': 'mine' } });
    const source = authfileCredentials({ authfile, environment: { PATH } });
    expect(await ask(source, 'r.example/a')).toEqual(basic('u', 's'));
    expect(await ask(source, 'r.example/b')).toEqual(basic('u', 's'));
    expect(await ask(source, 'other.example/b')).toBeUndefined();
    expect(asked()).toEqual(['get r.example']);
  });

  test('are asked again after they failed', async () => {
    const { PATH, asked } = helper('mine', `[ -e $0.up ] || { touch $0.up; exit 1; }\n${answer('u')}`);
    const authfile = write(join(folder(), 'auth.json'), { credHelpers: { 'r.example': 'mine' } });
    const source = authfileCredentials({ authfile, environment: { PATH } });
    await expect(ask(source, 'r.example/a')).rejects.toMatchObject({ code: 'denied' });
    expect(await ask(source, 'r.example/a')).toEqual(basic('u', 's'));
    expect(asked()).toHaveLength(2);
  });

  test('the store is asked when the file has no entry, by the name that docker login used', async () => {
    const { PATH, asked } = helper('desktop', answer('<token>'));
    const file = { auths: { 'r.example': {}, 'own.example': pair('own:x') }, credsStore: 'desktop' };
    expect(await look(file, 'own.example/x', { PATH })).toEqual(basic('own', 'x'));
    expect(await look(file, 'r.example/x', { PATH })).toEqual({ kind: 'identity', token: 's' });
    expect(await look(file, 'docker.io/library/x', { PATH })).toEqual({ kind: 'identity', token: 's' });
    expect(asked()).toEqual(['get r.example', 'get https://index.docker.io/v1/']);
  });

  test('one that knows nothing means anonymous, one that fails does not', async () => {
    const file = { credHelpers: { 'r.example': 'mine' } };
    const none = helper('mine', 'echo "credentials not found in native keychain"; exit 1');
    expect(await look(file, 'r.example/x', none)).toBeUndefined();
    const broken = helper('mine', 'echo "leaked-secret"; exit 1');
    await expect(look(file, 'r.example/x', { PATH: broken.PATH })).rejects.toMatchObject({
      code: 'denied',
      message: expect.not.stringContaining('leaked-secret'),
    });
    const odd = helper('mine', 'echo "not json"');
    await expect(look(file, 'r.example/x', { PATH: odd.PATH })).rejects.toMatchObject({ code: 'denied' });
    await expect(look(file, 'r.example/x', { PATH: '/nowhere' })).rejects.toMatchObject({ code: 'denied' });
  });

  test.each([['../../bin/sh'], ['a b'], ['$(id)'], ['-x'], ['a/b'], ['a\0b']])(
    '%j is no helper',
    async (name) => {
      await expect(look({ credHelpers: { r: name } }, 'r/x')).rejects.toMatchObject({ code: 'usage' });
    },
  );
});

test('credentials for trusted repositories only', async () => {
  const all = { credential: async () => ({ kind: 'bearer', token: 't' }) as const };
  const some = credentialsOnlyFor(all, ({ repository }) => repository.startsWith('own/'));
  expect(await some.credential({ registry: 'r', repository: 'own/x' })).toEqual({
    kind: 'bearer',
    token: 't',
  });
  expect(await some.credential({ registry: 'r', repository: 'other/x' })).toBeUndefined();
});
