import {
  checkAnnotatedFolders,
  checkAnnotationKeys,
  checkAnnotationsFilled,
  checkAnnotationsPresent,
  checkAnnotationTypes,
  checkDefaultChannel,
  checkMediaType,
  checkMetadataReadable,
} from '../bundle-checks/annotations.ts';
import { checkPackageNamed } from '../bundle-checks/olm.ts';
import { checkLabels } from '../bundle-checks/update.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'annotations/default-channel',
    severity: 'warning',
    summary: 'Reports default channels that are not among the channels',
    fix: 'operators.operatorframework.io.bundle.channel.default.v1: one of the annotated channels',
    inspect: checkDefaultChannel,
  },
  {
    id: 'annotations/empty',
    severity: 'error',
    summary: 'Reports annotated channels that are empty',
    opm: ['Expecting annotation "K" to have non-empty value'],
    inspect: checkAnnotationsFilled,
  },
  {
    id: 'annotations/folder',
    severity: 'error',
    summary: 'Reports annotated folders other than manifests/ and metadata/',
    opm: ['lstat DIR: no such file or directory'],
    inspect: checkAnnotatedFolders,
  },
  {
    id: 'annotations/key',
    severity: 'error',
    summary: 'Reports annotations without a media type, folders, package or channels',
    opm: ['Missing annotation "K"'],
    inspect: checkAnnotationKeys,
  },
  {
    id: 'annotations/labels',
    severity: 'warning',
    summary: 'Reports labels of the bundle image or its Dockerfile that differ from the annotations',
    inspect: checkLabels,
  },
  {
    id: 'annotations/media-type',
    severity: 'error',
    summary: 'Reports annotated media types that do not match the manifests',
    opm: ['Expecting annotation "K" to have value "V" instead of "W"'],
    inspect: checkMediaType,
  },
  {
    id: 'annotations/missing',
    severity: 'error',
    summary: 'Reports bundles without a file in metadata/ that contains the annotations',
    opm: ['Could not find annotations file'],
    inspect: checkAnnotationsPresent,
  },
  {
    id: 'annotations/package',
    severity: 'error',
    summary: 'Reports annotations that do not name the package',
    fix: 'operators.operatorframework.io.bundle.package.v1: etcd',
    opm: ['package name is empty'],
    inspect: checkPackageNamed,
  },
  {
    id: 'annotations/text',
    severity: 'error',
    summary: 'Reports annotations whose value is a list or a mapping instead of text',
    opm: ['Could not find annotations file'],
    inspect: checkAnnotationTypes,
  },
  {
    id: 'annotations/unreadable',
    severity: 'error',
    summary: 'Reports files of metadata/ that are neither YAML nor JSON',
    fix: 'correct the YAML, or recreate the file with portolan bundle generate',
    opm: ['unable to load the annotations file F: …'],
    inspect: checkMetadataReadable,
  },
];
