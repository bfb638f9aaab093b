/**
 * The images that the manifests of a Helm chart name: what pods run, fields called `image`, and what the `imagePaths` of
 * an ImageSetConfiguration select. oc-mirror looks into four places of each manifest, and not into hooks.
 *
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/helm/local_stored_collector.go
 */
import type { Finding, Location } from '../../finding.ts';
import { isObject, type Path } from '../../go/shape.ts';
import { tryParseReference } from '../../reference.ts';
import { type ReadObject, readObjects } from '../read.ts';
import { type JsonPath, JsonPathError, textsAt } from './json-path.ts';

export interface ChartImages {
  /** References as written, each once, in the order of the manifests. */
  readonly references: readonly string[];
  /** Where each reference was found first. */
  readonly locations: ReadonlyMap<string, Location>;
  /** Manifests that cannot be read, and texts that look like images and are not mirrored. */
  readonly findings: readonly Finding[];
}

/** What `helm template` puts before each manifest. */
const SOURCE = /^---\n# Source: (.*)\n/gm;

/**
 * Finds the images of rendered manifests.
 *
 * @param text the output of `helm template`
 */
export function imagesInManifests(
  text: string,
  chart: string,
  imagePaths: readonly JsonPath[] = [],
): ChartImages {
  return imagesIn(manifestsIn(text, chart), imagePaths);
}

/** Finds the images of manifests, each a stream of YAML documents. */
function imagesIn(manifests: readonly Manifest[], imagePaths: readonly JsonPath[]): ChartImages {
  const collector = new Collector(imagePaths);
  const findings: Finding[] = [];
  for (const { file, body } of manifests) {
    const read = readObjects(body, file);
    for (const finding of read.findings) findings.push({ ...finding, rule: RULE });
    for (const object of read.objects) {
      for (const finding of collector.add(object)) findings.push(finding);
    }
  }
  const { references } = collector;
  return {
    references: [...references.keys()],
    locations: references,
    findings: [...findings, ...collector.unselected()],
  };
}

const RULE = 'mirror/chart';

interface Manifest {
  /** Path of its template, with the name of the chart before it. */
  readonly file: string;
  readonly body: string;
}

/** The manifests in the output of `helm template`; a text that names no template is one manifest. */
function manifestsIn(text: string, chart: string): Manifest[] {
  const marks = [...text.matchAll(SOURCE)];
  if (marks.length === 0) return [{ file: chart, body: text }];
  return marks.map((mark, i) => ({
    file: mark[1] ?? chart,
    body: text.slice(mark.index + mark[0].length, marks[i + 1]?.index ?? text.length),
  }));
}

