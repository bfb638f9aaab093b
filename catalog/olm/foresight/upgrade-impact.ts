/**
 * The upgrade impact of a change: for each installation the next bundle and the end of the upgrade path,
 * before and after. Installations with the same impact share a row.
 */

import { type Installed, shortName } from '../../fbc/edge.ts';
import { compareText } from '../../go/text.ts';
import type { UpgradePath } from './foresight.ts';
import { compareInstalled, publishedInstallations } from './installation.ts';
import { type InstallationChange, installationChanges } from './installation-change.ts';
import type { Change, Olm } from './world.ts';

/** A row of the table: installations for which the same changes. */
export interface UpgradeImpact {
  /** Channels, by name. */
  readonly channels: readonly string[];
  /** Versions, the lowest first. */
  readonly installed: readonly string[];
  /** Absent where nothing changes under that OLM. */
  readonly v0?: BeforeAfter;
  readonly v1?: BeforeAfter;
}

export interface BeforeAfter {
  readonly before: PathSummary;
  readonly after: PathSummary;
}

/** An upgrade path in short, as reports show it. */
export interface PathSummary {
  /**
   * The version of the next bundle, or what happens in place of an upgrade. Empty in a row of installations
   * whose next bundles differ, each the same before and after: only where the upgrade path ends changes.
   */
  readonly next: string;
  readonly kind: 'upgrade' | 'stays' | 'fails';
  /** The version at which the upgrade path ends, or the first of a circle; empty where it ends at once. */
  readonly end: string;
  /** Whether that is a head. */
  readonly arrives: boolean;
  /** Why the upgrade path goes no further. */
  readonly why: string;
}

/** Rows of a package: those that lose their upgrade path first, then by channel and version. */
export function upgradeImpacts(change: Change, name: string): UpgradeImpact[] {
  const published = new Set(
    publishedInstallations(change.before, name).map(({ installed }) => installed.name),
  );
  // Leave out versions from other catalogs: rules report those.
  const moves = installationChanges(change, name).filter(({ installed }) => published.has(installed.name));
  // Under OLM v1 most extensions select no channel; rules report the others.
  const withoutChannel = new Map(
    moves
      .filter((move) => move.olm === 'v1' && move.channel === '')
      .map((move) => [move.installed.name, move]),
  );
  // Rows list the channels of subscriptions; where no cluster runs OLM v0, those of extensions.
  const shown = change.after.olm.has('v0') ? 'v0' : 'v1';
  const places = moves.filter((move) => move.olm === shown && move.channel !== '');
  const rows = places.flatMap((move) => {
    const v0 = move.olm === 'v0' ? beforeAfterOf(move) : undefined;
    const v1 = beforeAfterOf(withoutChannel.get(move.installed.name));
    return v0 || v1
      ? [
          {
            channel: move.channel,
            installed: move.installed,
            byOlm: { ...(v0 ? { v0 } : {}), ...(v1 ? { v1 } : {}) },
          },
        ]
      : [];
  });
  return mergeChannels(mergeInstalled(rows));
}

type ByOlm = { readonly [olm in Olm]?: BeforeAfter };

/** The upgrade path before and after a change; undefined if it stays the same, whatever the reason for its end. */
function beforeAfterOf(move: InstallationChange | undefined): BeforeAfter | undefined {
  if (!move) return undefined;
  const [before, after] = [summarizePath(move.before), summarizePath(move.after)];
  const same =
    before.kind === after.kind &&
    before.next === after.next &&
    before.end === after.end &&
    before.arrives === after.arrives;
  return same ? undefined : { before, after };
}

/** An upgrade path in words. What never ends has no end of its own, so the circle is named, even by the installed version. */
export function summarizePath({ next, end, last, hops, arrives }: UpgradePath): PathSummary {
  return {
    next: next.kind === 'upgrade' ? shortName(next.to) : next.kind,
    kind: next.kind,
    end: hops === 0 && last.kind !== 'circle' ? '' : shortName(end),
    arrives,
    why: last.kind === 'circle' ? 'the upgrade path goes in a circle' : last.reason.text,
  };
}

interface Row {
  readonly channel: string;
  readonly installed: readonly Installed[];
  readonly byOlm: ByOlm;
}

/** Joins installations of one channel for which the same changes. */
function mergeInstalled(rows: readonly { channel: string; installed: Installed; byOlm: ByOlm }[]): Row[] {
  const merged = new Map<string, { channel: string; installed: Installed[]; byOlm: ByOlm }>();
  for (const { channel, installed, byOlm } of rows) {
    const key = JSON.stringify([channel, rowKey(byOlm)]);
    const row = merged.get(key);
    if (row) {
      row.installed.push(installed);
      row.byOlm = sharedPaths(row.byOlm, byOlm);
    } else merged.set(key, { channel, installed: [installed], byOlm });
  }
  return [...merged.values()];
}

/** The paths of a row that two installations share. If they go to different bundles next, none is named. */
function sharedPaths(one: ByOlm, other: ByOlm): ByOlm {
  const sharedPath = (a: BeforeAfter | undefined, b: BeforeAfter | undefined): BeforeAfter | undefined =>
    a && b && a.after.next !== b.after.next
      ? { before: { ...a.before, next: '' }, after: { ...a.after, next: '' } }
      : a;
  const [v0, v1] = [sharedPath(one.v0, other.v0), sharedPath(one.v1, other.v1)];
  return { ...(v0 ? { v0 } : {}), ...(v1 ? { v1 } : {}) };
}

/** What must be equal for two installations to share a row: a next bundle that stays the same plays no part. */
function rowKey(byOlm: ByOlm): unknown {
  return (['v0', 'v1'] as const).map((olm) => {
    const { before, after } = byOlm[olm] ?? {};
    if (!before || !after) return [];
    const sameNext = before.kind === 'upgrade' && after.kind === 'upgrade' && before.next === after.next;
    const keyOf = ({ kind, next, end, arrives }: PathSummary): unknown => {
      return [kind, sameNext || next, end, arrives];
    };
    return [keyOf(before), keyOf(after)];
  });
}

/** Joins rows of channels that are equal otherwise. */
function mergeChannels(rows: readonly Row[]): UpgradeImpact[] {
  const merged = new Map<string, { channels: string[]; installed: readonly Installed[]; byOlm: ByOlm }>();
  for (const { channel, installed, byOlm } of rows) {
    const sorted = [...installed].sort(compareInstalled);
    const next = [byOlm.v0?.after.next, byOlm.v1?.after.next];
    const key = JSON.stringify([sorted.map(shortName), next, rowKey(byOlm)]);
    const row = merged.get(key);
    if (row) row.channels.push(channel);
    else merged.set(key, { channels: [channel], installed: sorted, byOlm });
  }
  return [...merged.values()]
    .map((row) => ({ ...row, channels: row.channels.sort(compareText) }))
    .sort(
      (a, b) =>
        Number(isWorse(b.byOlm)) - Number(isWorse(a.byOlm)) ||
        compareText(a.channels.join(), b.channels.join()) ||
        compareLowest(a.installed, b.installed),
    )
    .map(({ channels, installed, byOlm }) => ({ channels, installed: installed.map(shortName), ...byOlm }));
}

/** Whether somebody who got to a head no longer does. */
function isWorse({ v0, v1 }: ByOlm): boolean {
  return [v0, v1].some((states) => states?.before.arrives === true && !states.after.arrives);
}

function compareLowest([a]: readonly Installed[], [b]: readonly Installed[]): number {
  return a && b ? compareInstalled(a, b) : 0;
}
