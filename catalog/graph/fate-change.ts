/**
 * What clusters will do otherwise after a change: for each installation the next bundle
 * and the end of the road, before and after, equal outcomes together.
 */
import { compareText } from '../finding.ts';
import { type Installed, shortName } from './edge.ts';
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
  /** The version of the next bundle, or what happens in place of an upgrade. */
  readonly next: string;
  readonly kind: 'upgrade' | 'stays' | 'fails';
  /** The version at which the road ends; empty where it ends at once. */
  readonly end: string;
  /** Whether that is a head. */
  readonly arrives: boolean;
  /** Why the road goes no further. */
  readonly why: string;
}

/** Rows of a package, in the order of channels and versions. */
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

function glance({ next, end, last, hops, arrives }: Fate): Glance {
  return {
    next: next.kind === 'upgrade' ? shortName(next.to) : next.kind,
    kind: next.kind,
    end: hops === 0 && last.kind !== 'circle' ? '' : shortName(end),
    arrives,
    why: last.kind === 'circle' ? 'it goes round in a circle' : last.reason.text,
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
    if (row) row.installed.push(installed);
    else merged.set(key, { channel, installed: [installed], turns });
  }
  return [...merged.values()];
}

/** What must be equal for two installations to share a row. */
function outline(turns: Turns): unknown {
  const of = ({ kind, next, end, arrives }: Glance): unknown => [kind, next, end, arrives];
  return (['v0', 'v1'] as const).map((olm) => {
    const turn = turns[olm];
    return turn ? [of(turn.before), of(turn.after)] : [];
  });
}

/** Joins rows of channels that are equal otherwise. */
function mergeChannels(rows: readonly Row[]): FateChange[] {
  const merged = new Map<string, { channels: string[]; installed: string[]; turns: Turns }>();
  for (const { channel, installed, turns } of rows) {
    const versions = [...installed].sort(compareInstalled).map(shortName);
    const key = JSON.stringify([versions, outline(turns)]);
    const row = merged.get(key);
    if (row) row.channels.push(channel);
    else merged.set(key, { channels: [channel], installed: versions, turns });
  }
  return [...merged.values()].map(({ channels, installed, turns }) => ({
    channels: channels.sort(compareText),
    installed,
    ...turns,
  }));
}
