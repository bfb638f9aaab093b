import type { Inspected } from '../../bundle/inspect.ts';
import {
  checkCsvPresent,
  checkFolders,
  checkHiddenFiles,
  checkJsonIsYaml,
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
import type { Report, Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'manifest/csv-missing',
    severity: 'error',
    summary: 'Reports bundles without a ClusterServiceVersion as the first document of a file',
    opm: ['unable to find a csv in bundle directory DIR', 'no ClusterServiceVersion in bundle'],
    inspect: checkCsvPresent,
  },
  {
    id: 'manifest/duplicate-object',
    severity: 'warning',
    summary: 'Reports manifests that define the same object',
    fix: 'keep one of the two, or give them different names',
    inspect: checkObjectsOnce,
  },
  {
    id: 'manifest/folders',
    severity: 'error',
    summary: 'Reports bundles without files in manifests/ or metadata/',
    opm: ['Unable to locate manifests directory', 'The directory DIR contains no yaml files'],
    inspect: checkFolders,
  },
  {
    id: 'manifest/hidden-file',
    severity: 'error',
    summary: 'Reports hidden files in the folder manifests/',
    opm: ['bundle manifests dir has hidden file: PATH'],
    inspect: checkHiddenFiles,
  },
  {
    id: 'manifest/kind',
    severity: 'error',
    summary: 'Reports manifests of kinds that OLM cannot install',
    opm: [
      'K is not supported type for registryV1 bundle: F',
      'unsupported media type registry+v1 for bundle object',
      'unsupported resource "n" with kind "K"',
    ],
    inspect: checkKinds,
  },
  {
    id: 'manifest/json',
    severity: 'error',
    summary: 'Reports JSON manifests that are not YAML, which operator-sdk and preflight cannot read',
    opm: ['unable to decode object: error converting YAML to JSON: …'],
    inspect: checkJsonIsYaml,
  },
  {
    id: 'manifest/lost-document',
    severity: 'warning',
    summary: 'Reports files in manifests/ with several documents, which only OLM v1 reads',
    inspect: checkLostDocuments,
  },
  {
    id: 'manifest/metadata-type',
    severity: 'error',
    summary: 'Reports metadata of manifests with types that Kubernetes does not read',
    fix: 'write labels and annotations as strings',
    opm: ['json: cannot unmarshal … into Go struct field ObjectMeta.metadata.…'],
    inspect: checkMetadataTypes,
  },
  {
    id: 'manifest/metadata',
    severity: 'error',
    summary: 'Reports manifests with invalid metadata, or with a namespace',
    fix: 'write metadata that Kubernetes accepts, without a namespace',
    opm: ['error validating object metadata: …'],
    inspect: checkMetadata,
  },
  {
    id: 'manifest/mixed-documents',
    severity: 'error',
    summary: 'Reports files of the ClusterServiceVersion or of CRDs that operator-sdk cannot read',
    opm: ['error loading objs in directory: unable to parse CSV FILE: …', 'unable to parse CRD FILE: …'],
    inspect: checkMixedDocuments,
  },
  {
    id: 'manifest/network-policy',
    severity: 'info',
    summary: 'Reports bundles with a NetworkPolicy, which operator-pipelines refuses since August 2025',
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
    summary: 'Reports bundles with several ClusterServiceVersions',
    opm: ['invalid bundle: contains multiple CSVs'],
    inspect: checkSingleCsv,
  },
  {
    id: 'manifest/subfolder',
    severity: 'error',
    summary: 'Reports folders in the folder manifests/',
    opm: ['bundle manifests dir contains directory: PATH'],
    inspect: checkSubfolders,
  },
  {
    id: 'manifest/unreadable',
    severity: 'error',
    summary: 'Reports files of manifests/ that are not a Kubernetes object in YAML or JSON',
    fix: 'correct the file, or move it out of manifests/',
    opm: ['unable to decode object: …'],
    inspect: checkReadable,
  },
  {
    id: 'manifest/size',
    severity: 'error',
    summary: 'Reports bundles whose compressed manifests do not fit in a ConfigMap',
    opm: [
      'maximum bundle compressed size with gzip size exceeded: …',
      'nearing maximum bundle compressed size with gzip: …',
    ],
    inspect: checkSize,
  },
];

/** Most bytes of all files together, each compressed and as base64. */
const LARGEST = 1024 * 1024;
/** From this part of the limit on a bundle is near it. */
const NEAR = 0.85;
/** Files that are smaller in sum are not compressed to know that they fit. The margin is for what gzip adds to tiny files. */
const SURELY_FITS = LARGEST * 0.6;

/** OLM v0 unpacks a bundle into a ConfigMap, each file compressed and as base64. */
function checkSize({ manifests, options: { gzipLength } }: Inspected, report: Report): void {
  const size = manifests.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const encoded = manifests.reduce((sum, { bytes }) => sum + base64Length(bytes.length), 0);
  if (!gzipLength || encoded < SURELY_FITS) return;
  const compressed = manifests.reduce((sum, { bytes }) => sum + base64Length(gzipLength(bytes)), 0);
  const limit = bytesText(LARGEST);
  const found = `${bytesText(compressed)} compressed and in base64 (${bytesText(size)} uncompressed); the limit of OLM is ${limit}`;
  const place = { file: 'manifests', line: 1, column: 1 };
  const hint = 'shorten descriptions in the CRDs, and move icons and examples out of the bundle';
  if (compressed > LARGEST) report(`the manifests are too large: ${found}`, place, { hint });
  else if (compressed > LARGEST * NEAR)
    report(`the manifests are nearly too large: ${found}`, place, { hint, severity: 'warning' });
}

function base64Length(length: number): number {
  return Math.ceil(length / 3) * 4;
}

const UNITS = ['B', 'kB', 'MB', 'GB'];

function bytesText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power]}`;
}
