/** The `helm` part of an ImageSetConfiguration: charts from directories, archives and repositories. */
import type { Finding, Location } from '../../finding.ts';
import {
  any,
  isObject,
  listOf,
  objectsIn,
  type Path,
  type Shape,
  structShape,
  text,
  textOf,
} from '../../go/shape.ts';
import { type Platforms, withPlatforms } from '../platforms.ts';
import { type JsonPath, JsonPathError, parseJsonPath } from './json-path.ts';

/** A chart to mirror, or all charts of a repository. */
export interface ChartSelection {
  /** Empty for a chart on disk, and for all charts of a repository in all versions. */
  readonly name: string;
  /** A version or a range; absent: the newest. */
  readonly version?: string;
  /** A directory or an archive on disk. */
  readonly path?: string;
  readonly repository?: ChartRepository;
  /** Where else images are in the manifests. */
  readonly imagePaths: readonly JsonPath[];
  /** Platforms of the chart's images; absent: all. */
  readonly platforms?: readonly string[];
  /** Files with values instead of the chart's own, later ones first in rank. */
  readonly valuesFiles?: readonly string[];
  /** Values that count before those of files, as an object. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Where the configuration selects it. */
  readonly location: Location;
}

export interface ChartRepository {
  readonly name: string;
  /** `https://…`, or `oci://REGISTRY/PATH`. */
  readonly url: string;
}

/** The shape of the part, as oc-mirror declares it; `values` and `valuesFiles` are ours. */
export function helmShape(platformFilter: Shape): Shape {
  const charts = listOf(
    structShape('Chart', {
      name: text,
      version: text,
      path: text,
      imagePaths: listOf(text),
      valuesFiles: listOf(text),
      values: any,
      platforms: platformFilter,
    }),
  );
  return structShape('Helm', {
    repositories: listOf(structShape('Repository', { url: text, name: text, charts })),
    local: charts,
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** How the reader of a configuration reports defects and finds places. */
export interface SelectionReader {
  report(message: string, at: Path, severity?: Finding['severity']): void;
  locate(path: Path): Location;
  platforms(fields: Fields, path: Path): { readonly platforms?: Platforms };
}

/** Reads the charts of the part `helm`, whose shape fits; every defect is reported. */
export function readCharts(helm: unknown, path: Path, reader: SelectionReader): ChartSelection[] {
  if (!isObject(helm)) return [];
  const local = objectsIn(helm['local']).map((chart, i) => localChart(chart, [...path, 'local', i], reader));
  const remote = objectsIn(helm['repositories']).flatMap((repository, i) =>
    chartsOf(repository, [...path, 'repositories', i], reader),
  );
  return [...local, ...remote];
}

/** A chart on disk, which brings its name. */
function localChart(chart: Fields, path: Path, reader: SelectionReader): ChartSelection {
  const written = textOf(chart['path']);
  if (written === '') reader.report('a local chart has no path', path);
  return { ...selection(chart, path, reader), name: '', path: written };
}

/** The selected charts of one repository; one without a name stands for all. Reports what is wrong with the selection. */
function chartsOf(fields: Fields, path: Path, reader: SelectionReader): ChartSelection[] {
  const repository = { name: textOf(fields['name']), url: textOf(fields['url']) };
  if (!isRepositoryUrl(repository.url))
    reader.report(
      `the url of a chart repository must begin with https://, http:// or oci://, found ${JSON.stringify(repository.url)}`,
      [...path, 'url'],
    );
  const charts = objectsIn(fields['charts']);
  if (charts.length > 0) {
    return charts.map((chart, i) => {
      const at = [...path, 'charts', i];
      if (textOf(chart['name']) === '') reader.report('a chart has no name', at);
      return { ...selection(chart, at, reader), repository };
    });
  }
  if (repository.url.startsWith('oci://'))
    reader.report('a registry does not list its charts: name them in charts', path);
  // Without a list, all charts of the repository are selected.
  return [{ name: '', repository, imagePaths: [], location: reader.locate(path) }];
}

function isRepositoryUrl(url: string): boolean {
  return /^(?:https?|oci):\/\/[^/]/.test(url) && URL.canParse(url);
}

/** What charts on disk and those in repositories have in common. */
function selection(chart: Fields, path: Path, reader: SelectionReader): ChartSelection {
  const version = textOf(chart['version']);
  return {
    name: textOf(chart['name']),
    ...(version === '' ? {} : { version }),
    imagePaths: imagePathsOf(chart, path, reader),
    ...valuesOf(chart, path, reader),
    ...withPlatforms(reader.platforms(chart, path).platforms),
    location: reader.locate(path),
  };
}

/** The values that a chart is rendered with, and files of values. */
function valuesOf(
  chart: Fields,
  path: Path,
  reader: SelectionReader,
): Pick<ChartSelection, 'values' | 'valuesFiles'> {
  const { values } = chart;
  const files = (Array.isArray(chart['valuesFiles']) ? chart['valuesFiles'] : []).map(textOf);
  for (const [i, file] of files.entries())
    if (file === '' || /^\w+:\/\//.test(file))
      reader.report('a file of values must be a path', [...path, 'valuesFiles', i]);
  const isGiven = values !== undefined && values !== null;
  if (isGiven && !isObject(values))
    reader.report('the values of a chart must be a mapping', [...path, 'values']);
  return {
    ...(files.length > 0 && { valuesFiles: files }),
    ...(isObject(values) && { values }),
  };
}

/** The image paths that can be read; the others are reported. */
function imagePathsOf(chart: Fields, path: Path, reader: SelectionReader): JsonPath[] {
  const texts = Array.isArray(chart['imagePaths']) ? chart['imagePaths'] : [];
  return texts.flatMap((written: unknown, i) => {
    try {
      return [parseJsonPath(textOf(written))];
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
      reader.report(`the path ${JSON.stringify(written)} ${error.message}`, [...path, 'imagePaths', i]);
      return [];
    }
  });
}
