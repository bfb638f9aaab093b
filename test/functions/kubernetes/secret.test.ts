/** Secrets that Kubernetes mounts as files and replaces in place. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileSecret, renewedCredentials } from '../../../functions/kubernetes/secret.ts';
import type { Credential } from '../../../pipeline/ports.ts';
import { folder } from '../../fakes/folder.ts';

const AT = { registry: 'quay.io', repository: 'sea/catalog' };

test('a secret is read each time: a new one is in use at once', async () => {
  const path = join(folder(), 'webhook');
  writeFileSync(path, 'old\n');
  const read = fileSecret(path);
  expect(await read()).toBe('old');
  writeFileSync(path, 'new\n');
  expect(await read()).toBe('new');
});

test('without a file nothing is believed', async () => {
  await expect(fileSecret(undefined)()).rejects.toMatchObject({ code: 'usage' });
  await expect(fileSecret(join(folder(), 'absent'))()).rejects.toMatchObject({ code: 'not-found' });
});

function credentials() {
  let password = 'old';
  let opened = 0;
  let time = 0;
  const source = renewedCredentials(
    () => {
      opened++;
      const credential: Credential = { kind: 'basic', username: 'robot', password };
      return { credential: async () => credential };
    },
    () => time,
  );
  const later = (milliseconds: number): void => {
    time += milliseconds;
  };
  const rotate = (): void => {
    password = 'new';
  };
  return { source, later, rotate, opened: () => opened };
}

const OLD: Credential = { kind: 'basic', username: 'robot', password: 'old' };

test('credentials are read again every five minutes, not for each request', async () => {
  const { source, later, rotate, opened } = credentials();
  rotate();
  later(299_999);
  expect(await source.credential(AT)).toMatchObject({ password: 'old' });
  later(1);
  expect(await source.credential(AT)).toMatchObject({ password: 'new' });
  expect(opened()).toBe(2);
});

test('a refusal has them read at once, and once a minute at most', async () => {
  const { source, later, rotate, opened } = credentials();
  expect(await source.refused?.(AT, OLD), 'it is still the same').toBe(false);
  rotate();
  expect(await source.refused?.(AT, OLD), 'it was read just now').toBe(false);
  later(60_000);
  expect(await source.refused?.(AT, OLD)).toBe(true);
  expect(await source.credential(AT)).toMatchObject({ password: 'new' });
  expect(opened()).toBe(3);
});
