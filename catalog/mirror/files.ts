/**
 * The files of a plan, by name: what is handed to those who copy the images and to those
 * who run the clusters.
 */

import type { Json } from '../yaml/scalar.ts';
import { appliedTo, type DocumentOptions, type MirrorDocuments } from './documents/documents.ts';
import { registriesDirectoryText } from './documents/signing.ts';
import { kustomizationText } from './documents/sources.ts';
import { type KubernetesObject, objectsText, objectText } from './kubernetes-object.ts';
import { mappingText } from './mapping.ts';
import { type MirrorPlan, mappingsOf } from './plan.ts';
import type { MirrorReport } from './report.ts';

const NAMES: Readonly<Record<keyof MirrorDocuments, string>> = {
  contentSourcePolicies: 'imageContentSourcePolicy.yaml',
  digestMirrorSets: 'imageDigestMirrorSet.yaml',
  tagMirrorSets: 'imageTagMirrorSet.yaml',
  imagePolicies: 'clusterImagePolicy.yaml',
  releaseSignatures: 'releaseSignatures.yaml',
  updateServices: 'updateService.yaml',
  operatorHub: 'operatorHub.yaml',
  catalogSources: 'catalogSource.yaml',
  clusterCatalogs: 'clusterCatalog.yaml',
};

const MAPPING = 'mapping.txt';
const REPORT = 'report.json';
const KUSTOMIZATION = 'kustomization.yaml';
const REGISTRIES = 'registries.d.yaml';
const IMAGE_SET = 'imageSetConfiguration.yaml';

/** Every name that a plan may write: what a later plan does not write any longer is stale. */
export const PLAN_FILES: readonly string[] = [
  MAPPING,
  ...Object.values(NAMES),
  REGISTRIES,
  KUSTOMIZATION,
  IMAGE_SET,
  REPORT,
];

/** What the files are made of. */
export interface PlanFilesRequest {
  readonly plan: MirrorPlan;
  readonly documents: MirrorDocuments;
  readonly report: MirrorReport;
  readonly options: Pick<DocumentOptions, 'platform' | 'signers'>;
}

/** The text of each file; kinds without an object have no file. */
export function planFiles({ plan, documents, report, options }: PlanFilesRequest): Map<string, string> {
  const files = new Map<string, string>();
  files.set(MAPPING, mappingText(mappingsOf(plan), plan.style === 'oc-mirror' ? 'docker://' : ''));
  // Clusters cannot pull from files: such a plan is for copying alone.
  if (plan.home.transport === 'registry') {
    for (const [kind, name] of Object.entries(NAMES)) {
      const objects = objectsOf(documents, kind as keyof MirrorDocuments);
      // Without a catalog in the mirror, clusters keep their default sources.
      const isNeeded = kind !== 'operatorHub' || plan.catalogs.length > 0;
      if (isNeeded && objects.length > 0) files.set(name, objectsText(objects));
    }
    const { signers = [], platform } = options;
    if (signers.length > 0) files.set(REGISTRIES, registriesDirectoryText(plan, signers));
    const applied = appliedTo(platform).filter((kind) => files.has(NAMES[kind]));
    files.set(KUSTOMIZATION, kustomizationText(applied.map((kind) => NAMES[kind])));
    if (plan.style === 'nested') files.set(IMAGE_SET, imageSetText(plan));
  }
  files.set(REPORT, `${JSON.stringify(report, null, 2)}\n`);
  return files;
}

/** The objects of a kind as a list, whether the documents have one of them or several. */
function objectsOf(documents: MirrorDocuments, kind: keyof MirrorDocuments): readonly KubernetesObject[] {
  return [documents[kind]].flat();
}

/**
 * The ImageSetConfiguration (v2alpha1) of what was mirrored, for people who continue with oc-mirror. Each catalog is whole,
 * because a selection is an image of its own.
 */
function imageSetText({ catalogs, placements }: MirrorPlan): string {
  const additional = placements.filter(({ role }) => role === 'additional');
  // An image with a tag of its own has two places, and one entry here.
  const images = new Map(
    additional.map(({ written, platforms }) => [written, { name: written, ...platformFilter(platforms) }]),
  );
  return objectText({
    apiVersion: 'mirror.openshift.io/v2alpha1',
    kind: 'ImageSetConfiguration',
    mirror: {
      ...(images.size === 0 ? {} : { additionalImages: [...images.values()] }),
      operators: catalogs.map(({ reference, platforms }) => ({
        catalog: reference,
        full: true,
        ...platformFilter(platforms),
      })),
    },
  });
}

/** The platforms as oc-mirror's configuration names them. */
function platformFilter(platforms: readonly string[] = []): { platforms?: Json } {
  if (platforms.length === 0) return {};
  return {
    platforms: platforms.map((platform) => {
      const [os = '', architecture = ''] = platform.split('/');
      return { os, architecture };
    }),
  };
}
