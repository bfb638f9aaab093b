/** An ImageSetConfiguration as a command line names it: read, and its catalogs opened. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compareFindings } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { CatalogSourceTemplate, DocumentOptions } from '../../../catalog/mirror/documents/documents.ts';
import type { ImageSet } from '../../../catalog/mirror/image-set.ts';
import { readObjects } from '../../../catalog/mirror/read.ts';
import type { OpenCatalog } from '../../catalogs/source/open.ts';
import { readContent, readText, refuseLinkOut } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { ChartsOutcome } from '../../mirror/charts/read-charts.ts';
import type { ReadCharts } from '../../mirror/prepare.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Invocation } from '../command.ts';
import { openOperand } from '../operands.ts';
import type { PlatformOutcome } from './platform.ts';

interface OpenImageSet {
  readonly imageSet: ImageSet;
  /** In the order of the configuration. */
  readonly catalogs: readonly OpenCatalog[];
  /** Its charts and its releases. */
  readonly groups: ReadCharts;
  /** What clusters are told of its releases. */
  readonly documents: Pick<DocumentOptions, 'releaseSignatures' | 'updateGraph'>;
  /** Charts of repositories, for the other side. */
  readonly fetched: ChartsOutcome['fetched'];
  /** Closes the catalogs, and deletes the fetched charts. */
  close(): Promise<void>;
}

/**
 * Reads the configuration and opens its catalogs; `oci://DIR` is an image layout.
 *
 * @throws PipelineError `usage` when it cannot be followed, and as `openOperand`
 */
export async function openImageSet(
  file: string,
  invocation: Invocation,
  terminal: Terminal,
): Promise<OpenImageSet> {
  const { readImageSet } = await import('../../../catalog/mirror/image-set.ts');
  const content = new TextDecoder().decode(readContent(resolve(terminal.directory, file)));
  const { imageSet, findings } = readImageSet(content, file, invocation.flag('skip-unsupported'));
  for (const finding of [...findings].sort(compareFindings)) terminal.err(findingText(finding));
  if (!imageSet) throw new PipelineError('usage', `Portolan cannot follow the configuration in ${file}`);
  const catalogs: OpenCatalog[] = [];
  let charts: ChartsOutcome | undefined;
  const close = async (): Promise<void> => {
    charts?.close();
    for (const one of catalogs) await one.close();
  };
  try {
    for (const { catalog } of imageSet.catalogs) {
      catalogs.push(await openOperand(catalog.replace(/^oci:\/\//, 'oci:'), invocation, terminal));
    }
    charts = await chartsOf(imageSet, invocation, terminal);
    const releases = await releasesOf(imageSet, invocation, terminal);
    const groups = {
      groups: [...(charts?.groups ?? []), ...(releases?.groups ?? [])],
      findings: [...(charts?.findings ?? []), ...(releases?.findings ?? [])],
      images: releases?.images ?? [],
    };
    const { documents = {} } = releases ?? {};
    return { imageSet, catalogs, groups, documents, fetched: charts?.fetched ?? [], close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reads the releases of a configuration: what reads them is loaded for those that have some. */
async function releasesOf(
  { platform, deletes = false }: ImageSet,
  invocation: Invocation,
  terminal: Terminal,
): Promise<PlatformOutcome | undefined> {
  if (!platform) return undefined;
  const { readPlatform } = await import('./platform.ts');
  return readPlatform(platform, deletes, { invocation, terminal });
}

/** Fetches and renders the charts of a configuration. */
async function chartsOf(
  { charts = [] }: ImageSet,
  invocation: Invocation,
  terminal: Terminal,
): Promise<ChartsOutcome | undefined> {
  if (charts.length === 0) return undefined;
  const { readCharts } = await import('../../mirror/charts/read-charts.ts');
  const { clientOptions, registryClientFor } = await import('../registry-access.ts');
  const { openDownloads } = await import('../../mirror/charts/download.ts');
  // Who writes a repository into the configuration means its host.
  const hosts = charts.flatMap(({ repository }) => (repository ? [new URL(repository.url).host] : []));
  const client = registryClientFor(invocation, terminal, { hosts });
  const { download, close } = openDownloads(clientOptions(invocation, terminal, { hosts }));
  try {
    return await readCharts(charts, {
      download,
      registry: client,
      directory: terminal.directory,
      environment: terminal.environment,
      platform: invocation.text('platform'),
      unseen: invocation.flag('skip-unsupported') ? 'warning' : 'error',
    });
  } finally {
    close();
    client.close();
  }
}

/** Writes the charts of repositories below `charts/`: clusters install them from there. */
export function writeCharts(folder: string, { fetched }: Pick<ChartsOutcome, 'fetched'>): void {
  if (fetched.length === 0) return;
  refuseLinkOut(join(folder, CHARTS));
  mkdirSync(join(folder, CHARTS), { recursive: true });
  for (const { file, path } of fetched) copyFileSync(path, join(folder, CHARTS, file));
}

const CHARTS = 'charts';

/**
 * The CatalogSources to begin from that a configuration names, by the reference of the catalog.
 *
 * @throws PipelineError `usage` for a file without a CatalogSource, `not-found`
 */
export function catalogSourceTemplates(
  { catalogs }: ImageSet,
  directory: string,
): ReadonlyMap<string, CatalogSourceTemplate> {
  return new Map(
    catalogs.flatMap(({ catalog, targetCatalogSourceTemplate: file }) =>
      file === undefined ? [] : [[catalog, templateIn(resolve(directory, file), file)] as const],
    ),
  );
}

/** The template of CatalogSources in a file. @throws PipelineError `usage` if that is not one CatalogSource */
function templateIn(path: string, written: string): CatalogSourceTemplate {
  const { objects, findings } = readObjects(readText(path), written);
  const [wrong] = findings;
  if (wrong) throw new PipelineError('usage', `${written}:${wrong.location.line}: ${wrong.message}`);
  const [object] = objects;
  if (!object || objects.length > 1 || object.kind !== 'CatalogSource') {
    const message = `the targetCatalogSourceTemplate ${written} must be one CatalogSource`;
    throw new PipelineError('usage', message);
  }
  const { metadata, spec } = object.value;
  // The plan gives the CatalogSource its name and namespace.
  const { name: _name, namespace: _namespace, ...others } = isObject(metadata) ? metadata : {};
  return {
    metadata: others as CatalogSourceTemplate['metadata'],
    spec: (isObject(spec) ? spec : {}) as CatalogSourceTemplate['spec'],
  };
}
