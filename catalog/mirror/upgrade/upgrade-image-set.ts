/** The ImageSetConfiguration of an upgrade: what the plan needs, and nothing else. */
import { emitPortableYaml } from '../../yaml/emit.ts';
import type { Json } from '../../yaml/scalar.ts';
import type { PackageSelection } from '../image-set.ts';
import type { Architecture } from '../release/release-selection.ts';
import type { UpgradePlan } from './plan-upgrade.ts';
import type { ReleaseStep } from './release-path.ts';

/** The ImageSetConfiguration that mirrors everything an upgrade plan needs. */
export function upgradeImageSet({ releases, stages }: UpgradePlan, architecture: Architecture): string {
  const channels = channelsOf(releases);
  const operators = stages.flatMap(({ selections }) =>
    [...selections].map(([{ reference }, packages]) => ({
      catalog: reference,
      packages: packages.map(packageEntry),
    })),
  );
  // A configuration without architectures is for amd64.
  return emitPortableYaml({
    kind: 'ImageSetConfiguration',
    apiVersion: 'mirror.openshift.io/v2alpha1',
    mirror: {
      ...(channels.length > 0
        ? { platform: { channels, ...(architecture === 'amd64' ? {} : { architectures: [architecture] }) } }
        : {}),
      ...(operators.length > 0 ? { operators } : {}),
    },
  });
}

/** A package in the `operators` of an ImageSetConfiguration. */
function packageEntry({ name, defaultChannel, channels }: PackageSelection): Json {
  return {
    name,
    ...(defaultChannel === undefined ? {} : { defaultChannel }),
    channels: channels.map((channel): Json => ({ ...channel })),
  };
}

/** One entry for each channel, from the first release of the path in it to the last one. */
function channelsOf(releases: readonly ReleaseStep[]): Json[] {
  return [...new Set(releases.map(({ channel }) => channel))].map((name) => {
    const own = releases.filter(({ channel }) => channel === name).map(({ release }) => release.version);
    return {
      name,
      minVersion: own[0] ?? '',
      maxVersion: own.at(-1) ?? '',
      ...(own.length > 1 ? { shortestPath: true } : {}),
    };
  });
}
