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
    summary: 'The default channel is one of the channels',
    fix: 'operators.operatorframework.io.bundle.channel.default.v1: one of the annotated channels',
    inspect: checkDefaultChannel,
  },
  {
    id: 'annotations/empty',
    severity: 'error',
    summary: 'The annotated channels are not empty',
    opm: ['Expecting annotation "K" to have non-empty value'],
    inspect: checkAnnotationsFilled,
  },
  {
    id: 'annotations/folder',
    severity: 'error',
    summary: 'The annotated folders are manifests/ and metadata/',
    opm: ['lstat DIR: no such file or directory'],
    inspect: checkAnnotatedFolders,
  },
  {
    id: 'annotations/key',
    severity: 'error',
    summary: 'The annotations declare media type, folders, package and channels',
    opm: ['Missing annotation "K"'],
    inspect: checkAnnotationKeys,
  },
  {
    id: 'annotations/labels',
    severity: 'warning',
    summary: 'The labels of the bundle image or its Dockerfile match the annotations',
    inspect: checkLabels,
  },
  {
    id: 'annotations/media-type',
    severity: 'error',
    summary: 'The annotated media type matches the manifests',
    opm: ['Expecting annotation "K" to have value "V" instead of "W"'],
    inspect: checkMediaType,
  },
  {
    id: 'annotations/missing',
    severity: 'error',
    summary: "A file in metadata/ contains the bundle's annotations",
    opm: ['Could not find annotations file'],
    inspect: checkAnnotationsPresent,
  },
  {
    id: 'annotations/package',
    severity: 'error',
    summary: 'The annotations name the package',
    fix: 'operators.operatorframework.io.bundle.package.v1: etcd',
    opm: ['package name is empty'],
    inspect: checkPackageNamed,
  },
  {
    id: 'annotations/text',
    severity: 'error',
    summary: 'The value of every annotation is text, not a list or a mapping',
    opm: ['Could not find annotations file'],
    inspect: checkAnnotationTypes,
  },
  {
    id: 'annotations/unreadable',
    severity: 'error',
    summary: 'Every file of metadata/ is YAML or JSON',
    fix: 'correct the YAML, or recreate the file with portolan bundle generate',
    opm: ['unable to load the annotations file F: …'],
    inspect: checkMetadataReadable,
  },
];
