import type { Package } from '../../../catalog/fbc/model.ts';
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { renderBlob } from '../../../catalog/fbc/render.ts';
import type { World } from '../../../catalog/olm/foresight/world.ts';
import type { GraphPolicy } from '../../../catalog/olm/suggest/policy.ts';
import { channelOf, type Suggestion, suggestGraph } from '../../../catalog/olm/suggest/suggestion.ts';
import { formatVersion, tryParseVersion, type Version } from '../../../catalog/version/version.ts';
import { worldsOf } from '../../check/audit.ts';
import { PipelineError } from '../../error.ts';
import { suggestionsSummary, suggestionText } from '../../report/suggestion-text.ts';
import type { Terminal } from '../../terminal.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'suggest-graph',
  operands: 'DIR|REFERENCE',
  options: {
    package: {
      value: 'NAME',
      description: 'only this package (default: all, one line each)',
      multiple: true,
    },
    stops: {
      value: 'today|minor|major|none',
      description:
        'required stops: keep to the direct upgrades of today (default); the newest patch of each minor version; the newest version of each major version; or none',
    },
    stop: { value: 'VERSION', description: 'a version that no upgrade may pass by', multiple: true },
    supported: {
      value: 'MINOR',
      description: 'a supported minor version, such as 1.4: its newest patch stays installable',
      multiple: true,
    },
    avoid: { value: 'VERSION', description: 'a version that nobody may install any more', multiple: true },
    keep: {
      value: 'needed|all',
      description: 'keep the entries that upgrades need (default), or all, and change only edges',
    },
    olm: { value: 'v0|v1', description: 'OLM version on the clusters (default: both)' },
    output: { short: 'o', value: 'text|yaml|json', description: 'output format (default: text)' },
    check: { description: 'exit with 1 if the suggestion gives a stranded installation an upgrade path' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Suggests the channels and edges with the fewest entries that take every installation to the head of its channel, under',
    'OLM v0 and OLM v1. Portolan tries each suggestion with both resolvers: nobody who has an upgrade path today loses it.',
    'By default no installation gets a direct upgrade that it does not have today, unless it is stranded. With --stops',
    'minor|major|none, upgrades may pass by all versions but the required stops.',
  ].join('\n'),
  examples: [
    'portolan suggest-graph catalogs/v4.20',
    'portolan suggest-graph --package etcd --stops minor catalogs/v4.20 -o yaml',
    'portolan suggest-graph --package etcd --avoid 1.4.2 catalogs/v4.20',
  ],
  run: async (invocation, terminal) => {
    const { list, word, flag } = invocation;
    const [catalog] = await readOperands(invocation.operands, invocation, terminal);
    if (!catalog) throw usageError(command, 'a catalog is required');
    const olm = word('olm', ['v0', 'v1']);
    const [world] = await worldsOf({
      catalogs: [catalog],
      olm: olm === undefined ? ['v0', 'v1'] : [olm],
      today: terminal.now().toISOString().slice(0, 10),
    });
    if (!world) throw usageError(command, 'a catalog is required');
    const packages = packagesOf(world, list('package'));
    const suggestions = packages.map((one) => ({
      one,
      suggestion: suggestGraph(world, one, policyOf(invocation, one)),
    }));
    await print(suggestions, invocation, terminal);
    const helps = suggestions.some(({ suggestion }) => strandsFewer(suggestion));
    return flag('check') && helps ? 1 : 0;
  },
};

function strandsFewer({ stranded }: Suggestion): boolean {
  const key = (one: Suggestion['stranded']['today'][number]): string =>
    JSON.stringify([one.olm, one.channel, one.installed.name]);
  const left = new Set(stranded.suggested.map(key));
  return stranded.today.some((one) => !left.has(key(one)));
}

/** @throws PipelineError `usage` for a package that is not there */
function packagesOf({ catalog }: World, names: readonly string[]): Package[] {
  if (names.length === 0) return [...catalog.packages.values()];
  return names.map((name) => {
    const found = catalog.packages.get(name);
    if (found) return found;
    throw new PipelineError('usage', `no catalog contains the package ${JSON.stringify(name)}`, {
      hint: 'run portolan list packages DIR to list the packages',
    });
  });
}

function policyOf({ list, word }: Invocation, ofPackage: Package): GraphPolicy {
  const avoided = list('avoid').map((text) => {
    const wanted = parsed('avoid', text);
    const bundle = [...ofPackage.bundles.values()].find(
      ({ version }) => version && formatVersion(version) === formatVersion(wanted),
    );
    if (bundle) return bundle.name;
    throw usageError(command, `--avoid ${text}: the package ${ofPackage.name} does not have this version`);
  });
  return {
    channels: ['today'],
    stops: word('stops', ['today', 'minor', 'major', 'none']) ?? 'today',
    required: list('stop').map((text) => parsed('stop', text)),
    supported: list('supported').map((text) => {
      const minor = tryParseMinor(text);
      if (minor) return minor;
      throw usageError(
        command,
        `--supported must be a minor version such as 1.4, not ${JSON.stringify(text)}`,
      );
    }),
    avoid: new Set(avoided),
    keep: word('keep', ['needed', 'all']) ?? 'needed',
  };
}

/** @throws PipelineError `usage` */
function parsed(option: string, text: string): Version {
  const version = tryParseVersion(text);
  if (version) return version;
  throw usageError(command, `--${option} must be a version such as 1.4.2, not ${JSON.stringify(text)}`);
}

interface Suggested {
  readonly one: Package;
  readonly suggestion: Suggestion;
}

async function print(all: readonly Suggested[], invocation: Invocation, terminal: Terminal): Promise<void> {
  const format = invocation.word('output', ['text', 'yaml', 'json']) ?? 'text';
  const suggestions = all.map(({ suggestion }) => suggestion);
  if (format === 'text') {
    const isWhole = invocation.list('package').length === 0;
    await terminal.out(isWhole ? suggestionsSummary(suggestions) : suggestions.map(suggestionText).join(''));
    return;
  }
  for (const { one, suggestion } of all) {
    for (const channel of suggestion.channels.filter((channel) => isChanged(one, channel))) {
      await terminal.out(renderBlob(channelOf(one, channel), format));
    }
  }
}

function isChanged(ofPackage: Package, channel: Suggestion['channels'][number]): boolean {
  const today = ofPackage.channels.get(channel.name);
  return (
    !today ||
    JSON.stringify(today.value['entries']) !== JSON.stringify(channelOf(ofPackage, channel).value['entries'])
  );
}