const CONTAINERS: ReadonlySet<string> = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** A reference with a host, a path, and a tag or digest: hardly any other text looks like it. */
const QUALIFIED =
  /(?<![\w./:@-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+(?::[\w][\w.-]{0,127}(?:@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})(?![\w/:@])/g;

/** Characters of a text in which images are looked for: longer ones are content, such as dashboards. */
const LONGEST = 4_096;

class Collector {
  readonly references = new Map<string, Location>();
  readonly #imagePaths: readonly JsonPath[];
  /** Texts that look like images, with where they are. */
  readonly #alike = new Map<string, Location>();

  constructor(imagePaths: readonly JsonPath[]) {
    this.#imagePaths = imagePaths;
  }

  /**
   * Collects the images in an object, and those at the chart's image paths.
   *
   * @returns findings about image paths that cannot be followed in it
   */
  add(object: ReadObject): Finding[] {
    const { value, document, path } = object;
    const here = (at: Path): Location => document.locate([...path, ...at]);
    // What describes a kind of object holds examples at most.
    if (object.kind !== 'CustomResourceDefinition') this.#walk(value, [], here);
    try {
      // As in oc-mirror, which splits the output of a path at spaces: a text may list several images.
      for (const selected of this.#imagePaths)
        for (const written of textsAt(value, selected).flatMap((text) => text.split(' ')))
          if (tryParseReference(written)) this.#note(written, here([]));
      return [];
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
      const message = `an image path ${error.message}`;
      const hint = 'name the fields in imagePaths, instead of ..';
      return [{ rule: RULE, severity: 'error', message, location: here([]), hint }];
    }
  }

  /** Looks at every text in a value, wherever it is. */
  #walk(value: unknown, path: Path, here: (path: Path) => Location): void {
    if (typeof value === 'string') this.#look(value, path, here);
    else if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) this.#walk(item, [...path, i], here);
    } else if (isObject(value)) {
      for (const [key, member] of Object.entries(value)) this.#walk(member, [...path, key], here);
    }
  }

  /**
   * Notes a text where images stand, and texts that look like images elsewhere. Of fields called `image`, only a
   * reference with a host counts: the field may hold other things.
   */
  #look(text: string, path: Path, here: (path: Path) => Location): void {
    if (text === '' || text.length > LONGEST) return;
    if (isOfContainer(path) || isOfVolume(path) || (path.at(-1) === 'image' && hasHostAndTag(text))) {
      this.#note(text, here(path));
      return;
    }
    for (const [found] of text.matchAll(QUALIFIED))
      if (!this.#alike.has(found)) this.#alike.set(found, here(path));
  }

  #note(written: string, location: Location): void {
    if (!this.references.has(written)) this.references.set(written, location);
  }

  /** Findings about texts that look like images and that nothing selects: a cluster may need them. */
  unselected(): Finding[] {
    return [...this.#alike].flatMap(([text, location]): Finding[] =>
      this.references.has(text)
        ? []
        : [
            {
              rule: RULE,
              severity: 'warning',
              message: `${text} looks like an image, but is not in a field for images: it is not mirrored`,
              location,
              hint: 'add it to additionalImages, or select its field with imagePaths',
            },
          ],
    );
  }
}

/** `containers[*].image`, wherever pods are described. */
function isOfContainer(path: Path): boolean {
  const [list, at, key] = path.slice(-3);
  return key === 'image' && typeof at === 'number' && typeof list === 'string' && CONTAINERS.has(list);
}

/** `volumes[*].image.reference`: an image as a volume. */
function isOfVolume(path: Path): boolean {
  const [list, at, image, key] = path.slice(-4);
  return list === 'volumes' && typeof at === 'number' && image === 'image' && key === 'reference';
}

/** Whether a text is a reference with a host and with a tag or digest; the host may be an address or a name with a port. */
function hasHostAndTag(text: string): boolean {
  const [, host = '', name = ''] = /^([^/]*)\/(?:.*\/)?([^/]*)$/.exec(text) ?? [];
  return /[.:]|^localhost$/.test(host) && /[:@]/.test(name) && tryParseReference(text) !== undefined;
}

// The images of a chart whose templates nobody renders. A template without expressions is YAML. Where anything depends on
// an expression, images may be missing, and that is an error.

interface ChartTemplates {
  /** Texts by path. */
  readonly templates: ReadonlyMap<string, string>;
  /** Subcharts that were not looked into: archives, and those that are not in the chart. */
  readonly unseen: readonly string[];
}

/**
 * The images that a chart's templates name, found without rendering them. What may be missing becomes a finding.
 *
 * @param imagePaths what is selected in templates without expressions
 */
