import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { manifestLookups } from '../../catalogs/bundle/manifest-lookups.ts';
import { check } from '../../check/check.ts';
import { endedCheck } from '../../check/confined/confined-check.ts';
import type { People } from '../../check/people.ts';
import type { CheckReport } from '../../check/report.ts';
import type { CheckRequest, OtherCatalogs } from '../../check/request.ts';
import { fileError } from '../../directory.ts';
import { openRepository } from '../../git/repository.ts';
import { directoryStore } from '../../oci/image/directory-store.ts';
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
import { type Command, type Invocation, usageError } from '../command.ts';
import { FLEET_OPTION, fleetOption } from '../fleet-option.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { ENDED } from '../supervised.ts';

const FORMATS = {
  text: textReport,
  json: jsonReport,
  markdown: (report) => markdownReport(report),
  sarif: sarifReport,
  'code-quality': codeQualityReport,
} satisfies Readonly<Record<string, (report: CheckReport) => string>>;

const FORMAT_WORDS = Object.keys(FORMATS) as (keyof typeof FORMATS)[];

export const command: Command = {
  words: 'check',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'path of the repository (default: current directory)' },
    base: {
      value: 'REF',
      description: 'tip of the target branch; the policy and owners are read from it',
      required: true,
    },
    head: { value: 'REF', description: 'head of the pull request (default: HEAD)' },
    author: {
      value: 'LOGIN',
      description:
        'author of the pull request, as LOGIN or LOGIN#ID; if omitted, permissions are not checked',
    },
    policy: { value: 'FILE', description: 'policy file to use instead of the policy in the base branch' },
    preset: {
      value: 'NAME,…',
      description: `other gates to check for, in place of the policy's presets: ${PRESET_NAMES.join(', ')}`,
    },
    bundles: {
      value: 'DIR',
      description:
        'bundle directories PACKAGE/VERSION, to check whether CRD upgrades are safe (default: those in the repository)',
    },
    cache: {
      value: 'DIR',
      description: 'cache the content of released images (graph.released) in this directory',
    },
    'other-catalogs': {
      value: 'DIR',
      description:
        'clones of other public catalogs, comma-separated: a new package must not have a name that they have',
    },
    ...FLEET_OPTION,
    format: { value: FORMAT_WORDS.join('|'), description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Checks the merge of base and head. Portolan reads git objects only: it does not touch the work tree, and does not',
    'execute anything from the pull request. It contacts registries about new images only if the policy allows it',
    '(registries.allow).',
  ].join('\n'),
  examples: [
    'portolan check --base origin/main --head HEAD',
    'portolan check --base origin/main --fleet fleet.csv',
    'portolan check --base origin/main --preset community',
    'portolan check --repo ../catalogs --base main --head pr-17 --author anna --format markdown',
  ],
  run: async (invocation, terminal) => {
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
      const make = ended === undefined ? check : endedCheck(ended);
      const report = await make(repository, {
        ...requestOf(invocation, terminal),
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
  },
};

function requestOf(invocation: Invocation, terminal: Terminal): CheckRequest {
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
    ...(cache === undefined ? {} : { cache: directoryStore(resolve(terminal.directory, cache)) }),
    ...(policy === undefined
      ? {}
      : { policy: { path: policy, bytes: readPolicy(resolve(terminal.directory, policy)) } }),
  };
}

/** The gates that the option names. */
function presetsOf(invocation: Invocation): Pick<CheckRequest, 'presets'> {
  const text = invocation.text('preset');
  if (text === undefined) return {};
  const presets = text.split(',').map((word) => {
    const name = PRESET_NAMES.find((one) => one === word);
    if (name) return name;
    const message = `--preset must be one of ${PRESET_NAMES.join(', ')}, not ${JSON.stringify(word)}`;
    throw usageError(command, message);
  });
  return { presets: [...new Set(presets)] };
}

/** Clones that are opened when a new package makes it necessary. */
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

function readPolicy(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** A person at a terminal is both author and pusher; there is nobody to ask for reviews. */
function peopleOf(invocation: Invocation): People | undefined {
  const text = invocation.text('author');
  if (text === undefined) return undefined;
  const identity = parseIdentity(text);
  if (identity?.kind !== 'account')
    throw usageError(command, `--author must be LOGIN or LOGIN#ID, not ${JSON.stringify(text)}`);
  const author = { login: identity.login, id: identity.id };
  return { author, pusher: author, reviews: [], commits: undefined, holds: [] };
}

function exitCode({ verdict, authority, enforce }: CheckReport): ExitCode {
  if (enforce === 'off') return 0;
  if (verdict === 'inconclusive') return 2;
  return verdict === 'fail' || authority.decision === 'needs' || authority.decision === 'deny' ? 1 : 0;
}
