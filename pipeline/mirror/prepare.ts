/**
 * Preparing a mirror: read the catalogs, plan, write the files that carry the plan out.
 */

import { load } from '../../catalog/fbc/load.ts';
import { type Blobs, catalogOf } from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import {
  type DocumentOptions,
  type MirrorDocuments,
  mirrorDocuments,
} from '../../catalog/mirror/documents/documents.ts';
import { PLAN_FILES, planFiles } from '../../catalog/mirror/files.ts';
import type { ImageGroup } from '../../catalog/mirror/image-group.ts';
import type { CatalogSelection, ImageSet } from '../../catalog/mirror/image-set.ts';
import {
  type CatalogImages,
  catalogImages,
  type DeployedImages,
  imagesOf,
} from '../../catalog/mirror/images.ts';
import { InvalidOption } from '../../catalog/mirror/invalid-option.ts';
import { imageSetRequest, type MirrorPlan, planMirror } from '../../catalog/mirror/plan.ts';
import type { AdditionalImage, CatalogRequest, PlanRequest } from '../../catalog/mirror/plan-request.ts';
import { type MirrorReport, mirrorReport, planFindings } from '../../catalog/mirror/report.ts';
import { needsWith } from '../../catalog/mirror/select/bundle-requirements.ts';
import { filterImageSet, takesAll } from '../../catalog/mirror/select/image-set-filter.ts';
import { type Choice, type Kept, selectPackages } from '../../catalog/mirror/select/select.ts';
import { shellWord } from '../../catalog/names.ts';
import { celFor } from '../../catalog/olm/foresight/world.ts';
import { InvalidReference } from '../../catalog/reference.ts';
import { opmFindings } from '../../catalog/rules/opm.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { PipelineError } from '../error.ts';
import { type Written, writeFiles } from '../write.ts';

/** A catalog to mirror, and what it is called. */
interface MirroredCatalog extends Omit<CatalogRequest, 'images' | 'selected'> {
  readonly source: CatalogSource;
  /** Which packages of it; empty: all. */
  readonly choices?: readonly Choice[] | undefined;
  /** Finds the images of deployments that the catalog does not hold. */
  readonly deployed?: DeployedImages | undefined;
}

export interface MirrorRequest extends Omit<PlanRequest, 'catalogs'> {
  readonly catalogs: readonly MirroredCatalog[];
  readonly documents: DocumentOptions;
}

export interface MirrorOutcome {
  readonly plan: MirrorPlan;
  readonly documents: MirrorDocuments;
  readonly report: MirrorReport;
  /** Findings in the catalogs and the plan; errors mean that images would be missing. */
  readonly findings: readonly Finding[];
  /** Bundles that stay in a selection although no filter selected them. */
  readonly kept: readonly Kept[];
  /** The images that each catalog's selection needs. */
  readonly images: readonly CatalogImages[];
  /** The selected parts of catalogs, for building their images; undefined for whole ones. */
  readonly selections: readonly (Blobs | undefined)[];
  /** The images of charts. */
  readonly groups?: readonly ImageGroup[];
}

/**
 * Plans a mirror of catalogs.
 *
 * @throws PipelineError `usage` for options that cannot be followed
 */
export async function prepareMirror(request: MirrorRequest): Promise<MirrorOutcome> {
  const read = await Promise.all(request.catalogs.map((catalog) => readCatalog(catalog)));
  const catalogs = request.catalogs.map((catalog, i) => requestOf(catalog, read[i]));
  return outcomeOf({ ...request, catalogs }, request.documents, read);
}

/** A catalog of an ImageSetConfiguration, opened. */
export interface SelectedCatalog {
  /** Finds the images of deployments that the catalog does not hold. */
  readonly deployed?: DeployedImages | undefined;
  readonly source: CatalogSource;
  readonly digest: string | undefined;
  /** The place of the selection's image. */
  readonly from?: string | undefined;
  /** The image holds a catalog and no program that serves it. */
  readonly serverless?: boolean | undefined;
}

interface ImageSetPlanRequest extends Omit<PlanRequest, 'catalogs' | 'additional' | 'blocked'> {
  readonly imageSet: ImageSet;
  /** In the order of the configuration. */
  readonly catalogs: readonly SelectedCatalog[];
  /** Its charts and releases, with what is wrong with them. */
  readonly charts?: ReadCharts | undefined;
  readonly documents: DocumentOptions;
}

/** The charts or releases of a configuration. */
export interface ReadCharts {
  readonly groups: readonly ImageGroup[];
  readonly findings: readonly Finding[];
  /** Images that belong to none of them. */
  readonly images?: readonly AdditionalImage[];
}

/**
 * Plans a mirror of what an ImageSetConfiguration selects.
 *
 * @throws PipelineError `usage` for options that cannot be followed
 */
export async function prepareImageSet(request: ImageSetPlanRequest): Promise<MirrorOutcome> {
  const { imageSet, documents, charts = NO_CHARTS } = request;
  const read = await Promise.all(
    imageSet.catalogs.map(async (selection, i) => readSelection(selection, request.catalogs[i])),
  );
  const images = read.map((one, i) => ({
    images: one.images,
    digest: request.catalogs[i]?.digest,
    from: request.catalogs[i]?.from,
    serverless: request.catalogs[i]?.serverless,
  }));
  const asked = imageSetRequest(imageSet, images, charts.groups);
  const additional = [...(asked.additional ?? []), ...(charts.images ?? [])];
  return outcomeOf({ ...request, ...asked, additional }, documents, read, charts);
}

