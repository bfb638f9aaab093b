/** The charts of an ImageSetConfiguration: fetched, rendered, and their images found. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatMinor, type Minor, tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { kubernetesOf } from '../../../catalog/fbc/platform.ts';
import type { Finding } from '../../../catalog/finding.ts';
import {
  type ChartImages,
  imagesInManifests,
  imagesInTemplates,
} from '../../../catalog/mirror/helm/chart-images.ts';
import type { ChartSelection } from '../../../catalog/mirror/helm/chart-selection.ts';
import { groupName, type ImageGroup } from '../../../catalog/mirror/image-group.ts';
import { withPlatforms } from '../../../catalog/mirror/platforms.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { digestOf } from '../../oci/digest.ts';
import { eachOf } from '../../parallel.ts';
import { temporaryFolder } from '../../write.ts';
import type { ReadCharts } from '../prepare.ts';
import { readChartFiles } from './chart-files.ts';
import { renderChart } from './render.ts';
import { chartsIn, type RemoteChart, type RepositoryPorts } from './repository.ts';

interface ChartPorts extends RepositoryPorts {
  /** Where paths of the configuration begin. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** OpenShift version of the clusters, such as `4.20`; absent: a current one. */
  readonly platform?: string | undefined;
  /** Severity of what is unknown without the program helm. */
  readonly unseen: 'error' | 'warning';
}

/** A chart of a repository as it was fetched, for the other side of an air gap. */
interface FetchedChart {
  /** `NAME-VERSION.tgz`. */
  readonly file: string;
  /** Where it is until the outcome is closed: a repository taken whole has more than memory should hold. */
  readonly path: string;
}

export interface ChartsOutcome extends ReadCharts {
  readonly fetched: readonly FetchedChart[];
  /** Deletes the fetched charts. */
  readonly close: () => void;
}

/** The Kubernetes, that of OpenShift 4.20, for charts without a platform, and for platforms whose Kubernetes is not known. */
const CURRENT: Minor = { major: 1, minor: 33 };
/** Charts that are rendered at a time, each in a process that may take as much memory as `RENDER_LIMITS` allows. */
const PARALLEL = 2;

