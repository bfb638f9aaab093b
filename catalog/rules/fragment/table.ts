import { isWithin } from '../../fbc/dockerfile.ts';
import {
  CONFIGS_LABEL,
  catalogFolder,
  type Fragment,
  isIndexBase,
  repositoryOf,
  UNLABELED_FOLDER,
  VERSIONS_LABEL,
  withoutDigest,
} from '../../fbc/fragment.ts';
import { tryParseMinor } from '../../fbc/openshift.ts';
import { readsCsvMetadata } from '../../fbc/platform.ts';
import { parsedJson } from '../../json.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'fragment/base-image',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports a Dockerfile of a catalog on a base image that Konflux does not allow; those that it allows have opm and grpc_health_probe',
    opm: ['Base image B is not allowed for the file based catalog image.'],
    fragment({ base, path, place }, report) {
      if (base === undefined) {
        const message = `${path}: the base image depends on a build argument without a default, so it is not checked`;
        report(message, place, { severity: 'warning', hint: BASE_IMAGE_HINT });
        return;
      }
      if (ALLOWED.includes(repositoryOf(base))) return;
      report(`${path}: the base image ${quoted(base)} is not allowed for catalogs`, place, {
        hint: BASE_IMAGE_HINT,
      });
    },
  },
  {
    id: 'fragment/empty',
    severity: 'error',
    summary: `Reports a Dockerfile of a catalog that copies nothing to the folder of its label ${CONFIGS_LABEL}, where OLM v1 reads the catalog`,
    fragment(fragment, report) {
      const { path, place, files = [], labels } = fragment;
      const folder = catalogFolder(fragment);
      // Without any file, the base image may have the catalog.
      if (!folder || files.length === 0 || files.some((file) => isWithin(file.path, folder))) return;
      const line = labels.get(CONFIGS_LABEL)?.line ?? place.line;
      const message = `${path}: the label ${CONFIGS_LABEL} names ${folder}, and nothing is copied there`;
      report(message, { ...place, line }, { hint: `COPY catalog ${folder}` });
    },
  },
  {
    id: 'fragment/folders',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports a Dockerfile of a catalog whose folder has no folder of a package in it: Konflux refuses catalogs without one',
    opm: [
      "No package subdirectories found inside 'F'. At least one is required.",
      'F is missing catalog file.',
    ],
    fragment(fragment, report) {
      const { path, place, files } = fragment;
      const folder = catalogFolder(fragment);
      if (files === undefined || folder === undefined || folder === '') return;
      const inside = files.filter((file) => isWithin(file.path, folder) && file.path !== folder);
      if (inside.some((file) => file.path.slice(folder.length + 1).includes('/'))) return;
      const what =
        inside.length === 0
          ? `nothing is copied to ${folder}`
          : `${folder} has only files, and no folder of a package`;
      report(`${path}: ${what}`, place, { hint: `COPY catalog/ ${folder}/<package>/` });
    },
  },
  {
    id: 'fragment/label',
    severity: 'error',
    isOptional: true,
    summary: `Reports a Dockerfile of a catalog without the label ${CONFIGS_LABEL}, which names the catalog's folder`,
    opm: ["The 'operators.operatorframework.io.index.configs.v1' label should be defined for FBC image"],
    fragment({ path, labels, place }, report) {
      const label = labels.get(CONFIGS_LABEL);
      // An empty label names no folder.
      if (label && label.value !== '') return;
      const where = label ? { ...place, line: label.line } : place;
      report(`${path}: the image has no label ${CONFIGS_LABEL}`, where, {
        hint: `LABEL ${CONFIGS_LABEL}=/configs`,
      });
    },
  },
  {
    id: 'fragment/lost-catalog',
    severity: 'warning',
    harm: { rank: 10, kind: 'some' },
    summary: 'Reports changes of a Dockerfile, or of its .dockerignore, that leave a catalog in no image',
    fragment({ path, place, change }, report) {
      for (const catalog of change?.lost ?? []) {
        const { by } = change ?? {};
        const start =
          by === undefined
            ? `${path} no longer copies the catalog ${quoted(catalog)}`
            : `${by} leaves out the catalog ${quoted(catalog)}, which ${path} copies`;
        const hint =
          by === undefined ? 'copy its folder again, or delete the catalog' : 'let the build have its folder';
        const at = by === undefined ? place : { file: by, line: 1, column: 1 };
        report(`${start}, and no other Dockerfile does`, at, { hint });
      }
    },
  },
  {
    id: 'fragment/lost-label',
    severity: 'warning',
    harm: { rank: 10, kind: 'some' },
    summary: `Reports changes of a Dockerfile whose image loses the label ${CONFIGS_LABEL}, by which OLM v1 and oc-mirror find the catalog`,
    fragment({ path, place, base, labels, files, change }, report) {
      const was = change?.labels.get(CONFIGS_LABEL)?.value;
      const is = labels.get(CONFIGS_LABEL);
      if (!change || !was || (is && is.value !== '')) return;
      // Only a new base image may bring it: to one that stays, the Dockerfile had to add it.
      const mayInherit = base !== change.base && base !== 'scratch' && !isIndexBase(base);
      // The image may be one of something else now.
      const folder = catalogFolder(change) ?? '';
      const isCatalog = isIndexBase(base) || files?.some((file) => isWithin(file.path, folder));
      if (mayInherit || !isCatalog) return;
      const message = `${path}: the image loses the label ${CONFIGS_LABEL}, by which OLM v1 and oc-mirror find the catalog`;
      report(message, place, { hint: `LABEL ${CONFIGS_LABEL}=${was}` });
    },
  },
  {
    id: 'fragment/package',
    severity: 'error',
    isOptional: true,
    summary: 'Reports a Dockerfile of a catalog that copies no olm.package into it',
    opm: ['There are no olm package entries defined in this FBC fragment.'],
    fragment(fragment, report) {
      if (fragment.hasPackage !== false) return;
      const message = `${fragment.path}: no file in ${catalogFolder(fragment)} has an olm.package`;
      report(message, fragment.place, { hint: 'copy the catalog of at least one package' });
    },
  },
  {
    id: 'fragment/served-folder',
    severity: 'error',
    harm: { rank: 10, kind: 'some' },
    summary:
      "Reports changes of a Dockerfile after which the image's command serves another folder than that of the catalog, which OLM v1 and oc-mirror read",
    fragment(fragment, report) {
      const { path, place, served, change } = fragment;
      if (!change || !served) return;
      const folderOf = (image: Pick<Fragment, 'labels'>): string => catalogFolder(image) ?? UNLABELED_FOLDER;
      const [was, folder] = [change.served?.folder, folderOf(fragment)];
      const isAsBefore = served.folder === was && (was === undefined || folder === folderOf(change));
      if (served.folder === folder || isAsBefore) return;
      const what = served.folder === undefined ? 'what only the image knows' : quoted(served.folder);
      const message = `${path}: the command of the image serves ${what} to clusters with OLM v0, and the catalog is in ${quoted(folder)}`;
      report(message, { ...place, line: served.line }, { hint: `CMD ["serve", "${folder}"]` });
    },
  },
  {
    id: 'fragment/unknown-catalog',
    severity: 'error',
    harm: { rank: 10, kind: 'some' },
    summary:
      'Reports changes of a Dockerfile after which only a build knows which catalog its image has, so that no check sees what clusters get',
    fragment({ path, place, files, change }, report) {
      const [first, ...others] = change?.had ?? [];
      if (files !== undefined || first === undefined) return;
      const had = `the catalog ${quoted(first)}${others.length === 0 ? '' : ` and ${others.length} more`}`;
      const message = `${path}: the image had ${had}, and only a build knows what it has now, so Portolan did not check it`;
      report(message, place, {
        hint: 'copy a folder of this repository, without build arguments and other images',
      });
    },
  },
  {
    id: 'fragment/unpinned',
    severity: 'warning',
    summary: 'Reports changes of the base image of a catalog from a digest to a tag',
    fragment({ path, place, base, change }, report) {
      if (!change?.base?.includes('@') || base?.includes('@') || base === 'scratch') return;
      const now = base === undefined ? 'what a build argument says' : quoted(base);
      const message = `${path}: the base image was ${quoted(change.base)} and is now ${now}, which may be another one at each build`;
      report(message, place, { hint: 'write the digest' });
    },
  },
  {
    id: 'fragment/versions',
    severity: 'error',
    isOptional: true,
    summary:
      'Reports a Dockerfile of a catalog without the versions of OpenShift that it is for, in a label or as the tag of its base image',
    opm: [
      `Label "${VERSIONS_LABEL}" must contain a non-empty JSON array`,
      'Invalid OCP version V (expected format v4.x/v5.x or 4.x/5.x).',
      'No ocp version found; base image tag is empty.',
    ],
    fragment({ path, place, base, labels }, report) {
      const label = labels.get(VERSIONS_LABEL);
      if (label?.value !== undefined) {
        const versions = parsedJson(label.value);
        const wrong = defectOf(label.value, versions);
        const where = { ...place, line: label.line };
        if (wrong !== undefined) report(`${path}: ${VERSIONS_LABEL} ${wrong}`, where, { hint: LABEL_HINT });
        else if (isSplit(versions))
          report(`${path}: ${SPLIT}`, where, { severity: 'warning', hint: SPLIT_HINT });
      }
      if (label || base === undefined || withoutDigest(base) !== repositoryOf(base)) return;
      const message = `${path}: the base image ${quoted(base)} has no tag, which would name the version of OpenShift`;
      report(message, place, { hint: LABEL_HINT });
    },
  },
];