const NO_CHARTS: ReadCharts = { groups: [], findings: [] };

/** Reads the part of a catalog that an ImageSetConfiguration selects. */
async function readSelection(
  selection: CatalogSelection,
  opened: SelectedCatalog | undefined,
): Promise<ReadCatalog> {
  if (!opened) throw new TypeError('internal error: a catalog is not open');
  const { blobs, findings } = await load(opened.source);
  const filtered = filterImageSet(blobs, selection);
  const wrong = [...findings, ...filtered.findings, ...absentNames(selection, blobs)];
  // Only a part of a catalog gets an image of its own, which opm must be able to serve.
  const isMade = !takesAll(selection) && wrong.every(({ severity }) => severity !== 'error');
  return {
    images: imagesOf({ ...filtered.blobs, bundles: filtered.mirrored }, opened.deployed),
    findings: isMade ? [...wrong, ...whyUnserved(selection, filtered.blobs)] : wrong,
    kept: [],
    selection: takesAll(selection) ? undefined : filtered.blobs,
  };
}

/** Findings about why opm would refuse the selected part of a catalog. */
function whyUnserved({ catalog }: CatalogSelection, blobs: Blobs): Finding[] {
  const [first, ...more] = opmFindings(blobs).filter(({ severity }) => severity === 'error');
  if (!first) return [];
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  return [
    {
      rule: 'mirror/selection',
      severity: 'error',
      message: `opm rejects the selection from ${catalog}: ${first.message}${others}`,
      location: first.location,
      hint: 'select other channels or versions, or the whole catalog (full: true, no packages)',
    },
  ];
}

/** Findings about selected names that do not exist: otherwise a typo shows only on the disconnected side. */
function absentNames({ catalog, packages }: CatalogSelection, blobs: Blobs): Finding[] {
  const there = new Set(blobs.packages.map(({ name }) => name));
  const channels = new Set(blobs.channels.map((one) => JSON.stringify([one.package, one.name])));
  const words = packages.flatMap(({ name, channels: chosen }) =>
    there.has(name)
      ? chosen
          .filter((channel) => !channels.has(JSON.stringify([name, channel.name])))
          .map((channel) => `channel ${JSON.stringify(channel.name)} of package ${JSON.stringify(name)}`)
      : [`package ${JSON.stringify(name)}`],
  );
  return words.map((what) => ({
    rule: 'mirror/selection',
    severity: 'error',
    message: `${catalog} has no ${what}`,
    location: { file: 'ImageSetConfiguration', line: 1, column: 1 },
    hint: `portolan list channels ${shellWord(catalog)}: lists its packages and their channels`,
  }));
}

/** The plan with its documents, report and findings. */
function outcomeOf(
  request: PlanRequest,
  options: DocumentOptions,
  read: readonly ReadCatalog[],
  charts: ReadCharts = NO_CHARTS,
): MirrorOutcome {
  return asUsage(() => {
    const plan = planMirror(request);
    const documents = mirrorDocuments(plan, options);
    const images = read.map((one) => one.images);
    return {
      plan,
      documents,
      report: mirrorReport(plan, documents, { images, groups: charts.groups, platform: options.platform }),
      findings: [...read.flatMap(({ findings }) => findings), ...charts.findings, ...planFindings(plan)],
      groups: charts.groups,
      images,
      kept: read.flatMap(({ kept }) => kept),
      selections: read.map(({ selection }) => selection),
    };
  });
}

interface ReadCatalog {
  readonly images: CatalogImages;
  readonly findings: readonly Finding[];
  readonly kept: readonly Kept[];
  readonly selection: Blobs | undefined;
}

/** Reads a catalog, or the packages of it that were chosen. */
async function readCatalog({ source, choices = [], deployed }: MirroredCatalog): Promise<ReadCatalog> {
  if (choices.length === 0) {
    const images = await catalogImages(source, deployed);
    return { images, findings: images.findings, kept: [], selection: undefined };
  }
  const { blobs, findings } = await load(source);
  const catalog = catalogOf(blobs);
  // The selection also takes the bundles that chosen ones require, also by constraints in CEL.
  const requirementsOf = needsWith(await celFor([{ catalog }]));
  const chosen = selectPackages(catalog, choices, requirementsOf);
  return {
    images: imagesOf(chosen.blobs, deployed),
    findings: [...findings, ...chosen.findings],
    kept: chosen.kept,
    selection: chosen.blobs,
  };
}

/**
 * What a plan needs of a catalog that was read. A selection without a place of its own is planned as such.
 */
function requestOf(
  { source: _source, choices: _choices, deployed: _deployed, ...catalog }: MirroredCatalog,
  read: ReadCatalog | undefined,
): CatalogRequest {
  if (!read) throw new TypeError('internal error: a catalog is not loaded');
  return {
    ...catalog,
    images: read.images,
    selected: read.selection !== undefined && catalog.from === undefined,
  };
}

/** Writes the plan's files; files of an earlier plan that this one does not have are removed. */
export function writePlan(folder: string, outcome: MirrorOutcome, options: DocumentOptions): Written {
  return writeFiles(folder, planFiles({ ...outcome, options }), PLAN_FILES);
}

/** Runs a step of the library; options that it cannot follow are errors of usage. */
export function asUsage<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof InvalidOption || error instanceof InvalidReference)
      throw new PipelineError('usage', error.message, { cause: error });
    throw error;
  }
}
