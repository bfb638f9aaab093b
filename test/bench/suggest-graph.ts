/**
 * What `portolan suggest-graph` makes of real catalogs, one row for each kind of required stops, as a Markdown table:
 * node scripts/run.mjs test/bench/suggest-graph.ts CATALOG…
 */
import { resolve } from 'node:path';
import { chainBelow, headOf } from '../../catalog/fbc/channel.ts';
import { upgradePathOf, type World, worldOf } from '../../catalog/olm/foresight/world.ts';
import { AS_TODAY, type Stops } from '../../catalog/olm/suggest/policy.ts';
import { channelOf } from '../../catalog/olm/suggest/suggested-channel.ts';
import { type Installation, type Suggestion, suggestGraph } from '../../catalog/olm/suggest/suggestion.ts';
import { catalogPlaces, readCatalogs } from '../../pipeline/catalogs/read-catalogs.ts';

const ROWS: readonly Stops[] = ['today', 'minor', 'major', 'none'];

const catalogs = await readCatalogs(
  catalogPlaces(
    process.argv.slice(2).map((path) => resolve(path)),
    '/',
  ),
);
const worlds = await Promise.all(catalogs.map(({ name, catalog }) => worldOf({ name, catalog })));

const lines = ROWS.map((stops) => {
  const began = process.cpuUsage();
  const all = worlds.flatMap((world) =>
    [...world.catalog.packages.values()].map((one) => ({
      world,
      one,
      suggestion: suggestGraph(world, one, { ...AS_TODAY, stops }),
    })),
  );
  const cpu = process.cpuUsage(began);
  const counts = all.map(({ suggestion }) => countsOf(suggestion));
  const sum = (of: (suggestion: Suggestion) => number): number =>
    all.reduce((total, { suggestion }) => total + of(suggestion), 0);
  const fewer = counts
    .map(({ today, suggested }) => (today - suggested) / Math.max(today, 1))
    .sort((a, b) => a - b);
  const channels = all.flatMap(({ suggestion }) => suggestion.channels);
  const unsound = all.flatMap(({ one, suggestion }) =>
    suggestion.channels.filter((channel) => {
      const made = channelOf(one, channel);
      const head = headOf(made);
      return channel.why === undefined && (!head || chainBelow(made, head).stranded.length > 0);
    }),
  );
  return [
    `\`${stops}\``,
    all.length,
    sum((one) => countsOf(one).today),
    sum((one) => countsOf(one).suggested),
    `${Math.round(100 * (fewer[Math.floor(fewer.length / 2)] ?? 0))} %`,
    sum(({ stranded }) => stranded.today.length),
    sum(({ stranded }) => stranded.suggested.length),
    sum(newlyStranded),
    all.reduce((total, { world, suggestion }) => total + forDependencies(world, suggestion), 0),
    channels.filter(({ why }) => why !== undefined).length,
    channels.filter(({ atLeast, entries }) => atLeast !== undefined && atLeast < entries.length).length,
    unsound.length,
    `${Math.round((cpu.user + cpu.system) / 1000)} ms`,
  ].join(' | ');
});

const HEAD = [
  '`--stops`',
  'packages',
  'entries today',
  'entries suggested',
  'fewer, median',
  'stranded today',
  'stranded suggested',
  'of these newly',
  'of these by dependencies under OLM v1',
  'channels unchanged',
  'not proven the fewest',
  'refused by `opm validate`',
  'CPU',
];
console.log(
  [HEAD.join(' | '), HEAD.map(() => '---').join('|'), ...lines].map((line) => `| ${line} |`).join('\n'),
);

function countsOf({ channels }: Suggestion): { today: number; suggested: number } {
  return {
    today: channels.reduce((total, { today }) => total + today, 0),
    suggested: channels.reduce((total, { entries }) => total + entries.length, 0),
  };
}

function keyOf({ olm, channel, installed }: Installation): string {
  return JSON.stringify([olm, channel, installed.name]);
}

function newlyStranded({ stranded }: Suggestion): number {
  const today = new Set(stranded.today.map(keyOf));
  return stranded.suggested.filter((one) => !today.has(keyOf(one))).length;
}

/** Stranded ones that no edge helps: OLM v1 installs nothing that has dependencies. */
function forDependencies({ foresight }: World, { stranded }: Suggestion): number {
  return stranded.suggested.filter((one) => {
    const { last } = upgradePathOf(foresight, one, one.installed);
    return last.kind === 'fails' && last.reason.code === 'dependency';
  }).length;
}
