import { expect, test } from 'vitest';
import { settingsFrom } from '../../../functions/kubernetes/env.ts';

const SOURCE = {
  repository: 'sea/catalogs',
  id: 1,
  branch: 'main',
  url: 'https://github.com/sea/catalogs.git',
};
const LEAST = {
  PORTOLAN_SOURCES: JSON.stringify([SOURCE]),
  PORTOLAN_DATABASE: 'postgres://portolan@postgres/portolan',
};

test('two variables are enough', () => {
  const { sources, secrets, bucket, ports, stopping } = settingsFrom(LEAST);
  expect(sources).toEqual([SOURCE]);
  expect(secrets).toEqual({ webhook: undefined, app: undefined, signing: undefined });
  expect(bucket).toBeUndefined();
  expect(ports).toEqual({ public: 8080, internal: 9090 });
  expect(stopping).toEqual({ refuse: 5000, leave: 240_000 });
});

test('records of publishes are kept for ever, or for the days that are set', () => {
  expect(settingsFrom(LEAST).keep).toEqual({ outcomes: undefined, documents: undefined });
  const days = { PORTOLAN_KEEP_OUTCOMES: '30', PORTOLAN_KEEP_DOCUMENTS: '365' };
  expect(settingsFrom({ ...LEAST, ...days }).keep).toEqual({ outcomes: 30, documents: 365 });
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['PORTOLAN_SOURCES', { PORTOLAN_SOURCES: '[]' }],
  ['PORTOLAN_DATABASE', { PORTOLAN_DATABASE: '' }],
  ['PORTOLAN_PARALLEL', { PORTOLAN_PARALLEL: 'many' }],
  ['PORTOLAN_PORT', { PORTOLAN_PORT: '-1' }],
])('%s that cannot be used is named', (name, differing) => {
  expect(() => settingsFrom({ ...LEAST, ...differing })).toThrow(name);
});

test('lists have commas or blanks between their hosts, and addresses no slash at their ends', () => {
  const written = {
    PORTOLAN_PLAIN_HTTP: ' a.example:5000, b.example ,c.example\nd.example',
    PORTOLAN_API: 'https://github.example.com/api/v3/',
    PORTOLAN_PAGES: 'https://pages.example.com//',
  };
  expect(settingsFrom({ ...LEAST, ...written })).toMatchObject({
    plainHttp: ['a.example:5000', 'b.example', 'c.example', 'd.example'],
    api: 'https://github.example.com/api/v3',
    pages: 'https://pages.example.com',
  });
});

test('a forge other than GitHub needs the address of its API', () => {
  const api = 'https://forge.example.com/api/v1';
  expect(settingsFrom(LEAST)).toMatchObject({ forge: 'github', api: 'https://api.github.com' });
  const forgejo = { ...LEAST, PORTOLAN_FORGE: 'forgejo' };
  expect(settingsFrom({ ...forgejo, PORTOLAN_API: `${api}/` })).toMatchObject({ forge: 'forgejo', api });
  expect(() => settingsFrom(forgejo)).toThrow('PORTOLAN_API');
  const gitlab = { ...LEAST, PORTOLAN_FORGE: 'gitlab' };
  expect(settingsFrom({ ...gitlab, PORTOLAN_API: `${api}/` })).toMatchObject({ forge: 'gitlab', api });
  expect(() => settingsFrom(gitlab)).toThrow('PORTOLAN_API');
  expect(() => settingsFrom({ ...LEAST, PORTOLAN_FORGE: 'sourceforge' })).toThrow('PORTOLAN_FORGE');
});