/** Reads charts; what is wrong with one is a finding, and does not stop the others. */
export async function readCharts(
  selections: readonly ChartSelection[],
  ports: ChartPorts,
): Promise<ChartsOutcome> {
  const findings: Finding[] = [];
  const scratch = temporaryFolder('charts');
  const close = (): void => rmSync(scratch, { recursive: true, force: true });
  /** Tries something for a selection. */
  const attempt = async <T>(selection: ChartSelection, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      findings.push(failedChart(selection, error));
      return undefined;
    }
  };
  try {
    const { wanted, unread } = await wantedCharts(selections, ports, attempt);
    const groups: (ImageGroup | undefined)[] = wanted.map(() => undefined);
    const saved: SavedChart[] = [];
    await eachOf([...wanted.entries()], PARALLEL, async ([i, { selection, remote }]) => {
      const read = await attempt(selection, async () => {
        const own = join(scratch, String(i));
        mkdirSync(own);
        // Beside the chart's own folder, which is deleted once it is rendered.
        const path = remote ? `${own}.tgz` : resolve(ports.directory, selection.path ?? '');
        if (remote) {
          writeFileSync(path, await remote.fetch());
          saved[i] = { selection, remote, path };
        }
        return groupOf(path, selection, { remote, scratch: own, ports });
      });
      rmSync(join(scratch, String(i)), { recursive: true, force: true });
      groups[i] = read?.group ?? unreadGroup(selection);
      for (const finding of read?.findings ?? []) findings.push(finding);
    });
    // In the order of the selections; `Object.values` leaves out the holes of charts that were not fetched.
    const kept = keptCharts(Object.values(saved));
    return {
      groups: [...groups.filter((group) => group !== undefined), ...unread],
      findings: [...findings, ...kept.findings],
      fetched: kept.fetched,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * The files of values of a chart, copied: helm would fetch what it takes for a URL.
 *
 * @throws PipelineError `not-found`, `io`
 */
function valuesOf(
  { valuesFiles = [], values }: ChartSelection,
  directory: string,
  scratch: string,
): readonly string[] {
  const texts = [
    ...valuesFiles.map((file) => readFileBytes(resolve(directory, file))),
    ...(values === undefined ? [] : [JSON.stringify(values)]),
  ];
  return texts.map((text, i) => {
    const path = join(scratch, `values-${i}.yaml`);
    writeFileSync(path, text);
    return path;
  });
}

interface WantedChart {
  readonly selection: ChartSelection;
  /** Absent for a chart on disk. */
  readonly remote?: RemoteChart;
}

/** The charts that selections name, and a group for each selection whose repository cannot be read. */
async function wantedCharts(
  selections: readonly ChartSelection[],
  ports: ChartPorts,
  attempt: <T>(selection: ChartSelection, work: () => Promise<T>) => Promise<T | undefined>,
): Promise<{ readonly wanted: readonly WantedChart[]; readonly unread: readonly ImageGroup[] }> {
  const wanted: WantedChart[] = [];
  const unread: ImageGroup[] = [];
  for (const selection of selections) {
    const { repository } = selection;
    if (!repository) wanted.push({ selection });
    else {
      const charts = await attempt(selection, async () => chartsIn(repository, selection, ports));
      if (charts) wanted.push(...charts.map((remote) => ({ selection, remote })));
      else unread.push(unreadGroup(selection));
    }
  }
  return { wanted, unread };
}

/** The placeholder for a chart that could not be read. */
function unreadGroup({ name, path, repository }: ChartSelection): ImageGroup {
  const origin = path ?? repository?.url ?? '';
  return {
    kind: 'chart',
    name: name || origin,
    version: '',
    origin,
    references: [],
    locations: new Map(),
    isPartial: true,
  };
}

/** The finding for a chart that could not be read: the others are mirrored all the same. */
function failedChart({ name, path, location }: ChartSelection, error: PipelineError): Finding {
  const chart = name === '' ? (path ?? 'the repository') : `chart ${name}`;
  return {
    rule: 'mirror/chart',
    severity: 'error',
    message: `${chart}: ${error.message}`,
    location,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

/** A chart of a repository in a file whose name does not contain the chart's: the repository chooses that. */
interface SavedChart {
  readonly selection: ChartSelection;
  readonly remote: RemoteChart;
  readonly path: string;
}

/**
 * The charts that are written to the folder `charts/`, and a finding for each that is not: the name and version must make a
 * plain file name, as both are the repository's words and must not lead out of that folder, and no other chart may have it.
 * The images of all of them are mirrored.
 */
function keptCharts(saved: readonly SavedChart[]): Pick<ChartsOutcome, 'fetched' | 'findings'> {
  const kept = new Map<string, SavedChart>();
  const findings: Finding[] = [];
  for (const chart of saved) {
    const { selection, remote, path } = chart;
    const file = `${remote.name}-${remote.version}.tgz`;
    const before = kept.get(file);
    const isFileName = /^[\w.+-]+$/.test(file) && !file.startsWith('.');
    const isOther = before && digestOf(readFileBytes(before.path)) !== digestOf(readFileBytes(path));
    if (!isFileName) findings.push(unkeptChart(selection, file, 'that is not a file name'));
    else if (isOther) findings.push(unkeptChart(selection, file, `${before.remote.url} has it, too`));
    else if (!before) kept.set(file, chart);
  }
  return { fetched: [...kept].map(([file, { path }]) => ({ file, path })), findings };
}

/** The finding for a chart whose images are mirrored, but that is not in the plan itself. */
function unkeptChart({ location }: ChartSelection, file: string, why: string): Finding {
  return {
    rule: 'mirror/chart',
    severity: 'error',
    message: `the chart itself cannot be kept as ${JSON.stringify(`charts/${file}`)}: ${why}`,
    location,
    hint: 'carry this chart over by hand, or plan it in a configuration of its own',
  };
}

/** The images of one chart. Without helm they are found in the templates, and may be incomplete. */
async function groupOf(
  path: string,
  selection: ChartSelection,
  { remote, scratch, ports }: { remote: RemoteChart | undefined; scratch: string; ports: ChartPorts },
): Promise<{ group: ImageGroup; findings: readonly Finding[] }> {
  const files = await readChartFiles(path, scratch);
  const { name, version } = files;
  const home = join(scratch, 'helm');
  mkdirSync(home);
  const platform = tryParseMinor(ports.platform ?? '');
  // helm refuses to render a library: it has no manifests of its own.
  const text = files.isLibrary
    ? ''
    : await renderChart(path, {
        environment: ports.environment,
        scratch: home,
        values: valuesOf(selection, ports.directory, scratch),
        kubernetes: formatMinor((platform && kubernetesOf(platform)) ?? CURRENT),
      });
  const found: ChartImages =
    text === undefined
      ? imagesInTemplates(name, files, selection.imagePaths)
      : imagesInManifests(text, groupName({ name, version }), selection.imagePaths);
  const findings = found.findings.map((one) =>
    text === undefined && one.severity === 'error' ? { ...one, severity: ports.unseen } : one,
  );
  const artifact = remote?.artifact === undefined ? [] : [remote.artifact];
  return {
    group: {
      kind: 'chart',
      name,
      version,
      origin: remote?.url ?? selection.path ?? '',
      references: [...new Set([...found.references, ...artifact])],
      locations: found.locations,
      ...withPlatforms(selection.platforms),
      ...(findings.some(({ severity }) => severity === 'error') && { isPartial: true as const }),
    },
    findings,
  };
}
