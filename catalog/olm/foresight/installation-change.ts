/**
 * Moves: what a change of a catalog does to each installation.
 */
import type { Installed } from '../../fbc/edge.ts';
import type { UpgradePath } from './foresight.ts';
import { type Installation, publishedInstallations, withoutChannels } from './installation.ts';
import type { Change, Olm } from './world.ts';

export interface InstallationChange {
  readonly package: string;
  readonly olm: Olm;
  /** The subscribed channel, or the only one that an extension selects; empty for an extension that selects none. */
  readonly channel: string;
  readonly installed: Installed;
  readonly before: UpgradePath;
  readonly after: UpgradePath;
}

const known = new WeakMap<Change, Map<string, readonly InstallationChange[]>>();

/** Everything published of a package that can be installed before a change, with what becomes of it. */
export function installationChanges(change: Change, name: string): readonly InstallationChange[] {
  const byPackage = known.get(change) ?? new Map<string, readonly InstallationChange[]>();
  known.set(change, byPackage);
  const found = byPackage.get(name) ?? findMoves(change, name);
  byPackage.set(name, found);
  return found;
}

const knownUnder = new WeakMap<Change, Map<Olm, readonly InstallationChange[]>>();

/** Moves of all packages of a change under one OLM, or none when no cluster runs it. */
export function changesUnder(change: Change, olm: Olm): readonly InstallationChange[] {
  const byOlm = knownUnder.get(change) ?? new Map<Olm, readonly InstallationChange[]>();
  knownUnder.set(change, byOlm);
  const found =
    byOlm.get(olm) ??
    change.packages.flatMap((name) => installationChanges(change, name).filter((move) => move.olm === olm));
  byOlm.set(olm, found);
  return found;
}

function findMoves(change: Change, name: string): InstallationChange[] {
  const installations = publishedInstallations(change.before, name);
  const { olm } = change.after;
  return [
    ...(olm.has('v0') ? installations.map((one) => moveV0(change, name, one)) : []),
    ...(olm.has('v1') ? withoutChannels(installations).map((one) => moveV1(change, name, one)) : []),
    ...(olm.has('v1') ? installations.map((one) => moveV1(change, name, one.installed, one.channel)) : []),
  ];
}

function moveV0(
  { before, after }: Change,
  name: string,
  { channel, installed }: Installation,
): InstallationChange {
  const place = { package: name, channel };
  const paths = {
    before: before.foresight.v0(place, installed),
    after: after.foresight.v0(place, installed),
  };
  return { package: name, olm: 'v0', channel, installed, ...paths };
}

function moveV1(
  { before, after }: Change,
  name: string,
  installed: Installed,
  channel?: string,
): InstallationChange {
  const selection = { package: name, channels: channel === undefined ? [] : [channel] };
  const paths = {
    before: before.foresight.v1(selection, installed),
    after: after.foresight.v1(selection, installed),
  };
  return { package: name, olm: 'v1', channel: channel ?? '', installed, ...paths };
}

/** Of moves under OLM v1, each once: who is affected without selecting a channel is affected with any. */
export function eachOnce(moves: readonly InstallationChange[]): readonly InstallationChange[] {
  const keyOf = ({ package: name, installed }: InstallationChange): string =>
    JSON.stringify([name, installed.name]);
  const open = new Set(moves.filter(({ channel }) => channel === '').map(keyOf));
  return moves.filter((move) => move.channel === '' || !open.has(keyOf(move)));
}
