import { describe, expect, test } from 'vitest';
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import {
  clustersAccept,
  firstWith,
  hasOlmV1,
  kubernetesOf,
  lastBefore,
  olmOf,
  readsCsvMetadata,
  tryParsePlatform,
} from '../../../catalog/fbc/platform.ts';

const of = (text: string) => tryParseMinor(text) ?? expect.fail(text);

test.each([
  ['4.12', 25],
  ['4.20', 33],
  ['4.22', 35],
  ['4.23', 36],
  ['5.0', 36],
])('OpenShift %s has Kubernetes 1.%i', (platform, minor) => {
  expect(kubernetesOf(of(platform))).toEqual({ major: 1, minor });
});

test('the Kubernetes of a version that nobody knows yet is not guessed', () => {
  expect(kubernetesOf(of('5.7'))).toBeUndefined();
  expect(kubernetesOf(of('3.11'))).toBeUndefined();
});

test('the last version before a Kubernetes removed something', () => {
  const last = [22, 25, 26].map((minor) => lastBefore({ major: 1, minor }));
  expect(last).toEqual(['4.8', '4.11', '4.12']);
});

describe('what clusters accept', () => {
  test.each([
    ['mirrorSets', '4.12', '4.13'],
    ['clusterCatalogs', '4.15', '4.16'],
    ['csvMetadata', '4.16', '4.17'],
    ['olmV1', '4.17', '4.18'],
    ['webhooksV1', '4.19', '4.20'],
    ['imagePolicies', '4.19', '4.20'],
    ['administratorV1', '4.22', '4.23'],
  ] as const)('%s: not %s, and all from %s on, 5.0 and unknown ones too', (feature, before, first) => {
    expect(clustersAccept(feature, of(before))).toBe(false);
    for (const platform of [of(first), of('5.0'), of('5.3'), undefined]) {
      expect(clustersAccept(feature, platform)).toBe(true);
    }
  });

  test('by name', () => {
    expect([firstWith('olmV1'), firstWith('administratorV1')]).toEqual(['4.18', '5.0']);
    expect([olmOf(of('4.17')), olmOf(of('5.0'))]).toEqual([['v0'], ['v0', 'v1']]);
    expect([hasOlmV1(of('4.17')), hasOlmV1(of('5.1'))]).toEqual([false, true]);
    expect([readsCsvMetadata(of('4.16')), readsCsvMetadata(of('5.0'))]).toEqual([false, true]);
  });
});

test.each(['4.16', 'v4.20', '5.0', 'v5.1'])('%s is a version of a cluster', (text) => {
  expect(tryParsePlatform(text)).toEqual(of(text));
});

test.each(['', '4', '4.16.3', '3.11', '40.1', 'latest', '5.0-rc'])('%j is not', (text) => {
  expect(tryParsePlatform(text)).toBeUndefined();
});
