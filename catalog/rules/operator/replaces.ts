import { member } from '../../bundle/inspect.ts';
import { isForOpenshift, OPENSHIFT_VERSIONS } from '../../bundle/openshift-range.ts';
import type { OperatorBundle, OperatorFolder } from '../../bundle/operator-folder.ts';
import { formatMinor, type Minor } from '../../fbc/openshift.ts';
import { knownPlatforms } from '../../fbc/platform.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/replaces',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a bundle that replaces a bundle which is not there, or which is for fewer versions of OpenShift',
  opm: [
    'B attempts to replace itself.',
    "B attempts to replace version 'V' which does not exist in the submitted PR branch.",
    'Replaces bundle B V does not support the same OCP versions as bundle C W.',
  ],
  operator(operator, report) {
    if (usesCatalogs(operator)) return;
    for (const bundle of operator.changed) checkReplaces(bundle, operator, report);
  },
};

function checkReplaces(bundle: OperatorBundle, operator: OperatorFolder, report: Report): void {
  const replaces = member(bundle.csv, 'spec')['replaces'];
  const place = bundle.csvFile?.locate('spec', 'replaces');
  if (!replaces || !place) return;
  const say = (message: string, hint: string): void =>
    report(`bundle ${quoted(bundle.folder)} ${message}`, place, { package: operator.name, hint });
  const version = versionIn(String(replaces));
  const versions = operator.bundles.flatMap(({ name }) => name?.version ?? []);
  if (version === undefined)
    say(`replaces ${quoted(String(replaces))}, which has no version`, `replaces: ${operator.name}.v…`);
  else if (version === bundle.name?.version) say('replaces itself', 'replaces: the previous version');
  else {
    // If two folders have one version, the later one counts.
    const replaced = operator.bundles.findLast(({ name }) => name?.version === version);
    if (!replaced)
      say(
        `replaces version ${quoted(version)}, which has no folder; there are ${versions.map(quoted).join(', ')}`,
        'rebase onto the base branch, or replace a version that is there',
      );
    else checkPlatforms(bundle, replaced, say);
  }
}

function versionIn(name: string): string | undefined {
  const delimiter = name.includes('.v') ? '.v' : '.';
  const at = name.indexOf(delimiter);
  return at < 0 ? undefined : name.slice(at + delimiter.length);
}

function checkPlatforms(
  bundle: OperatorBundle,
  replaced: OperatorBundle,
  say: (message: string, hint: string) => void,
): void {
  const [own, other] = [bundle, replaced].map(({ annotations }) => annotations[OPENSHIFT_VERSIONS]);
  if (own === other) return;
  const more = knownPlatforms().filter(
    (platform) => isFor(own, platform) && isFor(other, platform) === false,
  );
  if (more.length === 0) return;
  const shown = more.map(formatMinor).join(', ');
  say(
    `is also for OpenShift ${shown}, but replaces ${quoted(replaced.folder)}, which is not`,
    `${OPENSHIFT_VERSIONS}: ${other}`,
  );
}

function isFor(range: unknown, platform: Minor): boolean | undefined {
  return isForOpenshift(range === undefined ? undefined : String(range), platform);
}
