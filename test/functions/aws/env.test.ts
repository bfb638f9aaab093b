/** The functions' environment, and what a sandbox holds when a function begins in it. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { settings } from '../../../functions/aws/env.ts';
import { folder } from '../../fakes/folder.ts';

let temporary: string;
beforeEach(() => {
  temporary = folder();
  vi.stubEnv('TMPDIR', temporary);
  const source = {
    repository: 'sea/catalogs',
    id: 1,
    branch: 'main',
    url: 'https://github.com/sea/catalogs.git',
  };
  vi.stubEnv('PORTOLAN_SOURCES', JSON.stringify([source]));
  for (const name of ['QUEUE', 'REPORTS', 'TABLE', 'BUCKET']) vi.stubEnv(`PORTOLAN_${name}`, name);
  vi.stubEnv('AWS_ENDPOINT_URL', '');
  // What a function leaves that is killed while it publishes.
  for (const name of ['portolan-a1B2c3', 'portolan-d4E5f6', 'portolan-g7H8i9']) {
    mkdirSync(join(temporary, name));
    writeFileSync(join(temporary, name, 'large'), 'x');
  }
  writeFileSync(join(temporary, 'of-an-extension'), '');
});
afterEach(() => void vi.unstubAllEnvs());

test('what a killed function left in its sandbox does not fill it', () => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'work');
  const { clones } = settings();
  expect(
    readdirSync(temporary)
      .map((name) => join(temporary, name))
      .sort(),
  ).toEqual([dirname(clones), join(temporary, 'of-an-extension')].sort());
});

test.each([
  ['on a machine of others', '', ''],
  ['on what stands in for the cloud', 'work', 'http://127.0.0.1:4566'],
])('%s nothing is removed', (_, name, endpoint) => {
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', name);
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  settings();
  expect(readdirSync(temporary)).toHaveLength(5);
});