export function imagesInTemplates(
  chart: string,
  { templates, unseen }: ChartTemplates,
  imagePaths: readonly JsonPath[] = [],
): ChartImages {
  const manifests: Manifest[] = [];
  const lines = new Map<string, Location>();
  const expressions: Location[] = [];
  const rendered = [...templates].filter(([path]) => !PARTIAL.test(path));
  for (const [path, text] of rendered) {
    const file = `${chart}/${path}`;
    const read = CRDS.test(path) ? text : withoutComments(text);
    if (typeof read === 'string') manifests.push({ file, body: read });
    else {
      expressions.push(placeOf(file, text, read.expression));
      for (const [written, location] of imageLines(file, text))
        if (!lines.has(written)) lines.set(written, location);
    }
  }
  const found = imagesIn(manifests, imagePaths);
  const locations = new Map([...lines, ...found.locations]);
  const [first] = expressions;
  const causes = [
    ...(first ? [`${expressions.length} of ${rendered.length} templates`] : []),
    ...(unseen.length > 0 ? [`the charts ${unseen.join(', ')}`] : []),
  ];
  const findings = causes.length > 0 ? [unrenderedFinding(chart, causes, first)] : [];
  return { references: [...locations.keys()], locations, findings: [...found.findings, ...findings] };
}

function unrenderedFinding(
  chart: string,
  causes: readonly string[],
  location: Location | undefined,
): Finding {
  return {
    rule: RULE,
    severity: 'error',
    message: `chart ${chart}: the program helm is not installed, so images that come from ${causes.join(' and ')} are not known`,
    location: location ?? { file: chart, line: 1, column: 1 },
    hint: 'install helm, or list the images in additionalImages and use --skip-unsupported',
  };
}

/** What helm installs as it is: it need not be CRDs. */
const CRDS = /^(?:charts\/[^/]+\/)*crds\//;

/** What helm only renders where another template includes it. */
const PARTIAL = /(?:^|\/)_[^/]*$/;

/** A line `image: …`, perhaps an item of a list, with or without quotes. */
const IMAGE_LINE = /^(\s*(?:-\s+)?image:\s+)(["']?)(\S+?)\2\s*(?:#[\s\S]*)?$/;

/** The images that a template with expressions names on lines of their own. */
function* imageLines(file: string, text: string): Generator<[written: string, Location]> {
  for (const [i, line] of text.split('\n').entries()) {
    const [, before = '', , written = ''] = IMAGE_LINE.exec(line) ?? [];
    if (written.includes('{{') || !tryParseReference(written)) continue;
    yield [written, { file, line: i + 1, column: before.length + 1 }];
  }
}

/**
 * A template without its comments, each line where it was; else where the first expression is. A comment that may join
 * lines, or cut one, counts as an expression.
 */
function withoutComments(text: string): string | { readonly expression: number } {
  const parts: string[] = [];
  let from = 0;
  let isStart = true;
  for (let at = text.indexOf('{{'); at >= 0; at = text.indexOf('{{', from)) {
    const before = text.slice(from, at);
    // Before a template's first text, a comment may cut white space: nothing is there to be joined.
    isStart &&= before.trim() === '';
    const end = text.indexOf('*/', at) + 2;
    const closing = COMMENT_END.exec(text.slice(end, end + LONGEST_END))?.[0] ?? '';
    // `end` is 1 where no comment ends.
    if (end < 2 || closing === '' || !COMMENT_START.test(text.slice(at, at + LONGEST_START)))
      return { expression: at };
    LINE_END.lastIndex = end + closing.length;
    const isAlone = /(?:^|\n)[ \t]*$/.test(before) && LINE_END.test(text) && closing === '}}';
    if (!isStart && !isAlone) return { expression: at };
    from = end + closing.length;
    parts.push(before, '\n'.repeat(text.slice(at, from).split('\n').length - 1));
  }
  return parts.join('') + text.slice(from);
}

const COMMENT_START = /^\{\{(?:-\s)?\/\*/;
const COMMENT_END = /^(?:\s-)?\}\}/;
/** Characters of `{{- /*` and ` -}}`, the longest texts that the two expressions match. */
const [LONGEST_START, LONGEST_END] = [6, 4];
const LINE_END = /[ \t]*(?:\r?\n|$)/y;

function placeOf(file: string, text: string, at: number): Location {
  const lines = text.slice(0, at).split('\n');
  return { file, line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
