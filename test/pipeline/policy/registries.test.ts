import { expect, test } from 'vitest';
import { readPolicy } from '../../../pipeline/policy/read-policy.ts';
import { repositoryMatcher } from '../../../pipeline/policy/registries.ts';

const repository = (name: string): { registry: string; repository: string } => {
  const slash = name.indexOf('/');
  return { registry: name.slice(0, slash), repository: name.slice(slash + 1) };
};

test.each([
  [
    'quay.io',
    ['quay.io/a/b', 'QUAY.io/a', 'quay.io:443/a'],
    ['quay.io:8443/a', 'quay.io:80/a', 'xquay.io/a', 'quay.io.evil.example/a'],
  ],
  ['quay.io:443/a', ['quay.io/a/b', 'Quay.io:443/a'], ['quay.io/b', 'quay.io:4430/a']],
  [
    'docker.io',
    ['docker.io/library/a', 'registry-1.docker.io/library/a', 'index.docker.io:443/library/a'],
    ['hub.docker.io/a', 'docker.io:80/a'],
  ],
  ['quay.io/my-org', ['quay.io/my-org', 'quay.io/my-org/app'], ['quay.io/my-org2/app', 'quay.io/x/my-org']],
  [
    '*.example.com',
    ['a.example.com/x', 'a.b.example.com/x', 'A.example.com:443/x'],
    ['example.com/x', 'a.example.com.evil/x', '.example.com/x'],
  ],
  ['registry.example:5000', ['registry.example:5000/x'], ['registry.example/x', 'registry.example:5001/x']],
  ['*', ['anything.example/x', '127.0.0.1:80/x'], []],
  ['*/my-org', ['anything.example/my-org/x'], ['anything.example/x']],
])('%s', (pattern, yes, no) => {
  const matches = repositoryMatcher([pattern]);
  expect(yes.filter((name) => !matches(repository(name)))).toEqual([]);
  expect(no.filter((name) => matches(repository(name)))).toEqual([]);
});

test('no pattern allows nothing', () => {
  expect(repositoryMatcher([])(repository('quay.io/a/b'))).toBe(false);
});

test.each(['https://quay.io', 'quay.io/', 'quay.io/UP', 'q*.io', ''])(
  '%j is no pattern for a policy',
  (pattern) => {
    const text = `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {allow: [${JSON.stringify(pattern)}]}\n`;
    const { findings } = readPolicy(new TextEncoder().encode(text));
    expect(findings.map(({ rule }) => rule)).toEqual(['policy/value']);
  },
);
