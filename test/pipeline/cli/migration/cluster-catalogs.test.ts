/**
 * library-olm's own test cases of catalogs.
 *
 * @see https://github.com/operator-framework/library-olm/blob/1d6af67a820196bc45d56aa9343f2dd17d115d8c/migration/pkg/catalogmigration/unit_test.go
 */
import { expect, test } from 'vitest';
import { numberAt } from '../../../../pipeline/check/cluster.ts';
import { movedCatalogs } from '../../../../pipeline/cli/migration/cluster-catalogs.ts';
import { viewOf } from '../../../../pipeline/cli/migration/cluster-view.ts';
import { type ClusterObject, catalogSource, clusterCatalog } from '../../../fakes/v0-cluster.ts';

const moved = (...objects: ClusterObject[]) => movedCatalogs(viewOf('cluster', objects));

test('TestMigrateCatalogsDryRunAndAdoption', () => {
  const found = moved(
    catalogSource('shared', { image: 'registry/shared:1' }, 'one'),
    catalogSource('shared', { image: 'registry/shared:1' }, 'two'),
    catalogSource('shared', { image: 'registry/other:1' }, 'three'),
    catalogSource('cm', { sourceType: 'configmap' }, 'one'),
    clusterCatalog('already', 'registry/covered:1'),
    catalogSource('covered', { image: 'registry/covered:1' }, 'one'),
  );
  expect(found.map(({ source, status, name }) => [source, status, name])).toEqual([
    ['one/cm', 'skip', ''],
    ['one/covered', 'adopt', 'already'],
    ['one/shared', 'create', 'shared-one'],
    ['three/shared', 'create', 'shared-three'],
    ['two/shared', 'create', 'shared-two'],
  ]);
});

test('sources with the same name and image share a ClusterCatalog', () => {
  const found = moved(catalogSource('a', {}, 'one'), catalogSource('a', {}, 'two'));
  expect(found.map(({ status, name }) => [status, name])).toEqual([
    ['create', 'a'],
    ['adopt', 'a'],
  ]);
});

test('a ClusterCatalog of the same name with another image is left as it is', () => {
  const [found] = moved(catalogSource('a'), clusterCatalog('a', 'quay.io/other:1'));
  expect(found).toMatchObject({
    status: 'skip',
    reason: expect.stringContaining('already exists with image'),
  });
});

test('TestValidatePriority: one that does not fit is skipped', () => {
  const priorities = [7, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1];
  expect(priorities.map((priority) => moved(catalogSource('a', { priority }))[0]?.status)).toEqual([
    'create',
    'create',
    'skip',
    'skip',
  ]);
});

test('TestConvertPollInterval', () => {
  const minutes = (interval: string, image = 'registry.example/catalog:latest') => {
    const [found] = moved(catalogSource('a', { image, updateStrategy: { registryPoll: { interval } } }));
    return numberAt(found?.document, 'spec', 'source', 'image', 'pollIntervalMinutes');
  };
  expect(['', '90s', '5m0s', '1h30m', '10s'].map((interval) => minutes(interval))).toEqual([0, 1, 5, 90, 1]);
  expect(minutes('5m', 'registry.example/catalog@sha256:deadbeef')).toBe(0);
});

test('what has no place in a ClusterCatalog is noted', () => {
  const [found] = moved(catalogSource('a', { secrets: ['pull'], grpcPodConfig: {} }));
  expect(found?.notes).toEqual([
    'spec.secrets (1 secret(s)) has no OLMv1 equivalent; OLMv1 uses the cluster global pull secret',
    'spec.grpcPodConfig has no OLMv1 equivalent; catalogd manages the serving pod configuration',
  ]);
});
