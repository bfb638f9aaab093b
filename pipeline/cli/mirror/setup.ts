import { join, resolve } from 'node:path';
import { shellWord } from '../../../catalog/names.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import {
  cronJobText,
  type MirrorSchedule,
  secretFiles,
  serviceText,
  timerText,
} from '../../mirror/schedule.ts';
import { linesText, plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, type Invocation, type Option, usageError } from '../command.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

/** Of the units, or of the CronJob and its Secret. */
const NAME = 'portolan-mirror';
/** Names of CronJobs: the names of their jobs have eleven characters more. */
const NAMES = /^[a-z0-9](?:[a-z0-9-]{0,50}[a-z0-9])?$/;

/** Options that go to `mirror sync` as they are. */
const { authfile, ca, insecure, internal } = REGISTRY_OPTIONS;
const PASSED = { authfile, ca, insecure, internal } as Readonly<Record<string, Option>>;

export const command: Command = {
  words: 'mirror setup',
  operands: 'CONFIG',
  options: {
    to: { value: 'REGISTRY[/PATH]', description: 'mirror to keep up to date' },
    at: { value: 'HH:MM', description: 'time of day of each sync, in UTC (default: 02:17)' },
    name: {
      value: 'NAME',
      description: `name of the units or objects, one for each configuration (default: ${NAME})`,
    },
    image: { value: 'IMAGE', description: 'image of Portolan; writes a CronJob instead of systemd units' },
    prune: { description: 'delete images that no configuration needs any more' },
    'sign-key': { value: 'FILE', description: 'private key (PEM) to sign a freshness statement with' },
    out: { short: 'o', value: 'DIR', description: 'directory to write the files to (default: mirror-setup)' },
    ...PASSED,
  },
  details: [
    'Portolan writes files that run mirror sync each day: a systemd service and a timer, or with --image a CronJob with its',
    'configuration and a volume. Each run writes status.html: what is mirrored, when, what failed, and which upgrades clusters',
    'get from the mirror.',
  ].join('\n'),
  examples: [
    'portolan mirror setup imageset-config.yaml --to mirror.example.com/olm --authfile auth.json --prune',
    'portolan mirror setup imageset-config.yaml --to mirror.example.com/olm --image registry.example.com/portolan:0.1.0',
  ],
  run: async (invocation, { directory, out, err }) => {
    const { operands, text } = invocation;
    const config = resolve(directory, operands[0] ?? '');
    const schedule = scheduleOf(invocation, directory, config);
    const folder = text('out') ?? 'mirror-setup';
    const image = text('image');
    const content = readText(config);
    const names = await namedFiles(content, operands[0] ?? '');
    if (image !== undefined && names.length > 0)
      throw usageError(
        command,
        `a CronJob does not have the files that ${operands[0]} names: ${names.join(', ')}`,
      );
    const files =
      image === undefined
        ? new Map([
            [`${schedule.name}.service`, serviceText(schedule)],
            [`${schedule.name}.timer`, timerText(schedule)],
          ])
        : new Map([['cronjob.yaml', cronJobText(schedule, { image, content })]]);
    const { written } = writeFiles(resolve(directory, folder), files);
    err(`${plainText(folder)}: ${written.length === 0 ? 'nothing changed' : written.join(', ')}\n`);
    await out(
      linesText(image === undefined ? systemdLines(folder, schedule) : clusterLines(folder, schedule)),
    );
    return 0;
  },
};

/**
 * The files on this machine that a configuration names: charts, their values, image layouts, templates.
 *
 * @throws PipelineError `usage` for a configuration that a sync could not follow
 */
async function namedFiles(content: string, file: string): Promise<string[]> {
  const { readImageSet } = await import('../../../catalog/mirror/image-set.ts');
  const { imageSet, findings } = readImageSet(content, file);
  const [first] = findings.filter(({ severity }) => severity === 'error');
  if (!imageSet)
    throw new PipelineError('usage', `mirror sync cannot follow ${file}: ${first?.message ?? 'it is empty'}`);
  const { catalogs, charts = [] } = imageSet;
  const named = [
    ...catalogs.flatMap(({ catalog, targetCatalogSourceTemplate }) => [
      catalog.startsWith('oci:') ? catalog : undefined,
      targetCatalogSourceTemplate,
    ]),
    ...charts.flatMap(({ path, valuesFiles = [] }) => [path, ...valuesFiles]),
  ];
  return named.filter((one) => one !== undefined);
}

/** The schedule that the options describe. @throws PipelineError `usage` */
function scheduleOf(
  { text, list, flag, needed }: Invocation,
  directory: string,
  config: string,
): MirrorSchedule {
  // Not at a whole hour, when most schedules run.
  const written = text('at') ?? '02:17';
  const time = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(written);
  if (!time) throw usageError(command, `--at must be a time such as 02:17, not ${JSON.stringify(written)}`);
  const name = text('name') ?? NAME;
  if (!NAMES.test(name))
    throw usageError(
      command,
      `--name must have at most 52 lower-case letters, digits and hyphens, not ${JSON.stringify(name)}`,
    );
  const path = (option: string): string | undefined => {
    const file = text(option);
    return file === undefined ? undefined : resolve(directory, file);
  };
  const [signKey, credentials] = [path('sign-key'), path('authfile')];
  return {
    name,
    directory,
    config,
    to: needed('to'),
    hour: Number(time[1]),
    minute: Number(time[2]),
    prunes: flag('prune'),
    ...(signKey !== undefined && { signKey }),
    ...(credentials !== undefined && { authfile: credentials }),
    authorities: list('ca').map((file) => resolve(directory, file)),
    insecure: list('insecure'),
    internal: list('internal'),
  };
}

/** The commands that install the timer. */
function systemdLines(folder: string, { name }: MirrorSchedule): string[] {
  const files = ['service', 'timer'].map((kind) => shellWord(plainText(join(folder, `${name}.${kind}`))));
  return [
    'to install the timer:',
    `  sudo cp ${files.join(' ')} /etc/systemd/system/`,
    `  sudo systemctl enable --now ${name}.timer`,
  ];
}

/** The commands that install the CronJob, and the Secret with the files that it needs. */
function clusterLines(folder: string, schedule: MirrorSchedule): string[] {
  const words = secretFiles(schedule).map(({ key, file }) =>
    shellWord(plainText(`--from-file=${key}=${file}`)),
  );
  return [
    'to install the CronJob in the namespace that you use:',
    ...(words.length === 0 ? [] : [`  oc create secret generic ${schedule.name} ${words.join(' ')}`]),
    `  oc apply -f ${shellWord(plainText(join(folder, 'cronjob.yaml')))}`,
  ];
}
