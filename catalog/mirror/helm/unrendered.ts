/**
 * The images of a chart whose templates nobody renders: those that templates name without a template expression. Where
 * anything depends on an expression, images may be missing, and that is an error.
 */
import type { Finding, Location } from '../../finding.ts';
import { tryParseReference } from '../../reference.ts';
import type { ChartImages } from './chart-images.ts';

/** A line `image: …`, perhaps an item of a list, with or without quotes. */
const IMAGE_LINE = /^(\s*(?:-\s+)?image:\s+)(["']?)(\S+?)\2\s*(?:#[\s\S]*)?$/;
const EXPRESSION = /\{\{(?!-?\s*\/\*)/;

/**
 * @param templates texts by path
 * @param packed subcharts that are archives, and were not looked into
 */
export function imagesInTemplates(
  chart: string,
  templates: ReadonlyMap<string, string>,
  packed: readonly string[] = [],
): ChartImages {
  const locations = new Map<string, Location>();
  const hidden: Location[] = [];
  for (const [path, text] of templates) {
    const file = `${chart}/${path}`;
    for (const [i, line] of text.split('\n').entries()) {
      const [, before = '', , written = ''] = IMAGE_LINE.exec(line) ?? [];
      if (written.includes('{{') || !tryParseReference(written) || locations.has(written)) continue;
      locations.set(written, { file, line: i + 1, column: before.length + 1 });
    }
    const at = text.search(EXPRESSION);
    if (at >= 0) hidden.push(placeOf(file, text, at));
  }
  const [first] = hidden;
  const unseen = [
    ...(first ? [`${hidden.length} of ${templates.size} templates`] : []),
    ...(packed.length > 0 ? [`the charts ${packed.join(', ')}`] : []),
  ];
  const finding: Finding = {
    rule: 'mirror/chart',
    severity: 'error',
    message: `chart ${chart}: the program helm is not installed, so images that come from ${unseen.join(' and ')} are not known`,
    location: first ?? { file: chart, line: 1, column: 1 },
    hint: 'install helm, or list the images in additionalImages and use --skip-unsupported',
  };
  return { references: [...locations.keys()], locations, findings: unseen.length > 0 ? [finding] : [] };
}

function placeOf(file: string, text: string, at: number): Location {
  const lines = text.slice(0, at).split('\n');
  return { file, line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
