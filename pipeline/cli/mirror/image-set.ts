/** An ImageSetConfiguration as a command line names it: read, and its catalogs opened. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compareFindings } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { CatalogSourceTemplate } from '../../../catalog/mirror/documents/documents.ts';
import type { ImageSet } from '../../../catalog/mirror/image-set.ts';
import { readObjects } from '../../../catalog/mirror/read.ts';
import type { ReleaseSignature } from '../../../catalog/mirror/release/signatures.ts';
import type { OpenCatalog } from '../../catalogs/source/open.ts';
import { readFileBytes, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { ChartsOutcome } from '../../mirror/charts/read-charts.ts';
import type { ReadCharts } from '../../mirror/prepare.ts';
import type { ReleaseOutcome } from '../../mirror/releases/read-release.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Invocation, Option } from '../command.ts';
import { openOperand } from '../operands.ts';

interface OpenImageSet {
  readonly imageSet: ImageSet;
  /** In the order of the configuration. */
  readonly catalogs: readonly OpenCatalog[];
  /** Its charts and its release. */
  readonly groups: ReadCharts;
  /** Of its release. */
  readonly signatures: readonly ReleaseSignature[];
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
  const content = readText(resolve(terminal.directory, file));
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
    const release = await releaseOf(imageSet, invocation, terminal);
    const groups = {
      groups: [...(charts?.groups ?? []), ...(release?.groups ?? [])],
      findings: [...(charts?.findings ?? []), ...(release?.findings ?? [])],
    };
    const { signatures = [] } = release ?? {};
    return { imageSet, catalogs, groups, signatures, fetched: charts?.fetched ?? [], close };
  } catch (error) {
    await close();
    throw error;
  }
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

/** Reads the payload of the release of a configuration, and its signatures. */
async function releaseOf(
  { release }: ImageSet,
  invocation: Invocation,
  terminal: Terminal,
): Promise<ReleaseOutcome | undefined> {
  if (!release) return undefined;
  const { readRelease } = await import('../../mirror/releases/read-release.ts');
  const { OpenPgpError, readKeyring } = await import('../../mirror/releases/openpgp.ts');
  const { RED_HAT_KEYS } = await import('../../mirror/releases/red-hat-key.ts');
  const { RED_HAT_SIGNATURES } = await import('../../mirror/releases/signatures.ts');
  const { clientOptions, registryClientFor } = await import('../registry-access.ts');
  const { openDownloads } = await import('../../mirror/charts/download.ts');
  const written = invocation.text('release-signatures') ?? RED_HAT_SIGNATURES;
  const isRemote = /^https?:\/\//.test(written);
  const hosts = isRemote && URL.canParse(written) ? [new URL(written).host] : [];
  const keyFile = invocation.text('release-key');
  const key =
    keyFile === undefined ? Buffer.from(RED_HAT_KEYS) : readFileBytes(resolve(terminal.directory, keyFile));
  const keyringOf = (): ReturnType<typeof readKeyring> => {
    try {
      return readKeyring(key);
    } catch (error) {
      if (!(error instanceof OpenPgpError)) throw error;
      throw new PipelineError('usage', `--release-key: ${keyFile} ${error.message}`, { cause: error });
    }
  };
  const keys = keyringOf();
  const client = registryClientFor(invocation, terminal, { named: [release.reference] });
  const { download, close } = openDownloads(clientOptions(invocation, terminal, { hosts }));
  const place = isRemote ? written : resolve(terminal.directory, written);
  const store = { place, keys, download, now: terminal.now().getTime() };
  try {
    return await readRelease(release, {
      registry: client,
      signatures: written === 'none' ? undefined : store,
    });
  } finally {
    close();
    client.close();
  }
}

/** Options for the releases of a configuration. */
export const RELEASE_OPTIONS: Readonly<Record<string, Option>> = {
  'release-signatures': {
    value: 'DIR|URL|none',
    description:
      'signatures of the release, laid out as sha256=DIGEST/signature-1 (default: those of Red Hat)',
  },
  'release-key': {
    value: 'FILE',
    description: 'OpenPGP key that signs the release (default: the keys of Red Hat)',
  },
};

/** Writes the charts of repositories below `charts/`: clusters install them from there. */
export function writeCharts(folder: string, { fetched }: Pick<ChartsOutcome, 'fetched'>): void {
  if (fetched.length === 0) return;
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
  const { name: _name, namespace: _namespace, ...others } = isObject(metadata) ? metadata : {};
  return {
    metadata: others as CatalogSourceTemplate['metadata'],
    spec: (isObject(spec) ? spec : {}) as CatalogSourceTemplate['spec'],
  };
}
