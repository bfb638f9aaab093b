/** Checks of a bundle's place among the versions of its package, and of its image. */

import { type Inspected, memberText, memberTexts, PREFIX } from '../../bundle/inspect.ts';
import { readDockerfile } from '../../fbc/dockerfile.ts';
import { jsonText } from '../../json.ts';
import { tryParseRange } from '../../version/version.ts';
import type { Report } from '../rule.ts';
import { csvCheck, csvText } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

export const checkSkipRange: Check = csvCheck((csv, report) => {
  const range = csv.annotations['olm.skipRange'];
  if (range === undefined || tryParseRange(range)) return;
  const message = `${csvText(csv)}: olm.skipRange ${JSON.stringify(range)} is not a valid range of semantic versions, so OLM skips nothing`;
  report(message, csv.at('metadata', 'annotations', 'olm.skipRange'), {
    hint: "olm.skipRange: '>=1.0.0 <1.2.0'",
  });
});

export const checkSelfReplacement: Check = csvCheck((csv, report) => {
  if (csv.name !== '' && memberText(csv.spec, 'replaces') === csv.name)
    report(`${csvText(csv)} replaces itself`, csv.at('spec', 'replaces'));
  const at = memberTexts(csv.spec, 'skips').indexOf(csv.name);
  if (csv.name !== '' && at >= 0) report(`${csvText(csv)} skips itself`, csv.at('spec', 'skips', at));
});

/** The labels of a bundle's image by key, from the image or else from its Dockerfile, without those that only a build knows. */
function labelsOf({ options: { labels, dockerfile } }: Inspected): ReadonlyMap<string, string> {
  if (labels) return labels;
  const image = readDockerfile(dockerfile?.text ?? '').at(-1);
  return new Map(
    [...(image?.labels ?? [])].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]])),
  );
}

export const checkLabels: Check = (bundle, report) => {
  const { annotations } = bundle;
  if (!annotations) return;
  for (const [key, label] of labelsOf(bundle)) {
    const value = annotations.values[key];
    if (!key.startsWith(PREFIX) || value === label) continue;
    const found = value === undefined ? 'the annotation is missing' : `the annotation is ${jsonText(value)}`;
    const message = `the image has the label ${key}=${JSON.stringify(label)}, but ${found}: OLM uses the annotation, and catalogs may be built from either`;
    report(message, annotations.document.locate([annotations.key, key]), { hint: `${key}: ${label}` });
  }
};
