import { PRESET_NAMES } from '../../policy/presets/preset.ts';
import type { Command } from '../command.ts';
import { FLEET_OPTION } from '../fleet-option.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const FORMAT_WORDS = ['text', 'json', 'markdown', 'sarif', 'code-quality'] as const;

/** The command but for what it does, which its help does not need. */
export const CHECK: Omit<Command, 'run'> = {
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
};
