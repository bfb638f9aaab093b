import { type Blob, type Bundle, type Channel, locate, type Package } from '../../fbc/model.ts';
import { nameEnd } from '../../names.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/suspicious-name',
  severity: 'error',
  summary:
    'Reports ambiguous channel names, bundle names that do not contain the version, and names that may look like others',
  checkWorld(world, report) {
    for (const pkg of checkedPackages(world)) {
      for (const channel of pkg.channels.values()) checkChannel(world, channel, report);
      for (const bundle of pkg.bundles.values()) checkVersion(pkg.name, bundle, report);
      for (const { what, blob } of namedBlobs(pkg)) checkLetters(pkg.name, { what, blob }, report);
    }
  },
};

interface NamedBlob {
  readonly what: string;
  readonly blob: Blob;
}

/** Everything in a package that has a name. */
function namedBlobs({ blob, channels, bundles }: Package): NamedBlob[] {
  return [
    ...(blob ? [{ what: 'package', blob }] : []),
    ...[...channels.values()].map((one) => ({ what: 'channel', blob: one })),
    ...[...bundles.values()].map((one) => ({ what: 'bundle', blob: one })),
  ];
}

/** A name with a letter of another alphabet, or a character without a shape, looks like a name that it is not. */
function checkLetters(ofPackage: string, { what, blob }: NamedBlob, report: Report): void {
  const [other] = /[^ -~]/u.exec(blob.name) ?? [];
  if (other === undefined) return;
  const code = other.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const message = `${what} ${quoted(blob.name)} of package ${quoted(ofPackage)} has the character U+${code}, so it may look like another name`;
  const hint = 'use only letters, digits and signs of ASCII in names';
  report(message, locate(blob, 'name'), { package: ofPackage, severity: 'warning', hint });
}

function checkChannel(world: World, channel: Channel, report: Report): void {
  const defect = channelDefect(world, channel);
  if (!defect) return;
  const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: ${defect.why}`;
  const details = {
    package: channel.package,
    channel: channel.name,
    severity: defect.severity,
    hint: 'name: stable',
  };
  report(message, locate(channel, 'name'), details);
}

function checkVersion(ofPackage: string, bundle: Bundle, report: Report): void {
  const other = otherVersionIn(bundle);
  if (other === undefined || !bundle.version) return;
  const version = formatVersion(bundle.version);
  const message = `bundle ${quoted(bundle.name)} of package ${quoted(ofPackage)} has version ${version}, but its name contains ${other}`;
  const hint = `name: ${ofPackage}.v${version}`;
  const details = { package: ofPackage, subject: bundle.name, severity: 'warning' as const, hint };
  report(message, locate(bundle, 'name'), details);
}

/** What is odd about the name of a channel; undefined if nothing is. */
function channelDefect(
  { olm }: World,
  { name }: Channel,
): { why: string; severity: 'error' | 'warning' } | undefined {
  if (name.includes('/') && olm.has('v0')) {
    return { why: 'OLM v0 cannot install from a channel with a slash in its name', severity: 'error' };
  }
  if ([...name].length === 1)
    return { why: 'a name of one character is probably a typo', severity: 'warning' };
  return /^[a-z0-9]/i.test(name)
    ? undefined
    : { why: 'the name does not start with a letter or digit', severity: 'warning' };
}

/** A version in a bundle's name (`1.2.3` of `x.v1.2.3`), where its own is not there: that of something else may come before it. */
function otherVersionIn({ name, version }: Bundle): string | undefined {
  if (!version) return undefined;
  const written = [...nameEnd(name).matchAll(/[.-]v?([0-9]+\.[0-9]+\.[0-9]+)(?=[-+_.]|$)/g)].map(
    (one) => one[1],
  );
  return written.includes(`${version.major}.${version.minor}.${version.patch}`) ? undefined : written[0];
}
