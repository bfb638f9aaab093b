/** The option `--fleet`: files that say what many clusters have installed. */
import { resolve } from 'node:path';
import type { Fleet } from '../../catalog/olm/fleet/fleet.ts';
import { readFleet } from '../check/fleet/read-fleet.ts';
import type { BadRow } from '../check/fleet/records.ts';
import { readText } from '../directory.ts';
import type { Terminal } from '../terminal.ts';
import { amountText, linesText } from '../text.ts';
import type { Invocation } from './command.ts';

export const FLEET_OPTION = {
  fleet: {
    value: 'FILE',
    description:
      'file that lists what your clusters have installed (CSV or JSON), to report how many are affected; repeat it to combine files',
    multiple: true,
  },
} as const;

/** Rows that are written out. */
const SHOWN = 5;

/** The fleet that the command line names, or undefined. Rows that cannot be read go to standard error. */
export function fleetOption({ list }: Invocation, terminal: Terminal): Fleet | undefined {
  const paths = list('fleet');
  if (paths.length === 0) return undefined;
  const files = paths.map((path) => ({ path, text: readText(resolve(terminal.directory, path)) }));
  const { fleet, bad } = readFleet(files);
  if (bad.length > 0) terminal.err(linesText(badRowLines(bad)));
  // Such as an export that failed: nobody is affected by anything.
  else if (fleet.rows.length === 0)
    terminal.err(linesText([`warning: the fleet of ${paths.join(', ')} is empty`]));
  return fleet;
}

/** What is wrong with rows, a line each, of which only the first are written out. */
function badRowLines(bad: readonly BadRow[]): string[] {
  const more = bad.length - SHOWN;
  return [
    ...bad
      .slice(0, SHOWN)
      .map(({ place, found, expected }) => `${place}: found ${found}, expected ${expected}`),
    ...(more > 0 ? [`and ${amountText(more, 'more row')} that cannot be read`] : []),
  ];
}
