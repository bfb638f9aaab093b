import type { Fleet } from '../../../catalog/olm/fleet/fleet.ts';
import type { Olm } from '../../../catalog/olm/foresight/world.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import { worldsOf } from '../../check/audit.ts';
import { auditFleet, isFleetStuck } from '../../check/fleet/fleet-audit.ts';
import { fleetLines } from '../../report/fleet-text.ts';
import type { Terminal } from '../../terminal.ts';
import { amountText, linesText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { FLEET_OPTION, fleetOption } from '../fleet-option.ts';
import { formedOption, RANGE } from '../formed-option.ts';
import { readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { type Answer, type AnsweredPath, answerQuestion, type Question } from './installed-next.ts';

export const command: Command = {
  words: 'next',
  operands: 'DIR|REFERENCE…',
  options: {
    package: { value: 'NAME', description: 'installed package', required: true },
    version: {
      value: 'VERSION',
      description: 'installed version; if omitted, show what a new installation gets',
    },
    name: {
      value: 'BUNDLE',
      description: 'name of the installed bundle (its CSV), if several bundles have the version',
    },
    channel: {
      value: 'CHANNEL',
      description:
        'subscribed channel (default: the default channel of the package); for OLM v1, a channel of the ClusterExtension',
      multiple: true,
    },
    olm: { value: 'v0|v1', description: 'OLM version on the clusters (default: both)' },
    range: { value: 'RANGE', description: 'for OLM v1: version range in the ClusterExtension' },
    catalog: { value: 'NAME', description: 'for OLM v0: catalog in the Subscription' },
    priority: {
      value: 'NAME=NUMBER',
      description: 'priority of a catalog (default: 0); if several have a bundle, the highest priority wins',
      multiple: true,
    },
    ...FLEET_OPTION,
    json: { description: 'print the result as JSON' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Each argument is a catalog on the cluster: a directory, named after its last folder, or an index image. Portolan',
    'simulates both resolvers, including dependencies, deprecations and silent failures. It looks for dependencies in these',
    'catalogs only: name every catalog on the cluster. The exit code is 0 if every upgrade path ends at a channel head, and',
    '1 if one does not. It is 2 if dependencies are too many to resolve.',
  ].join('\n'),
  examples: [
    'portolan next --package etcd --version 0.9.2 --channel alpha catalogs/v4.20',
    'portolan next --package etcd --version 0.9.2 --olm v1 --range "<1.0.0" catalogs/v4.20 catalogs/internal',
    'portolan next --package etcd --fleet fleet.csv catalogs/v4.20',
    'portolan next --package etcd catalogs/v4.20 quay.io/example/catalog:v1 --catalog v4.20 --priority quay.io/example/catalog:v1=-100',
  ],
  run: async (invocation, terminal) => {
    const question = questionOf(invocation);
    const catalogs = await readOperands(invocation.operands, invocation, terminal);
    const fleet = fleetOption(invocation, terminal);
    const answer = {
      ...(await answerQuestion(catalogs, question)),
      ...(await fleetOf(fleet, catalogs, { question, terminal })),
    };
    if (invocation.flag('json')) await terminal.out(`${JSON.stringify(answer, null, 2)}\n`);
    else await terminal.out(answerText(answer, question));
    warnOfErrors(catalogs, terminal);
    const isFine = answer.paths.every((path) => path.arrives || isPinned(path, question));
    if (!isFine || (answer.fleet && isFleetStuck(answer.fleet))) return 1;
    // A row that could not be read may be of a stuck cluster.
    return answer.fleet && answer.fleet.unread > 0 ? 2 : 0;
  },
};

/** What becomes of the clusters of a fleet that have the package; nothing without a fleet. */
async function fleetOf(
  fleet: Fleet | undefined,
  catalogs: readonly ReadCatalog[],
  { question, terminal }: { readonly question: Question; readonly terminal: Terminal },
): Promise<Pick<Answer, 'fleet'>> {
  if (!fleet) return {};
  const packages = new Set([question.package]);
  const today = terminal.now().toISOString().slice(0, 10);
  const worlds = await worldsOf({ catalogs, olm: question.olm, today, packages });
  return { fleet: auditFleet(fleet, worlds, packages).report };
}

/** The question that the options ask. */
function questionOf(invocation: Invocation): Question {
  const { text, word, list, needed } = invocation;
  const olm = word('olm', ['v0', 'v1']);
  return {
    package: needed('package'),
    version: text('version'),
    bundle: text('name'),
    channels: list('channel'),
    olm: olm === undefined ? ['v0', 'v1'] : [olm satisfies Olm],
    range: formedOption(command, invocation, { option: 'range', form: RANGE }) ?? '',
    catalog: text('catalog'),
    priorities: new Map(list('priority').map(priorityOf)),
  };
}

/** A catalog with its priority, from `--priority NAME=NUMBER`. Nine digits fit an int32. @throws PipelineError `usage` */
function priorityOf(text: string): [string, number] {
  const [, name = '', number = ''] = /^(.+)=(-?[0-9]{1,9})$/.exec(text) ?? [];
  if (name === '') throw usageError(command, `--priority must be NAME=NUMBER, not ${JSON.stringify(text)}`);
  return [name, Number(number)];
}

/** Says on standard error which catalogs have parts that were skipped. */
function warnOfErrors(
  catalogs: readonly {
    readonly name: string;
    readonly prefix: string;
    readonly unread: readonly { severity: string }[];
  }[],
  terminal: Terminal,
): void {
  for (const { name, prefix, unread } of catalogs) {
    const errors = unread.filter(({ severity }) => severity === 'error').length;
    if (errors > 0) {
      // The prefix is the operand as it was typed.
      terminal.err(
        `${prefix.replace(/\/$/, '') || name}: skipped ${amountText(errors, 'unreadable part')} (run portolan validate for details)\n`,
      );
    }
  }
}

/** Whether an upgrade path ends where its range does: that is what was asked for. */
function isPinned({ olm, end }: AnsweredPath, { range }: Question): boolean {
  return olm === 'v1' && range !== '' && end === 'stays';
}

/** The answer as people read it: what is installed, then each OLM's path, then the fleet. */
function answerText(answer: Answer, question: Question): string {
  const { installed, assumed } = answer;
  const lines = [
    installed
      ? `${answer.package} ${installed.version ?? installed.name} (${installed.name})`
      : `${answer.package}, new installation`,
    ...(assumed ? ['  not in these catalogs: Portolan knows only its name and version'] : []),
    ...answer.paths.flatMap((path) => pathLines(path, question)),
    ...(answer.fleet ? fleetLines(answer.fleet).map((line) => `  ${line}`) : []),
  ];
  return linesText(lines);
}

/** The answer for one OLM as lines of text. */
function pathLines(answered: AnsweredPath, question: Question): string[] {
  const { olm, where, steps, last, arrives, missing = [], unless = [] } = answered;
  const path = steps.length > 0 ? steps.map(stepText).join(' -> ') : arrives ? 'up to date' : 'no upgrade';
  const end = arrives ? headText(answered) : `${endText(answered, question)}: ${last}`;
  const lacking = missing.map(
    ({ bundle, requires }) =>
      `    MISSING: ${bundle} requires an operator ${requires}; if another catalog on the cluster has one, name that catalog too`,
  );
  const exceptions = unless.map(
    ({ package: name, channel, installed, end: at, bundle, requires }) =>
      `    UNLESS ${name} ${installed.join(', ')} (channel ${channel}) is installed in the same namespace: ${bundle} requires an operator ${requires}, so it stays at ${at}`,
  );
  return [`  OLM ${olm}, ${where}: ${path}`, `    ${end}`, ...lacking, ...exceptions];
}

/** A version on a path, with the edge that leads to it: none leads to the first version of a new installation. */
function stepText({ version, name, edge, deprecated }: AnsweredPath['steps'][number]): string {
  const notes = [edge === 'none' ? [] : edge, deprecated ? 'deprecated' : []].flat();
  return `${version ?? name}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}

/** How a path ends that does not arrive. */
function endText(answered: AnsweredPath, question: Question): string {
  return isPinned(answered, question) ? 'stays' : 'STUCK';
}

/** How a path ends that arrives: in OLM v0 at the head of the channel, in OLM v1 at one of several. */
function headText({ olm, channels: [channel], steps }: AnsweredPath): string {
  const head = olm === 'v0' ? `the head of channel ${channel}` : 'the head of a channel';
  const isUpgrade = steps.some(({ edge }) => edge !== 'none');
  return isUpgrade ? `reaches ${head}` : `is ${head}`;
}
