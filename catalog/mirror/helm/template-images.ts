/**
 * The images of a chart whose templates nobody renders. A template without expressions is YAML. Where anything depends on
 * an expression, images may be missing, and that is an error.
 */
import type { Finding, Location } from '../../finding.ts';
import { tryParseReference } from '../../reference.ts';
import { type ChartImages, imagesIn, type Manifest, RULE } from './chart-images.ts';
import type { JsonPath } from './json-path.ts';

export interface ChartTemplates {
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
