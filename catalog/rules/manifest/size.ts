import type { Inspected } from '../../bundle/inspect.ts';
import type { Report, Rule } from '../rule.ts';

/** Most bytes of all files together, each compressed and as base64. */
const LARGEST = 1024 * 1024;
/** From this part of the limit on a bundle is near it. */
const NEAR = 0.85;
/** Files that are small in sum need no compressing to know that they fit. */
const SURELY_FITS = LARGEST * 0.6;

export const rule: Rule = {
  id: 'manifest/size',
  severity: 'error',
  summary: 'Reports bundles whose compressed manifests do not fit in a ConfigMap',
  opm: [
    'maximum bundle compressed size with gzip size exceeded: …',
    'nearing maximum bundle compressed size with gzip: …',
  ],
  inspect: checkSize,
};

/** OLM v0 unpacks a bundle into a ConfigMap, each file compressed and as base64. */
function checkSize({ manifests, options: { gzipLength } }: Inspected, report: Report): void {
  const size = manifests.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const encoded = manifests.reduce((sum, { bytes }) => sum + base64Length(bytes.length), 0);
  if (!gzipLength || encoded < SURELY_FITS) return;
  const compressed = manifests.reduce((sum, { bytes }) => sum + base64Length(gzipLength(bytes)), 0);
  const limit = bytesText(LARGEST);
  const found = `${bytesText(compressed)} compressed and in base64 (${bytesText(size)} uncompressed); the limit of OLM is ${limit}`;
  const place = { file: 'manifests', line: 1, column: 1 };
  const hint = 'shorten descriptions in the CRDs, and move icons and examples out of the bundle';
  if (compressed > LARGEST) report(`the manifests are too large: ${found}`, place, { hint });
  else if (compressed > LARGEST * NEAR)
    report(`the manifests are nearly too large: ${found}`, place, { hint, severity: 'warning' });
}

function base64Length(length: number): number {
  return Math.ceil(length / 3) * 4;
}

const UNITS = ['B', 'kB', 'MB', 'GB'];

function bytesText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power]}`;
}
