/** The pictures that are drawn from texts alone: the terminal and the upgrade graph of one pull request, and a page. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { worldOf } from '../../catalog/olm/foresight/world.ts';
import { hopGraph } from '../../catalog/olm/graph/hop-graph.ts';
import type { CheckReport } from '../../pipeline/check/report.ts';
import { rehearsalPage } from '../../pipeline/report/page/rehearsal-page.ts';
import { svgText } from '../../pipeline/report/pictures/svg.ts';
import { textReport } from '../../pipeline/report/text-report.ts';
import { catalogFrom, type WrittenEntry } from '../catalog/olm/universe.ts';
import { type Line, type Look, terminalSvg } from './terminal.ts';

/** Whose report it is: of those in pull-requests.ts. */
export const DRAWN = 'upgrade-path-lost';
/** The pull request that the README begins with. */
export const FRONT = 'merged-by-bots';

/** What opm printed, recorded. */
interface Recorded {
  readonly command: string;
  readonly output: string;
  readonly exit: number;
}

/** Lines of the upgrade impact up to the end of its first installation. */
const INSTALLATION = 5;
const TITLE = 'opm validate passes. portolan check fails: clusters lose their upgrade path';
/** Characters of a line that can be read on a phone. */
const NARROW = 58;

/** The drawings of a report, by file name. */
export function drawings(report: CheckReport): ReadonlyMap<string, string> {
  const recorded: Recorded = JSON.parse(readFileSync('test/pictures/opm.json', 'utf8'));
  const [diff] = report.diffs;
  if (!diff) throw new Error('the report of the drawings has no diff');
  return new Map([
    [
      'terminal.svg',
      terminalSvg(TITLE, [...opmLines(recorded), { look: 'printed', text: '' }, ...portolanLines(report)]),
    ],
    [
      'terminal-short.svg',
      terminalSvg(
        TITLE,
        [...opmLines(recorded), { look: 'printed', text: '' }, ...shortLines(report)],
        NARROW,
      ),
    ],
    ['upgrade-graph.svg', svgText(diff.graph, { interactive: false, styled: true })],
  ]);
}

/** What the README begins with: a merge as git shows it, and what Portolan says of it. */
export function frontDrawings(report: CheckReport): ReadonlyMap<string, string> {
  const { command, output }: Recorded = JSON.parse(readFileSync('test/pictures/merged.json', 'utf8'));
  const printed = output.split('\n').map((text) => ({ look: 'printed' as const, text }));
  const merged = 'A release bot adds a version in four catalogs: 1136 lines added, 833 removed';
  const checked =
    'portolan check fails: the channel alpha is removed, and three versions lose their upgrade path';
  const [diff] = report.diffs;
  if (!diff) throw new Error('the report of the drawings has no diff');
  return new Map([
    ['merged.svg', terminalSvg(merged, [{ look: 'typed', text: `$ ${command}` }, ...printed])],
    [
      'merged-check.svg',
      terminalSvg(checked, portolanLines(report, 'portolan check --base 2328ac1e~1 --head 2328ac1e')),
    ],
    ['merged-graph.svg', svgText(diff.graph, { interactive: false, styled: true })],
  ]);
}

/** The upgrades of each channel that docs/concepts.md writes out, by the picture below it. */
export async function conceptDrawings(): Promise<ReadonlyMap<string, string>> {
  const page = readFileSync('docs/concepts.md', 'utf8');
  const shown = [...page.matchAll(/```yaml\n([\s\S]*?)```\n\n!\[[^\]]*\]\(pictures\/([\w-]+\.svg)\)/g)];
  const drawn = shown.map(async ([, text, name = '']) => [name, await channelDrawing(text ?? '')] as const);
  return new Map(await Promise.all(drawn));
}

/** @param text of an `olm.channel` */
async function channelDrawing(text: string): Promise<string> {
  const { package: name, name: channel, entries } = load(text) as WrittenChannel;
  const versions = entries.map((entry) => entry.name.slice(`${name}.v`.length));
  const world = await worldOf({
    name: 'docs',
    catalog: await catalogFrom({ [name]: { versions, channels: { [channel]: entries } } }),
  });
  const ofPackage = world.catalog.packages.get(name);
  if (!ofPackage) throw new Error(`no package ${name}`);
  return svgText(hopGraph(world, ofPackage), { interactive: false, styled: true });
}

interface WrittenChannel {
  readonly package: string;
  readonly name: string;
  readonly entries: readonly WrittenEntry[];
}

/** The page that `portolan rehearse --last 30` wrote of the public repository, without the approvers that it names. */
export function pageOfMerges(): string {
  const rehearsal = JSON.parse(readFileSync('test/pictures/rehearsal.json', 'utf8'));
  const policy = { source: 'the policy that portolan setup would write', text: '' };
  return rehearsalPage({ rehearsal, name: 'a public catalog repository', policy });
}

/** Names what a page says; not how it looks. */
export function digestOf(page: string): string {
  const said = page.replace(/<style>[\s\S]*?<\/style>/, '').replaceAll(/<[^>]*>/g, '');
  return `${createHash('sha256').update(said).digest('hex')}\n`;
}

function opmLines({ command, output, exit }: Recorded): Line[] {
  return [
    { look: 'typed', text: `$ ${command}; echo $?` },
    ...(output === '' ? [] : output.split('\n').map((text) => ({ look: 'printed' as const, text }))),
    { look: exit === 0 ? 'good' : 'bad', text: `${exit}` },
  ];
}

/** The verdict, the first installation of the upgrade impact and the first finding, as printed; `…` is what lies between them. */
function portolanLines(
  report: CheckReport,
  command = 'portolan check --base main --head dell-csm-operator-1.9.0',
): Line[] {
  const printed = textReport(report).split('\n');
  const impact = printed.indexOf('Upgrade impact:');
  const end = printed.indexOf('', impact);
  const more = { look: 'dim' as const, text: '…' };
  return [
    { look: 'typed', text: `$ ${command}` },
    { look: 'bad', text: printed[0] ?? '' },
    more,
    ...printed.slice(impact, impact + INSTALLATION).map((text) => ({ look: lookOf(text), text })),
    more,
    ...printed.slice(end + 1, end + 3).map((text) => ({ look: lookOf(text), text })),
    more,
  ];
}

/** The installation that is stuck, and the fix. */
function shortLines(report: CheckReport): Line[] {
  const lines = portolanLines(report);
  const command = lines.filter(({ look }) => look === 'typed');
  const [, ...stuck] = lines.slice(
    lines.findIndex(({ text }) => text.startsWith('Upgrade impact:')),
    7,
  );
  const fix = lines.filter(({ look }) => look === 'good');
  return [...command, ...stuck.map(outdented), ...fix.map(outdented)];
}

function outdented({ look, text }: Line): Line {
  return { look, text: text.replace(/^ {2,4}/, '') };
}

function lookOf(text: string): Look {
  if (/; after: .*(?:stuck|an error)|: error: /.test(text)) return 'bad';
  return text.startsWith('    fix: ') ? 'good' : 'printed';
}
