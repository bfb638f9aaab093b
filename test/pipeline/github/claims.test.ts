import { expect, test } from 'vitest';
import { ISSUER, validateClaims } from '../../../pipeline/github/claims.ts';

const NOW = 1_800_000_000;
const EXPECTED = {
  audience: 'https://publish.example.com',
  repositoryId: '4711',
  ownerId: '12',
  ref: 'refs/heads/main',
  workflow: '.github/workflows/portolan-publish.yml',
  environment: 'catalog-publish',
};
const CLAIMS = {
  iss: ISSUER,
  aud: 'https://publish.example.com',
  sub: 'repo:acme@12/catalogs@4711:environment:catalog-publish',
  repository: 'acme/catalogs',
  repository_id: '4711',
  repository_owner_id: '12',
  ref: 'refs/heads/main',
  event_name: 'push',
  environment: 'catalog-publish',
  workflow_ref: 'acme/catalogs/.github/workflows/portolan-publish.yml@refs/heads/main',
  job_workflow_ref: 'acme/catalogs/.github/workflows/portolan-publish.yml@refs/heads/main',
  nbf: NOW - 10,
  exp: NOW + 300,
};

const judge = (more: Record<string, unknown> = {}): void =>
  validateClaims({ ...CLAIMS, ...more }, EXPECTED, NOW);

test('29: the token of the publish job is enough, whatever form its subject has', () => {
  expect(() => judge()).not.toThrow();
  expect(() => judge({ aud: 'https://publish.example.com/' })).not.toThrow();
  expect(() => judge({ sub: 'repo:acme/catalogs:ref:refs/heads/main' })).not.toThrow();
});

test.each([
  ['iss', 'https://evil.example'],
  ['aud', 'https://other.example'],
  ['repository_id', '666'],
  ['repository_owner_id', '666'],
  ['ref', 'refs/pull/7/merge'],
  ['event_name', 'pull_request_target'],
  ['environment', undefined],
  ['aud', ['https://publish.example.com', 'https://other.example']],
  ['workflow_ref', 'acme/catalogs/.github/workflows/evil.yml@refs/heads/main'],
  ['workflow_ref', 'evil/catalogs/.github/workflows/portolan-publish.yml@refs/heads/main'],
  ['job_workflow_ref', 'acme/catalogs/.github/workflows/evil.yml@refs/heads/main'],
  ['job_workflow_ref', 'evil/other/.github/workflows/portolan-publish.yml@refs/heads/main'],
  ['job_workflow_ref', 'acme/catalogs/.github/workflows/portolan-publish.yml@refs/heads/evil'],
  ['exp', NOW - 3600],
  ['nbf', NOW + 3600],
])('29: not one whose %s is %s', (name, value) => {
  expect(() => judge({ [name]: value })).toThrow(new RegExp(`has ${name} `));
});
