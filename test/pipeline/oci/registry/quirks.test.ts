import { expect, test } from 'vitest';
import { quirksOf } from '../../../../pipeline/oci/registry/quirks.ts';

test.each([
  ['docker.io', { apiHost: 'registry-1.docker.io' }],
  ['ghcr.io', { monolithic: true }],
  ['us-docker.pkg.dev', { monolithic: true }],
  ['eu.gcr.io', { monolithic: true }],
  ['123456789012.dkr.ecr.eu-west-1.amazonaws.com', { monolithic: true }],
  ['123456789012.dkr-ecr.eu-west-1.on.aws', { monolithic: true }],
  ['quay.io', { largestPage: 100 }],
  ['quay.io:443', { largestPage: 100 }],
])('%s has %j', (host, expected) => expect(quirksOf(host)).toMatchObject(expected));

test.each([
  ['registry.example'],
  ['docker.io.evil.example'],
  ['notghcr.io'],
  ['gcr.io.evil.example'],
  ['evilgcr.io'],
  ['dkr.ecr.amazonaws.com.evil.example'],
  ['123456789012.dkr-ecr.eu-west-1.on.aws.evil.example'],
  ['localhost:5000'],
])('%s has none', (host) => expect(quirksOf(host)).toEqual({}));
