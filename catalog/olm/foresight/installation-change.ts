/**
 * Moves: what a change of a catalog does to each installation.
 */
import type { Installed } from '../../fbc/edge.ts';
import type { UpgradePath } from './foresight.ts';
import { clusterInstallations, withoutChannels } from './installation.ts';
import { type Change, type Olm, upgradePathOf } from './world.ts';

export interface InstallationChange {
  readonly package: string;
  readonly olm: Olm;
  /** The subscribed channel, or the only one that an extension selects; empty where none is named. */
  readonly channel: string;
  readonly installed: Installed;
  readonly before: UpgradePath;
  readonly after: UpgradePath;
}

const known = new WeakMap<Change, Map<string, readonly InstallationChange[]>>();

/** Everything of a package that clusters may have before a change, with what becomes of it. */
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

/** The upgrade paths before and after a change, for every installation that clusters may have of a package. */
function findMoves(change: Change, name: string): InstallationChange[] {
  return [...change.after.olm].sort().flatMap((olm) => {
    const all = clusterInstallations(change.before, name, olm);
    // Who selects no channel has the same upgrades from every channel: each version counts once.
    const open = withoutChannels(all).map((installed) => ({ channel: '', installed }));
    return [...open, ...all].map(({ channel, installed }) => {
      const following = { package: name, olm, channel, onlyChannel: channel !== '' };
      const [before, after] = [change.before, change.after].map(({ foresight }) =>
        upgradePathOf(foresight, following, installed),
      ) as [UpgradePath, UpgradePath];
      return { package: name, olm, channel, installed, before, after };
    });
  });
}

/**
 * Of moves under one OLM, each once. Under OLM v1, who is affected without selecting a channel is affected with any; under
 * OLM v0, where most subscriptions name a channel, who names none is reported only where nobody else is affected.
 */
export function eachOnce(moves: readonly InstallationChange[]): readonly InstallationChange[] {
  const keyOf = ({ package: name, installed }: InstallationChange): string =>
    JSON.stringify([name, installed.name]);
  const isFirst = ({ olm, channel }: InstallationChange): boolean => (channel === '') === (olm === 'v1');
  const firstKeys = new Set(moves.filter(isFirst).map(keyOf));
  return moves.filter((move) => isFirst(move) || !firstKeys.has(keyOf(move)));
}
