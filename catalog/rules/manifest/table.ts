import {
  checkCsvPresent,
  checkFolders,
  checkHiddenFiles,
  checkKinds,
  checkLostDocuments,
  checkMetadata,
  checkMetadataTypes,
  checkMixedDocuments,
  checkObjectsOnce,
  checkReadable,
  checkSingleCsv,
  checkSubfolders,
} from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'manifest/csv-missing',
    severity: 'error',
    summary: 'A bundle contains a ClusterServiceVersion as the first document of a file',
    opm: ['unable to find a csv in bundle directory DIR', 'no ClusterServiceVersion in bundle'],
    inspect: checkCsvPresent,
  },
  {
    id: 'manifest/duplicate-object',
    severity: 'warning',
    summary: 'No two manifests define the same object',
    fix: 'keep one of the two, or give them different names',
    inspect: checkObjectsOnce,
  },
  {
    id: 'manifest/folders',
    severity: 'error',
    summary: 'A bundle has files in manifests/ and in metadata/',
    opm: ['Unable to locate manifests directory', 'The directory DIR contains no yaml files'],
    inspect: checkFolders,
  },
  {
    id: 'manifest/hidden-file',
    severity: 'error',
    summary: 'The folder manifests/ contains no hidden files',
    opm: ['bundle manifests dir has hidden file: PATH'],
    inspect: checkHiddenFiles,
  },
  {
    id: 'manifest/kind',
    severity: 'error',
    summary: 'OLM can install the kinds of all manifests',
    opm: [
      'K is not supported type for registryV1 bundle: F',
      'unsupported media type registry+v1 for bundle object',
      'unsupported resource "n" with kind "K"',
    ],
    inspect: checkKinds,
  },
  {
    id: 'manifest/lost-document',
    severity: 'warning',
    summary: 'A file in manifests/ contains one document, because only OLM v1 reads more',
    inspect: checkLostDocuments,
  },
  {
    id: 'manifest/metadata-type',
    severity: 'error',
    summary: 'The metadata of manifests has the types that Kubernetes reads',
    fix: 'write labels and annotations as strings',
    opm: ['json: cannot unmarshal … into Go struct field ObjectMeta.metadata.…'],
    inspect: checkMetadataTypes,
  },
  {
    id: 'manifest/metadata',
    severity: 'error',
    summary: 'Manifests have valid metadata, and no namespace',
    fix: 'write metadata that Kubernetes accepts, without a namespace',
    opm: ['error validating object metadata: …'],
    inspect: checkMetadata,
  },
  {
    id: 'manifest/mixed-documents',
    severity: 'error',
    summary: 'The files of the ClusterServiceVersion and of CRDs can be read by operator-sdk',
    opm: ['error loading objs in directory: unable to parse CSV FILE: …', 'unable to parse CRD FILE: …'],
    inspect: checkMixedDocuments,
  },
  {
    id: 'manifest/network-policy',
    severity: 'info',
    summary:
      'A bundle with a NetworkPolicy is accepted where it is released: operator-pipelines refuses such bundles since August 2025',
    fix: 'ask whoever releases the bundle, or create the NetworkPolicy from the operator',
    inspect({ allObjects }, report) {
      for (const { kind, name, document, group } of allObjects) {
        if (kind !== 'NetworkPolicy' || group !== 'networking.k8s.io') continue;
        report(
          `NetworkPolicy ${JSON.stringify(name)} restricts connections as soon as the bundle is installed, and operator-pipelines may refuse the bundle`,
          document.locate(['kind']),
        );
      }
    },
  },
  {
    id: 'manifest/several-csvs',
    severity: 'error',
    summary: 'A bundle contains one ClusterServiceVersion',
    opm: ['invalid bundle: contains multiple CSVs'],
    inspect: checkSingleCsv,
  },
  {
    id: 'manifest/subfolder',
    severity: 'error',
    summary: 'The folder manifests/ contains only files',
    opm: ['bundle manifests dir contains directory: PATH'],
    inspect: checkSubfolders,
  },
  {
    id: 'manifest/unreadable',
    severity: 'error',
    summary: 'Every file of manifests/ is a Kubernetes object in YAML or JSON',
    fix: 'correct the file, or move it out of manifests/',
    opm: ['unable to decode object: …'],
    inspect: checkReadable,
  },
];
