import { memberObject } from '../../bundle/inspect.ts';
import { OPENSHIFT_VERSIONS } from '../../bundle/openshift-range.ts';
import type { OperatorBundle, OperatorFolder } from '../../bundle/operator-folder.ts';
import { compareMinors, formatMinor, type Minor } from '../../fbc/openshift.ts';
import { knownPlatforms, kubernetesOf } from '../../fbc/platform.ts';
import type { Location, Severity } from '../../finding.ts';
import { jsonText } from '../../json.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/kubernetes-version',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a bundle for a version of OpenShift that has an older Kubernetes than the bundle requires',
  opm: [
    'OCP version(s) V conflict with minKubeVersion=K',
    'minKubeVersion is set to K but com.redhat.openshift.versions is not set',
    'Invalid minKubeVersion: E',
    'Invalid com.redhat.openshift.versions: E',
  ],
  operator(operator, report) {
    if (usesCatalogs(operator)) return;
    for (const bundle of operator.changed) checkVersions(bundle, operator, report);
  },
};

/** The last version of OpenShift in the table of operator-pipelines: it does not fail a bundle for later ones. */
const LAST_KNOWN: Minor = { major: 4, minor: 17 };

type Say = (message: string, location: Location, hint: string, severity?: Severity) => void;

/** Reports a bundle whose `minKubeVersion` cannot be read, or that does not say for which OpenShift it is. */
function checkVersions(bundle: OperatorBundle, operator: OperatorFolder, report: Report): void {
  const written = memberObject(bundle.csv, 'spec')['minKubeVersion'];
  if (!written || !bundle.csvFile) return;
  const own = bundle.csvFile.locate('spec', 'minKubeVersion');
  const say: Say = (message, location, hint, severity = 'error') =>
    report(`bundle ${quoted(bundle.folder)} ${message}`, location, {
      package: operator.name,
      hint,
      severity,
    });
  const minimum = typeof written === 'string' ? partialVersion(written.trim()) : undefined;
  if (!minimum) {
    say(`has minKubeVersion ${jsonText(written)}, which is not a version`, own, 'minKubeVersion: 1.25.0');
    return;
  }
  const range = bundle.annotations[OPENSHIFT_VERSIONS];
  if (range === undefined || range === null || range === '') {
    const message = `has minKubeVersion ${written}, but no annotation ${OPENSHIFT_VERSIONS}: it would be in catalogs of all versions`;
    say(message, own, `${OPENSHIFT_VERSIONS}: v4.12`);
    return;
  }
  const place = bundle.annotationsFile?.locate('annotations', OPENSHIFT_VERSIONS) ?? own;
  const platforms = platformsIn(String(range).trim());
  if (!platforms) {
    const message = `has ${OPENSHIFT_VERSIONS} ${jsonText(range)}, which is not a range of versions`;
    say(message, place, `${OPENSHIFT_VERSIONS}: v4.12-v4.16`);
    return;
  }
  if (isOldList(String(range)))
    say(
      `has the list ${jsonText(range)} in ${OPENSHIFT_VERSIONS}: lists are only for 4.5 and 4.6`,
      place,
      `${OPENSHIFT_VERSIONS}: v4.12-v4.16`,
      'warning',
    );
  const older = platforms.filter((platform) => !hasKubernetes(platform, minimum));
  if (older.length > 0)
    reportOlder(older, minimum, (message, hint, severity) =>
      say(`${message} ${written}`, place, hint, severity),
    );
}

/** Reports the versions of OpenShift whose Kubernetes is too old. That operator-pipelines does not know one is a warning. */
function reportOlder(
  older: readonly Minor[],
  minimum: Release,
  say: (message: string, hint: string, severity: Severity) => void,
): void {
  const message = `is for OpenShift ${older.map(formatMinor).join(', ')}, which has an older Kubernetes than minKubeVersion`;
  const isTheirs = older.some((platform) => compareMinors(platform, LAST_KNOWN) <= 0);
  const first = knownPlatforms().find((platform) => hasKubernetes(platform, minimum));
  const hint = first ? `${OPENSHIFT_VERSIONS}: v${formatMinor(first)}` : 'write an earlier minKubeVersion';
  say(message, hint, isTheirs ? 'error' : 'warning');
}

interface Release extends Minor {
  readonly patch: number;
}

/** A version of which the minor version and the patch may be missing, as Python's semver reads it. */
function partialVersion(text: string): Release | undefined {
  const [, major, minor = '0', patch = '0'] =
    /^(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?(?:\.(0|[1-9]\d*))?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(
      text,
    ) ?? [];
  return major === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** The versions of OpenShift that the annotation means for operator-pipelines; undefined for what it cannot read. */
function platformsIn(selector: string): Minor[] | undefined {
  const one = (text: string): Minor | undefined => partialVersion(text.trim().replace(/^v/, ''));
  const known = knownPlatforms();
  const from = (low: Minor): Minor[] => known.filter((platform) => compareMinors(platform, low) >= 0);
  if (selector.includes('-')) {
    const at = selector.indexOf('-');
    const [low, high] = [one(selector.slice(0, at)), one(selector.slice(at + 1))];
    return low && high && from(low).filter((platform) => compareMinors(platform, high) <= 0);
  }
  if (selector.includes(',')) {
    const all = selector.split(',').map(one);
    // A list means every version from its lowest on.
    const listed = all.filter((each) => each !== undefined).sort(compareMinors);
    return listed.length === all.length && listed[0] ? from(listed[0]) : undefined;
  }
  const only = one(selector.replace(/^=/, ''));
  if (!only || !selector.startsWith('=')) return only && from(only);
  // For an unknown version it uses the last known one before.
  return [compareMinors(only, LAST_KNOWN) > 0 ? LAST_KNOWN : only];
}

/** Whether a range is a list of other versions than the only ones that lists were for. */
function isOldList(range: string): boolean {
  const listed = range.split(',').map((one) => one.trim().replace(/^v/, ''));
  return !range.includes('-') && listed.length > 1 && [...new Set(listed)].sort().join() !== '4.5,4.6';
}

/** Of a platform only the minor version of its Kubernetes is known, so it counts as the first patch. */
function hasKubernetes(platform: Minor, { major, minor, patch }: Release): boolean {
  const kubernetes = kubernetesOf(platform);
  if (!kubernetes) return true;
  if (kubernetes.major !== major) return kubernetes.major > major;
  return kubernetes.minor > minor || (kubernetes.minor === minor && patch === 0);
}
