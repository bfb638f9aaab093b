/** Templates for suggested upgrade graphs. */
import type { Bundle, Package } from '../../fbc/model.ts';
import { compareInstalled } from '../../olm/foresight/installation.ts';
import { channelOf } from '../../olm/suggest/suggested-channel.ts';
import type { Suggestion } from '../../olm/suggest/suggestion.ts';
import { BASIC_SCHEMA } from './basic.ts';
import { type ChannelKind, SEMVER_SCHEMA } from './semver-read.ts';

/** Names of bundles whose image is unknown, which no template can do without. */
export function withoutImage(ofPackage: Package, { dropped }: Suggestion): string[] {
  return [...ofPackage.bundles.values()]
    .filter(({ name, image }) => image === '' && !dropped.includes(name))
    .map(({ name }) => name);
}

/** A basic template with the suggested channels, and the images of the bundles that they have. */
export function basicTemplate(ofPackage: Package, suggestion: Suggestion): Readonly<Record<string, unknown>> {
  const { name, blob, bundles, deprecation, deprecatedChannels, deprecatedBundles } = ofPackage;
  const { channels, defaultChannel, dropped } = suggestion;
  const templateBundles = [...bundles.values()]
    .filter((one) => !dropped.includes(one.name))
    .sort(compareInstalled);
  const reference = (schema: string, to: Iterable<readonly [string, string]>): object[] =>
    [...to].map(([one, message]) => ({ reference: { schema, name: one }, message }));
  const deprecations = [
    ...(deprecation === undefined ? [] : [{ reference: { schema: 'olm.package' }, message: deprecation }]),
    ...reference(
      'olm.channel',
      [...deprecatedChannels].filter(([one]) => channels.some((channel) => channel.name === one)),
    ),
    ...reference(
      'olm.bundle',
      [...deprecatedBundles].filter(([one]) => !dropped.includes(one)),
    ),
  ];
  return {
    schema: BASIC_SCHEMA,
    entries: [
      { ...(blob?.value ?? { schema: 'olm.package', name }), defaultChannel },
      ...channels.map((channel) => channelOf(ofPackage, channel).value),
      ...templateBundles.map(({ image }) => ({ schema: 'olm.bundle', image })),
      ...(deprecations.length === 0
        ? []
        : [{ schema: 'olm.deprecations', package: name, entries: deprecations }]),
    ],
  };
}

/**
 * A semver template with every version that may be installed: its channels have no ranges, so what it does not name
 * would have no upgrade path. Pre-releases are candidates, all others stable.
 */
export function semverTemplate(
  { bundles }: Package,
  { kind, avoid }: { readonly kind: ChannelKind; readonly avoid: ReadonlySet<string> },
): Readonly<Record<string, unknown>> {
  const all = [...bundles.values()]
    .filter(({ name, version }) => version && !avoid.has(name))
    .sort(compareInstalled);
  const listed = (wanted: (bundle: Bundle) => boolean): object => ({
    bundles: all.filter(wanted).map(({ image }) => ({ image })),
  });
  const isStable = ({ version }: Bundle): boolean => version?.prerelease.length === 0;
  return {
    schema: SEMVER_SCHEMA,
    generateMajorChannels: kind === 'major',
    generateMinorChannels: kind === 'minor',
    ...(all.every(isStable) ? {} : { candidate: listed((one) => !isStable(one)) }),
    stable: listed(isStable),
  };
}
