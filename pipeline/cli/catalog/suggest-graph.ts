import { resolve } from 'node:path';
import type { Catalog, Package } from '../../../catalog/fbc/model.ts';
import { type Minor, tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { type World, worldOf } from '../../../catalog/olm/foresight/world.ts';
import type { ChannelScheme, GraphPolicy } from '../../../catalog/olm/suggest/policy.ts';
import { channelOf } from '../../../catalog/olm/suggest/suggested-channel.ts';
import {
  rescuedInstallations,
  type Suggestion,
  suggestGraph,
} from '../../../catalog/olm/suggest/suggestion.ts';
import { readVersionList, VersionListError } from '../../../catalog/olm/suggest/version-list.ts';
import { basicTemplate, semverTemplate, withoutImage } from '../../../catalog/opm/template/suggested.ts';
import { formatVersion, tryParseVersion, type Version } from '../../../catalog/version/version.ts';
import { renderedBlob } from '../../catalogs/write-blobs.ts';
import { printedTemplate } from '../../catalogs/write-template.ts';
import { worldsOf } from '../../check/audit.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { suggestionDiff, suggestionsSummary, suggestionText } from '../../report/suggestion-text.ts';
import { dataBytes, type Terminal } from '../../terminal.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { printUnread, readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'suggest-graph',
  operands: '[DIR|REFERENCE]',
  options: {
    package: {
      value: 'NAME',
      description: 'only this package (default: all, one line each)',
      multiple: true,
    },
    versions: {
      value: 'FILE',
      description:
        'file with the versions of a new package (--package), one on each line: VERSION [NAME [IMAGE]]; replaces DIR',
    },
    channels: {
      value: 'CHANNELS',
      description:
        'channels to make: today for those of the catalog (default), stable (default for --versions), candidate with pre-releases, minor for stable-vX.Y, major for stable-vX; several with commas',
      multiple: true,
    },
    stops: {
      value: 'today|minor|major|none',
      description:
        'required stops: keep to the direct upgrades of today (default); the newest patch of each minor version; the newest version of each major version (default for --versions); or none',
    },
    stop: {
      value: 'VERSION',
      description: 'a required stop: a version that no upgrade may skip over',
      multiple: true,
    },
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
    template: {
      value: 'basic|semver',
      description:
        'print a template for portolan opm alpha render-template instead, in YAML or with -o json in JSON',
    },
    diff: { description: 'show only the entries that differ from today' },
    check: { description: 'exit with 1 if the suggestion gives a stranded installation an upgrade path' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Suggests the channels and edges with the fewest entries that take every installation to the head of its channel, under',
    'OLM v0 and OLM v1. Portolan tries each suggestion with both resolvers: nobody who has an upgrade path today loses it.',
    'By default no installation gets a direct upgrade that it does not have today, unless it is stranded. With --stops',
    'minor|major|none, upgrades may skip over all versions except the required stops.',
  ].join('\n'),
  examples: [
    'portolan suggest-graph catalogs/v4.20',
    'portolan suggest-graph --package etcd --stops minor catalogs/v4.20 -o yaml',
    'portolan suggest-graph --package etcd --versions versions.txt --channels stable,minor -o yaml',
    'portolan suggest-graph --package etcd --avoid 1.4.2 catalogs/v4.20',
  ],
  run: async (invocation, terminal) => {
    const { list, flag } = invocation;
    checkOutput(invocation);
    const world = await worldIn(invocation, terminal);
    const packages = packagesOf(world, list('package'));
    checkVersions(invocation, packages);
    const suggestions = packages.map((ofPackage) => {
      const policy = policyOf(invocation, ofPackage);
      return { ofPackage, policy, suggestion: suggestGraph(world, ofPackage, policy) };
    });
    await print(suggestions, invocation, terminal);
    const isAnyRescued = suggestions.some(({ suggestion }) => rescuedInstallations(suggestion).length > 0);
    return flag('check') && isAnyRescued ? 1 : 0;
  },
};

/**
 * Refuses options that exclude each other.
 *
 * @throws PipelineError `usage` for options of which one would have no effect
 */
function checkOutput({ flag, text }: Invocation): void {
  const output = text('output') ?? 'text';
  if (flag('diff') && text('template') !== undefined)
    throw usageError(command, '--diff and --template cannot be used together');
  if (flag('diff') && output !== 'text')
    throw usageError(command, `--diff and --output ${output} cannot be used together`);
}

/**
 * Refuses versions in options that no package has.
 *
 * @throws PipelineError `usage` for a version that none of the packages has: it would have no effect
 */
function checkVersions(invocation: Invocation, packages: readonly Package[]): void {
  const versions = packages.flatMap(({ bundles }) =>
    [...bundles.values()].flatMap(({ version }) => version ?? []),
  );
  const known = new Set(versions.map(formatVersion));
  const [only] = packages;
  const where = only && packages.length === 1 ? `the package ${only.name} does not have` : 'no package has';
  for (const option of ['stop', 'avoid'])
    for (const written of invocation.list(option))
      if (!known.has(formatVersion(versionIn(option, written))))
        throw usageError(command, `--${option} ${written}: ${where} this version`);
  for (const written of invocation.list('supported')) {
    const { major, minor } = minorIn(written);
    if (!versions.some((one) => Number(one.major) === major && Number(one.minor) === minor))
      throw usageError(command, `--supported ${written}: ${where} a version of this minor version`);
  }
}

/** A minor version such as `1.2`. @throws PipelineError `usage` */
function minorIn(written: string): Minor {
  const minor = tryParseMinor(written);
  if (minor) return minor;
  throw usageError(
    command,
    `--supported must be a minor version such as 1.4, not ${JSON.stringify(written)}`,
  );
}

/** The catalog, or the package of which only versions are known. */
async function worldIn(invocation: Invocation, terminal: Terminal): Promise<World> {
  const { operands, text, list, word } = invocation;
  const file = text('versions');
  if ((file === undefined) === (operands.length === 0)) {
    throw usageError(command, 'name either a catalog or --versions FILE');
  }
  const olm = word('olm', ['v0', 'v1']);
  const generations = olm === undefined ? (['v0', 'v1'] as const) : [olm];
  if (file !== undefined) {
    const [name, another] = list('package');
    if (name === undefined || another !== undefined) {
      throw usageError(command, '--versions needs exactly one --package');
    }
    return worldOf({ name, catalog: catalogOfVersions(name, file, terminal), olm: generations });
  }
  const catalogs = await readOperands(operands, invocation, terminal);
  printUnread(catalogs, terminal);
  const today = terminal.now().toISOString().slice(0, 10);
  const [world] = await worldsOf({ catalogs, olm: generations, today });
  if (!world) throw usageError(command, 'name either a catalog or --versions FILE');
  return world;
}

/**
 * A catalog of one package, of which a file lists the versions.
 *
 * @throws PipelineError `usage` for a list that cannot be read
 */
function catalogOfVersions(name: string, file: string, { directory }: Terminal): Catalog {
  try {
    return readVersionList(name, readText(resolve(directory, file)));
  } catch (error) {
    if (error instanceof VersionListError) throw new PipelineError('usage', `${file}: ${error.message}`);
    throw error;
  }
}

/** The packages of a catalog that are named, or all. @throws PipelineError `usage` for a package that is not there */
function packagesOf({ catalog }: World, names: readonly string[]): Package[] {
  if (names.length === 0) return [...catalog.packages.values()];
  return names.map((name) => {
    const found = catalog.packages.get(name);
    if (found) return found;
    throw noPackage(name, [catalog]);
  });
}

/** How the options want the graph to be. A version to avoid that the package does not have changes nothing in it. */
function policyOf(invocation: Invocation, ofPackage: Package): GraphPolicy {
  const { list, word, text } = invocation;
  const isNew = text('versions') !== undefined;
  const avoided = list('avoid').flatMap((written) => {
    const wanted = versionIn('avoid', written);
    const bundle = [...ofPackage.bundles.values()].find(
      ({ version }) => version && formatVersion(version) === formatVersion(wanted),
    );
    return bundle?.name ?? [];
  });
  return {
    channels: schemesOf(invocation),
    stops: word('stops', ['today', 'minor', 'major', 'none']) ?? (isNew ? 'major' : 'today'),
    required: list('stop').map((written) => versionIn('stop', written)),
    supported: list('supported').map(minorIn),
    avoid: new Set(avoided),
    keep: word('keep', ['needed', 'all']) ?? 'needed',
  };
}

const SCHEMES = ['today', 'stable', 'candidate', 'minor', 'major'] as const;

/** The wanted schemes; by default a catalog keeps today's channels. @throws PipelineError `usage` */
function schemesOf({ list, text }: Invocation): ChannelScheme[] {
  const wanted = list('channels').flatMap((one) => one.split(','));
  const schemes = wanted.map((one) => {
    const found = SCHEMES.find((scheme) => scheme === one);
    if (found) return found;
    throw usageError(command, `--channels must be ${SCHEMES.join(', ')}, not ${JSON.stringify(one)}`);
  });
  const isNew = text('versions') !== undefined;
  if (schemes.includes('today') && (isNew || schemes.length > 1)) {
    throw usageError(command, '--channels today stands alone, and needs a catalog');
  }
  if (schemes.length > 0) return schemes;
  return [isNew ? 'stable' : 'today'];
}

/** The version in an option. @throws PipelineError `usage` */
function versionIn(option: string, text: string): Version {
  const version = tryParseVersion(text);
  if (version) return version;
  throw usageError(command, `--${option} must be a version such as 1.4.2, not ${JSON.stringify(text)}`);
}

interface Suggested {
  readonly ofPackage: Package;
  readonly policy: GraphPolicy;
  readonly suggestion: Suggestion;
}

/** Prints the suggestion as text, as changed channels, or as a template. */
async function print(all: readonly Suggested[], invocation: Invocation, terminal: Terminal): Promise<void> {
  const format = invocation.word('output', ['text', 'yaml', 'json']) ?? 'text';
  const template = invocation.word('template', ['basic', 'semver']);
  if (template !== undefined) {
    for (const one of all) {
      const text = templateOf(template, one);
      await terminal.out(dataBytes(printedTemplate(text, format === 'json' ? 'json' : 'yaml')));
    }
    return;
  }
  if (format === 'text') {
    await terminal.out(textOf(all, invocation));
    return;
  }
  for (const { ofPackage, suggestion } of all) {
    for (const channel of suggestion.channels.filter((channel) => isChanged(ofPackage, channel))) {
      await terminal.out(dataBytes(renderedBlob(channelOf(ofPackage, channel), format)));
    }
  }
}

/** Whether a suggestion changes the entries of a channel, or makes it. */
function isChanged(ofPackage: Package, channel: Suggestion['channels'][number]): boolean {
  const today = ofPackage.channels.get(channel.name);
  return (
    !today ||
    JSON.stringify(today.value['entries']) !== JSON.stringify(channelOf(ofPackage, channel).value['entries'])
  );
}

/** The suggestions as text: what differs, a line for each package if none is named, or all of each suggestion. */
function textOf(all: readonly Suggested[], { list, flag }: Invocation): string {
  const suggestions = all.map(({ suggestion }) => suggestion);
  if (flag('diff'))
    return all.map(({ ofPackage, suggestion }) => suggestionDiff(ofPackage, suggestion)).join('');
  if (list('package').length === 0) return suggestionsSummary(suggestions);
  return suggestions.map(suggestionText).join('');
}

/** The suggestion as a template. @throws PipelineError `usage` where an image is unknown */
function templateOf(kind: 'basic' | 'semver', { ofPackage, policy, suggestion }: Suggested): string {
  const { avoid, channels } = policy;
  const isBasic = kind === 'basic';
  // A semver template lists every version but those to avoid, and each needs its image.
  const [lacking] = withoutImage(ofPackage, isBasic ? suggestion : { ...suggestion, dropped: [...avoid] });
  if (lacking !== undefined) {
    throw usageError(
      command,
      `--template needs the image of ${lacking}: write VERSION NAME IMAGE on its line`,
    );
  }
  const value = isBasic
    ? basicTemplate(ofPackage, suggestion)
    : semverTemplate(ofPackage, { kind: channels.includes('minor') ? 'minor' : 'major', avoid });
  return JSON.stringify(value);
}
