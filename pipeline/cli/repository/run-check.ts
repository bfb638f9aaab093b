import { resolve } from 'node:path';
import { manifestLookups } from '../../catalogs/bundle/manifest-lookups.ts';
import type { People } from '../../check/authority/people.ts';
import { checkPullRequest } from '../../check/check.ts';
import { endedCheck } from '../../check/confined/confined-check.ts';
import type { CheckReport } from '../../check/report.ts';
import type { CheckRequest, OtherCatalogs } from '../../check/request.ts';
import { readFileBytes } from '../../directory.ts';
import { openRepository } from '../../git/repository.ts';
import type { RegistryClient } from '../../oci/registry/client.ts';
import { parseIdentity } from '../../policy/identity.ts';
import type { Policy } from '../../policy/policy.ts';
import { PRESET_NAMES } from '../../policy/presets/preset.ts';
import { clonePackages } from '../../policy/setup/clone-packages.ts';
import { codeQualityReport } from '../../report/code-quality.ts';
import { jsonReport } from '../../report/json.ts';
import { markdownReport } from '../../report/markdown.ts';
import { sarifReport } from '../../report/sarif.ts';
import { textReport } from '../../report/text-report.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { type Invocation, usageError } from '../command.ts';
import { fleetOption } from '../fleet-option.ts';
import { ownStore } from '../own-store.ts';
import { registryClientFor } from '../registry-access.ts';
import { ENDED } from '../supervised.ts';
import { CHECK, FORMAT_WORDS } from './check-options.ts';

const FORMATS = {
  text: textReport,
  json: jsonReport,
  markdown: (report) => markdownReport(report),
  sarif: sarifReport,
  'code-quality': codeQualityReport,
} satisfies Readonly<Record<(typeof FORMAT_WORDS)[number], (report: CheckReport) => string>>;

/** Checks, prints the report, and returns the exit code. */
export async function runCheck(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const format = FORMATS[invocation.word('format', FORMAT_WORDS) ?? 'text'];
  const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
  const repository = await openRepository(directory, searchPath(terminal));
  const clients: RegistryClient[] = [];
  const registryFor = (policy: Policy): RegistryClient => {
    const client = registryClientFor(invocation, terminal, { policy });
    clients.push(client);
    return client;
  };
  try {
    const fleet = fleetOption(invocation, terminal);
    const lookups = manifestLookups(invocation.text('bundles'), terminal);
    const ended = terminal.environment[ENDED];
    // The process of the check ended early: the report says that, and nothing is checked again.
    const make = ended === undefined ? checkPullRequest : endedCheck(ended);
    const report = await make(repository, {
      ...(await requestOf(invocation, terminal)),
      ...lookups,
      ...(fleet ? { fleet } : {}),
      otherCatalogs: otherCatalogs(invocation, terminal),
      registryFor,
    });
    await terminal.out(format(report));
    const exit = exitCode(report);
    // Clusters that cannot be read may be those that the merge strands.
    return exit === 0 && report.enforce !== 'off' && (fleet?.unread ?? 0) > 0 ? 2 : exit;
  } finally {
    for (const client of clients) client.close();
    await repository.close();
  }
}

/** The check that the options ask for. */
async function requestOf(invocation: Invocation, terminal: Terminal): Promise<CheckRequest> {
  const policy = invocation.text('policy');
  const people = peopleOf(invocation);
  const cache = invocation.text('cache');
  return {
    base: invocation.needed('base'),
    head: invocation.text('head') ?? 'HEAD',
    today: terminal.now().toISOString().slice(0, 10),
    findsLayout: true,
    ...(people ? { people } : {}),
    ...presetsOf(invocation),
    ...(cache === undefined
      ? {}
      : { cache: await ownStore(resolve(terminal.directory, cache), searchPath(terminal)) }),
    ...(policy === undefined
      ? {}
      : { policy: { path: policy, bytes: readFileBytes(resolve(terminal.directory, policy)) } }),
  };
}

/** The gates that `--preset` names; without it, the policy's. @throws PipelineError `usage` */
function presetsOf(invocation: Invocation): Pick<CheckRequest, 'presets'> {
  const text = invocation.text('preset');
  if (text === undefined) return {};
  const presets = text.split(',').map((word) => {
    const name = PRESET_NAMES.find((one) => one === word);
    if (name) return name;
    const message = `--preset must be one of ${PRESET_NAMES.join(', ')}, not ${JSON.stringify(word)}`;
    throw usageError(CHECK, message);
  });
  return { presets: [...new Set(presets)] };
}

/** The clones that `--other-catalogs` names, each opened only when a new package makes it necessary. */
function otherCatalogs(invocation: Invocation, terminal: Terminal): OtherCatalogs[] {
  const names = (invocation.text('other-catalogs') ?? '').split(',').filter((name) => name !== '');
  return names.map((name) => ({
    name,
    packages: async () => {
      const clone = await openRepository(resolve(terminal.directory, name), searchPath(terminal));
      try {
        return await clonePackages(clone);
      } finally {
        await clone.close();
      }
    },
  }));
}

/**
 * The people of a pull request, as `--author` says: a person at a terminal is both author and pusher, and there is nobody to ask
 * for reviews. Undefined without the option: then permissions are not checked.
 */
function peopleOf(invocation: Invocation): People | undefined {
  const text = invocation.text('author');
  if (text === undefined) return undefined;
  const identity = parseIdentity(text);
  if (identity?.kind !== 'account')
    throw usageError(CHECK, `--author must be LOGIN or LOGIN#ID, not ${JSON.stringify(text)}`);
  const author = { login: identity.login, id: identity.id };
  return { author, pusher: author, reviews: [], commits: undefined, holds: [] };
}

/** The exit code of a report. A check that is not complete comes first: its results may change when it is run again. */
function exitCode({ verdict, authority, enforce }: CheckReport): ExitCode {
  if (enforce === 'off') return 0;
  if (verdict === 'inconclusive') return 2;
  return verdict === 'fail' || authority.decision === 'needs' || authority.decision === 'deny' ? 1 : 0;
}
