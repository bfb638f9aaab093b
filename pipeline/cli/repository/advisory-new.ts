import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { shellWord } from '../../../catalog/names.ts';
import { emitYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import { plansOf } from '../../check/advisories/advisories.ts';
import { templatePlans } from '../../check/advisories/advisory-templates.ts';
import { PipelineError } from '../../error.ts';
import { advisoryPath, readAdvisory } from '../../policy/advisories.ts';
import { advisoryLines, templateLines } from '../../report/advisory-text.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText, linesText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { type AdvisedClone, checkId, dayOf, inClone, REPOSITORY_OPTIONS } from './advisory.ts';
import { planDocument, warnOfNothing } from './advisory-apply.ts';

const ACTIONS = ['yank', 'deprecate', 'redirect', 'block-upgrade'] as const;
const REASONS = ['cve', 'data-loss', 'withdrawn'] as const;

export const command: Command = {
  words: 'advisory new',
  operands: 'ID',
  options: {
    package: { value: 'NAME', description: 'package that the advisory is about', required: true },
    version: {
      value: 'VERSION|RANGE',
      description: 'affected version, or range of versions',
      multiple: true,
      required: true,
    },
    action: { value: ACTIONS.join('|'), description: 'what clusters are to do (default: yank)' },
    reason: { value: REASONS.join('|'), description: 'why (default: withdrawn)' },
    'reason-id': { value: 'ID', description: 'id of the defect, for example CVE-2026-12345' },
    message: { short: 'm', value: 'TEXT', description: 'message to show to users', required: true },
    'to-version': { value: 'VERSION', description: 'for redirect: version that clusters move to' },
    'to-channel': { value: 'CHANNEL', description: 'for redirect: channel that users are told to use' },
    catalog: {
      value: 'NAME',
      description: 'catalogs, in which * matches anything (default: all)',
      multiple: true,
    },
    'allow-downgrade': { description: 'accept upgrade paths that lead to a lower version' },
    ...REPOSITORY_OPTIONS,
    json: { description: 'print what the advisory will change as JSON' },
  },
  details: [
    'Writes advisories/ID.yaml to the work tree and shows what it will change in each catalog. Bundles whose installations no',
    'edit can give an upgrade path are listed in withoutUpgradePath: review them, they will stay where they are. Run',
    '"portolan advisory apply ID" to change the catalogs. The exit code is 1 if a catalog cannot be edited.',
  ].join('\n'),
  examples: [
    'portolan advisory new ETCD-2026-001 --package etcd --version 0.9.4 --reason data-loss -m "Loses data: use 0.9.5"',
    'portolan advisory new ETCD-2026-002 --package etcd --version "<0.9.0" --action deprecate -m "Use 0.9.5"',
  ],
  run: (invocation, terminal) =>
    inClone({ repo: invocation.text('repo'), base: invocation.text('base') }, terminal, (clone) =>
      create(invocation, terminal, clone),
    ),
};

/** Writes a new advisory, with the versions that it would leave without an upgrade path, and prints its plan. */
async function create(invocation: Invocation, terminal: Terminal, clone: AdvisedClone): Promise<ExitCode> {
  const id = invocation.operands[0] ?? '';
  checkId(id);
  const path = advisoryPath(id);
  const place = join(clone.directory, path);
  if (existsSync(place)) {
    throw new PipelineError('usage', `${path} already exists`, { hint: 'edit it, or use another id' });
  }
  const written = writtenFrom(invocation);
  const { advisory, findings } = readAdvisory(path, Buffer.from(emitYaml(written)));
  for (const finding of findings) terminal.err(findingText(finding));
  if (!advisory) throw usageError(command, 'the advisory would be invalid');
  const asked = { ...clone, advisory, today: dayOf(terminal) };
  const plans = await plansOf(clone.repository, asked);
  const templates = await templatePlans(clone.repository, asked, plans.catalogs);
  // The file names them at once: without that, the advisory could not be applied.
  const without = [...new Set(plans.catalogs.flatMap(({ plan }) => plan.withoutUpgradePath))];
  const text = emitYaml({ ...written, ...(without.length > 0 ? { withoutUpgradePath: without } : {}) });
  writeFiles(dirname(place), new Map([[basename(place), text]]));
  if (invocation.flag('json'))
    await terminal.out(`${JSON.stringify(planDocument(id, plans, templates), null, 2)}\n`);
  else {
    const isToApply = plans.catalogs.some(({ plan }) => plan.kind === 'edit');
    const next = isToApply
      ? [`next: portolan advisory apply ${[id, ...sameClone(invocation)].map(shellWord).join(' ')}`]
      : [];
    const lines = [...advisoryLines(plans.catalogs), ...templateLines(templates)];
    await terminal.out(linesText([...lines, `wrote ${path}`, ...next]));
  }
  for (const { finding } of templates) if (finding) terminal.err(findingText(finding));
  warnOfNothing(plans, advisory, terminal);
  return plans.catalogs.some(({ refused }) => refused !== undefined) ? 1 : 0;
}

/** The options that name the repository, with their values, for the command that is suggested next. */
function sameClone({ text }: Invocation): string[] {
  return ['repo', 'base'].flatMap((name) => {
    const value = text(name);
    return value === undefined ? [] : [`--${name}`, value];
  });
}

/** The advisory that the options describe. @throws PipelineError `usage` */
function writtenFrom({ text, word, list, needed, flag }: Invocation): Record<string, Json> {
  const versions = list('version');
  const [version, channel] = [text('to-version'), text('to-channel')];
  if (version !== undefined && channel !== undefined)
    throw usageError(command, '--to-version and --to-channel cannot be used together');
  const reasonId = text('reason-id');
  const kind = word('reason', REASONS) ?? 'withdrawn';
  const action = word('action', ACTIONS) ?? 'yank';
  if (kind === 'cve' && reasonId === undefined)
    throw usageError(command, '--reason cve needs --reason-id, for example CVE-2026-12345');
  if (action === 'redirect' && version === undefined && channel === undefined)
    throw usageError(command, '--action redirect needs --to-version or --to-channel');
  const catalogs = list('catalog');
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'Advisory',
    package: needed('package'),
    versions: [...versions],
    reason: { kind, ...(reasonId === undefined ? {} : { id: reasonId }) },
    action,
    message: needed('message'),
    ...(version === undefined ? {} : { to: { version } }),
    ...(channel === undefined ? {} : { to: { channel } }),
    ...(catalogs.length === 0 ? {} : { catalogs: [...catalogs] }),
    ...(flag('allow-downgrade') ? { allowDowngrade: true } : {}),
  };
}
