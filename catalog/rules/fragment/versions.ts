import { repositoryOf, VERSIONS_LABEL, withoutDigest } from '../../fbc/fragment.ts';
import { tryParseMinor } from '../../fbc/openshift.ts';
import { readsCsvMetadata } from '../../fbc/platform.ts';
import { parsedJson } from '../../json.ts';
import { quoted, type Rule } from '../rule.ts';

const HINT = `LABEL ${VERSIONS_LABEL}='["v4.19","v4.20"]'`;

export const rule: Rule = {
  id: 'fragment/versions',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a Dockerfile of a catalog without the versions of OpenShift that it is for, in a label or as the tag of its base image',
  opm: [
    `Label "${VERSIONS_LABEL}" must contain a non-empty JSON array`,
    'Invalid OCP version V (expected format v4.x/v5.x or 4.x/5.x).',
    'No ocp version found; base image tag is empty.',
  ],
  fragment({ path, place, base, labels }, report) {
    const label = labels.get(VERSIONS_LABEL);
    if (label?.value !== undefined) {
      const versions = parsedJson(label.value);
      const wrong = defectOf(label.value, versions);
      const where = { ...place, line: label.line };
      if (wrong !== undefined) report(`${path}: ${VERSIONS_LABEL} ${wrong}`, where, { hint: HINT });
      else if (isSplit(versions))
        report(`${path}: ${SPLIT}`, where, { severity: 'warning', hint: SPLIT_HINT });
    }
    if (label || base === undefined || withoutDigest(base) !== repositoryOf(base)) return;
    const message = `${path}: the base image ${quoted(base)} has no tag, which would name the version of OpenShift`;
    report(message, place, { hint: HINT });
  },
};

function defectOf(text: string, versions: unknown): string | undefined {
  if (!Array.isArray(versions) || versions.length === 0)
    return `must be a list in JSON with at least one version, found ${quoted(text)}`;
  const bad = versions.find((version) => !/^v?[45]\.\d+$/.test(String(version)));
  return bad === undefined ? undefined : `must have versions such as v4.20, found ${quoted(String(bad))}`;
}

const SPLIT =
  'OpenShift before 4.17 reads olm.bundle.object, since then olm.csv.metadata: no catalog serves both';
const SPLIT_HINT = 'build an image for the versions before 4.17, and another one for those since';

function isSplit(versions: unknown): boolean {
  const minors = [versions].flat().flatMap((version) => tryParseMinor(String(version)) ?? []);
  return new Set(minors.map(readsCsvMetadata)).size > 1;
}
