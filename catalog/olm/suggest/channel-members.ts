/** The channels of a suggested upgrade graph: which bundles each is made of, and where its upgrades lead. */
import { headOf } from '../../fbc/channel.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import { quoted } from '../../names.ts';
import { Undecided } from '../../undecided.ts';
import type { Version } from '../../version/version.ts';
import { compareVersions } from '../../version/version.ts';
import { compareInstalled } from '../foresight/installation.ts';
import { type ChannelScheme, type GraphPolicy, keepsChannels } from './policy.ts';

export interface ChannelMembers {
  readonly name: string;
  /** Names of bundles. */
  readonly members: readonly string[];
  /** Name of the bundle to which all upgrades lead; empty where nothing may be installed. */
  readonly head: string;
  /** Undefined for a new channel. */
  readonly today: Channel | undefined;
}

/** The bundles and the head of each suggested channel. A kept channel keeps its head unless the policy avoids it. */
export function channelMembers(ofPackage: Package, policy: GraphPolicy): ChannelMembers[] {
  if (!keepsChannels(policy))
    return policy.channels.flatMap((scheme) => newChannels(scheme, ofPackage, policy));
  return [...ofPackage.channels.values()].map((channel) => {
    const members = channel.entries.map(({ name }) => name);
    const head = headOf(channel)?.name;
    const isOpen = head !== undefined && !policy.avoid.has(head);
    return {
      name: channel.name,
      members,
      head: isOpen ? head : newest(members, ofPackage, policy),
      today: channel,
    };
  });
}

/** Of all new channels together. */
const MOST_MEMBERS = 1_000_000;

/** @throws Undecided for too many members */
function newChannels(scheme: ChannelScheme, ofPackage: Package, policy: GraphPolicy): ChannelMembers[] {
  const bundles = [...ofPackage.bundles.values()].filter(({ version }) => version);
  const released = bundles.filter(({ version }) => version?.prerelease.length === 0);
  const made = (name: string, all: readonly Bundle[]): ChannelMembers[] => {
    const members = all.map((bundle) => bundle.name);
    const head = newest(members, ofPackage, policy);
    return head === '' ? [] : [{ name, members, head, today: undefined }];
  };
  if (scheme === 'stable') return made('stable', released);
  if (scheme === 'candidate') return made('candidate', bundles);
  const groups = [...newestByNumber(scheme, released, policy)];
  if (groups.length * released.length > MOST_MEMBERS)
    throw new Undecided(
      `the upgrades of package ${quoted(ofPackage.name)}`,
      'it has too many versions for so many channels',
    );
  return groups.flatMap(([name, highest]) =>
    made(
      name,
      released.filter(({ version }) => version && compareVersions(version, highest) <= 0),
    ),
  );
}

/** The newest version of each minor or major version, by the name of its channel. */
function newestByNumber(
  scheme: ChannelScheme,
  released: readonly Bundle[],
  { supported }: GraphPolicy,
): Map<string, Version> {
  const groups = new Map<string, Version>();
  for (const { version } of [...released].sort(compareInstalled)) {
    if (!version) continue;
    const { major, minor } = version;
    const isSupported = supported.some((one) => one.major === Number(major) && one.minor === Number(minor));
    if (scheme === 'minor' && supported.length > 0 && !isSupported) continue;
    groups.set(scheme === 'minor' ? `stable-v${major}.${minor}` : `stable-v${major}`, version);
  }
  return groups;
}

/** The newest bundle that may be installed, or the empty string. */
function newest(
  names: readonly string[],
  { bundles, deprecatedBundles }: Package,
  { avoid }: GraphPolicy,
): string {
  const known = names.flatMap((name) => bundles.get(name) ?? []);
  const allowed = known.filter(({ name, version }) => version && !avoid.has(name));
  const current = allowed.filter(({ name }) => !deprecatedBundles.has(name));
  return (current.length > 0 ? current : allowed).sort(compareInstalled).at(-1)?.name ?? '';
}
