/**
 * What clusters will do otherwise after a change: for each installation the next bundle
 * and the end of the road, before and after, equal outcomes together.
 */

import { type Installed, shortName } from '../../fbc/edge.ts';
import { compareText } from '../../go/text.ts';
import type { Fate } from './foresight.ts';
import { compareInstalled } from './installation.ts';
import { type Move, movesOf } from './move.ts';
import type { Change, Olm } from './world.ts';

/** A row of the table: installations for which the same changes. */
export interface FateChange {
  /** Channels, by name. */
  readonly channels: readonly string[];
  /** Versions, the lowest first. */
  readonly installed: readonly string[];
  /** Absent where nothing changes under that OLM. */
  readonly v0?: Turn;
  readonly v1?: Turn;
}

export interface Turn {
  readonly before: Glance;
  readonly after: Glance;
}

/** A fate in short. */
export interface Glance {
  /**
   * The version of the next bundle, or what happens in place of an upgrade. Empty in a row of installations
   * whose next bundles differ, each the same before and after: only the end of the road changes for them.
   */
  readonly next: string;
  readonly kind: 'upgrade' | 'stays' | 'fails';
  /** The version at which the road ends; empty where it ends at once. */
  readonly end: string;
  /** Whether that is a head. */
  readonly arrives: boolean;
  /** Why the road goes no further. */
  readonly why: string;
}

/** Rows of a package: those that lose their road first, then in the order of channels and versions. */
export function fateChanges(change: Change, name: string): FateChange[] {
  const moves = movesOf(change, name);
  // Under OLM v1 most extensions select no channel; who selects one is told by rules.
  const open = new Map(
    moves
      .filter((move) => move.olm === 'v1' && move.channel === '')
      .map((move) => [move.installed.name, move]),
  );
  const places = moves.filter((move) =>
    change.after.olm.has('v0') ? move.olm === 'v0' : move.olm === 'v1' && move.channel !== '',
  );
  const rows = places.flatMap((move) => {
    const v0 = move.olm === 'v0' ? turnOf(move) : undefined;
    const v1 = turnOf(open.get(move.installed.name));
    return v0 || v1
      ? [
          {
            channel: move.channel,
            installed: move.installed,
            turns: { ...(v0 ? { v0 } : {}), ...(v1 ? { v1 } : {}) },
          },
        ]
      : [];
  });
  return mergeChannels(mergeInstalled(rows));
}

type Turns = { readonly [olm in Olm]?: Turn };

function turnOf(move: Move | undefined): Turn | undefined {
  if (!move) return undefined;
  const [before, after] = [glance(move.before), glance(move.after)];
  const same =
    before.kind === after.kind &&
    before.next === after.next &&
    before.end === after.end &&
    before.arrives === after.arrives;
  return same ? undefined : { before, after };
}

/** A fate as people are told of it. */
export function glance({ next, end, last, hops, arrives }: Fate): Glance {
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
  readonly turns: Turns;
}

/** Joins installations of one channel for which the same changes. */
function mergeInstalled(rows: readonly { channel: string; installed: Installed; turns: Turns }[]): Row[] {
  const merged = new Map<string, { channel: string; installed: Installed[]; turns: Turns }>();
  for (const { channel, installed, turns } of rows) {
    const key = JSON.stringify([channel, outline(turns)]);
    const row = merged.get(key);
    if (row)
      merged.set(key, { channel, installed: [...row.installed, installed], turns: shared(row.turns, turns) });
    else merged.set(key, { channel, installed: [installed], turns });
  }
  return [...merged.values()];
}

/** What two installations of one row have in common. */
function shared(one: Turns, other: Turns): Turns {
  const of = (a: Turn | undefined, b: Turn | undefined): Turn | undefined =>
    a && b && a.after.next !== b.after.next
      ? { before: { ...a.before, next: '' }, after: { ...a.after, next: '' } }
      : a;
  const [v0, v1] = [of(one.v0, other.v0), of(one.v1, other.v1)];
  return { ...(v0 ? { v0 } : {}), ...(v1 ? { v1 } : {}) };
}

/** What must be equal for two installations to share a row: a next bundle that stays the same plays no part. */
function outline(turns: Turns): unknown {
  return (['v0', 'v1'] as const).map((olm) => {
    const { before, after } = turns[olm] ?? {};
    if (!before || !after) return [];
    const sameNext = before.kind === 'upgrade' && after.kind === 'upgrade' && before.next === after.next;
    const of = ({ kind, next, end, arrives }: Glance): unknown => [kind, sameNext || next, end, arrives];
    return [of(before), of(after)];
  });
}

/** Joins rows of channels that are equal otherwise. */
function mergeChannels(rows: readonly Row[]): FateChange[] {
  const merged = new Map<string, { channels: string[]; installed: readonly Installed[]; turns: Turns }>();
  for (const { channel, installed, turns } of rows) {
    const sorted = [...installed].sort(compareInstalled);
    const next = [turns.v0?.after.next, turns.v1?.after.next];
    const key = JSON.stringify([sorted.map(shortName), next, outline(turns)]);
    const row = merged.get(key);
    if (row) row.channels.push(channel);
    else merged.set(key, { channels: [channel], installed: sorted, turns });
  }
  return [...merged.values()]
    .map((row) => ({ ...row, channels: row.channels.sort(compareText) }))
    .sort(
      (a, b) =>
        Number(isWorse(b.turns)) - Number(isWorse(a.turns)) ||
        compareText(a.channels.join(), b.channels.join()) ||
        compareLowest(a.installed, b.installed),
    )
    .map(({ channels, installed, turns }) => ({ channels, installed: installed.map(shortName), ...turns }));
}

/** Whether somebody who got to a head no longer does. */
function isWorse({ v0, v1 }: Turns): boolean {
  return [v0, v1].some((turn) => turn?.before.arrives === true && !turn.after.arrives);
}

function compareLowest([a]: readonly Installed[], [b]: readonly Installed[]): number {
  return a && b ? compareInstalled(a, b) : 0;
}