/** The base images that the task `validate-fbc` 0.2 allows. */
const ALLOWED = [
  'registry.redhat.io/openshift4/ose-operator-registry',
  'registry.redhat.io/openshift4/ose-operator-registry-rhel9',
  'registry.redhat.io/openshift5/ose-operator-registry',
  'registry.redhat.io/openshift5/ose-operator-registry-rhel9',
  'brew.registry.redhat.io/rh-osbs/openshift-ose-operator-registry-rhel9',
];

const BASE_IMAGE_HINT = 'FROM registry.redhat.io/openshift4/ose-operator-registry-rhel9:v4.20';

/** What is wrong with the label of versions; undefined if nothing is. */
function defectOf(text: string, versions: unknown): string | undefined {
  if (!Array.isArray(versions) || versions.length === 0)
    return `must be a list in JSON with at least one version, found ${quoted(text)}`;
  const bad = versions.find((version) => !/^v?[45]\.\d+$/.test(String(version)));
  return bad === undefined ? undefined : `must have versions such as v4.20, found ${quoted(String(bad))}`;
}

const SPLIT =
  'OpenShift before 4.17 reads olm.bundle.object, since then olm.csv.metadata: no catalog serves both';
const SPLIT_HINT = 'build an image for the versions before 4.17, and another one for those since';

/** Whether some of the versions read one format of metadata, and some the other. */
function isSplit(versions: unknown): boolean {
  const minors = [versions].flat().flatMap((version) => tryParseMinor(String(version)) ?? []);
  return new Set(minors.map(readsCsvMetadata)).size > 1;
}

const LABEL_HINT = `LABEL ${VERSIONS_LABEL}='["v4.19","v4.20"]'`;
