import { extensionDocument, gatesOf } from '../../../catalog/bundle/extension.ts';
import { headOf } from '../../../catalog/fbc/channel.ts';
import { installedOf, versionText } from '../../../catalog/fbc/edge.ts';
import type { Package } from '../../../catalog/fbc/model.ts';
import { celFor, MOST_EFFORT } from '../../../catalog/olm/foresight/world.ts';
import { installSet, type SetMember } from '../../../catalog/olm/install-set.ts';
import type { Scope, ScopeCatalog } from '../../../catalog/olm/resolve/snapshot.ts';
import { gatedSupport } from '../../../catalog/olm/resolve/support.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { emitPortableYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import { PipelineError } from '../../error.ts';
import { dataBytes } from '../../terminal.ts';
import { linesText, plainText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { printUnread, readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { scopeOf } from './cluster-catalogs.ts';
import { extensionLines } from './migration-text.ts';
import { pinOf } from './pin.ts';

/** A member of a set, as JSON a public interface. */
interface PrintedMember {
  readonly package: string;
  readonly bundle: string;
  readonly version?: string;
  readonly catalog: string;
  readonly channel: string;
  /** What it requires, and the package that meets it. */
  readonly requires: SetMember['requires'];
  /** Why OLM v1 refuses the bundle, whatever is installed. */
  readonly refusals: readonly string[];
  /** Feature gates that it needs. */
  readonly gates: readonly string[];
  /** Absent where no version pins the bundle. */
  readonly extension?: Json;
}

export const command: Command = {
  words: 'install-set',
  operands: 'PACKAGE DIR|REFERENCE…',
  options: {
    channel: { value: 'NAME', description: 'channel of the package (default: its default channel)' },
    version: { value: 'VERSION', description: 'version of the package (default: the head of the channel)' },
    catalog: { value: 'NAME', description: 'catalog of the package, if several have it' },
    format: {
      value: 'text|json|yaml',
      description: 'output format (default: text); yaml prints only the ClusterExtensions',
    },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'OLM v1 resolves no dependencies. Portolan resolves them as OLM v0 does, and prints a pinned ClusterExtension for each',
    'member of the set, what is required first. Apply each one after the one before it is installed. The catalogs are those',
    'of the cluster; the ClusterCatalogs have their names.',
    '',
    'OLM v1 refuses a bundle that declares dependencies (olm.package.required, olm.gvk.required, olm.constraint), even if they',
    'are installed. Such members are named: publish them without these properties for OLM v1. The exit code is 1 if there is no',
    'set, or if OLM v1 refuses a member.',
  ].join('\n'),
  examples: [
    'portolan install-set kuadrant-operator catalogs/v4.20',
    'portolan install-set kuadrant-operator catalogs/v4.20 --format yaml > set.yaml',
  ],
  run: async (invocation, terminal) => {
    const [name = '', ...operands] = invocation.operands;
    const format = invocation.word('format', ['text', 'json', 'yaml']) ?? 'text';
    const read = await readOperands(operands, invocation, terminal);
    printUnread(read, terminal);
    const served = read.map((one) => ({ read: one, name: one.name, priority: 0, sources: [] }));
    const catalogs = scopeOf(served, name);
    const scope = { catalogs, cel: await celFor(catalogs), effort: { left: MOST_EFFORT } };
    const { source, ofPackage } = packageIn(catalogs, name, invocation);
    const channel = invocation.text('channel') ?? ofPackage.defaultChannel;
    const wanted = { package: name, channel, catalog: source.name };
    const bundle = bundleNamed(ofPackage, channel, invocation.text('version'));
    const set = installSet(scope, { ...wanted, bundle });
    if ('why' in set) {
      const why = plainText(`${bundle || name} cannot be installed from these catalogs: ${set.why}`);
      terminal.err(`FAIL: ${why}\n`);
      // Without a bundle, any version of the package may be chosen.
      const older = installSet(scope, wanted);
      const other = 'members' in older ? older.members.find((one) => one.bundle.package === name) : undefined;
      if (other?.bundle.version)
        terminal.err(`hint: another version can: --version ${formatVersion(other.bundle.version)}\n`);
      return 1;
    }
    const members = set.members.map((member) => printedMember(member, scope));
    if (format === 'json') await terminal.out(`${JSON.stringify({ members }, null, 2)}\n`);
    else if (format === 'text') await terminal.out(linesText(members.flatMap(memberLines)));
    else
      for (const { extension } of members)
        if (extension) await terminal.out(dataBytes(`---\n${emitPortableYaml(extension)}`));
    const refused = members.filter(({ refusals }) => refusals.length > 0).map(({ bundle }) => bundle);
    if (refused.length === 0) return 0;
    terminal.err(`FAIL: OLM v1 refuses ${plainText(refused.join(', '))}\n`);
    return 1;
  },
};

/** The package and the catalog that has it. @throws PipelineError `usage` if several have it, and none is named */
function packageIn(
  catalogs: readonly ScopeCatalog[],
  name: string,
  { text }: Invocation,
): { readonly source: ScopeCatalog; readonly ofPackage: Package } {
  const wanted = text('catalog');
  const having = catalogs.flatMap((source) => {
    const ofPackage = source.catalog.packages.get(name);
    return ofPackage && (wanted === undefined || source.name === wanted) ? [{ source, ofPackage }] : [];
  });
  const [found, ...others] = having;
  if (!found)
    throw noPackage(
      name,
      catalogs.map(({ catalog }) => catalog),
    );
  if (others.length === 0) return found;
  throw new PipelineError('usage', `several catalogs have the package ${JSON.stringify(name)}`, {
    hint: `select one: --catalog ${having.map(({ source }) => source.name).join('|')}`,
  });
}

/**
 * The name of the bundle with a version; without a version, of the head of the channel, empty where it has several.
 *
 * @throws PipelineError `usage` for a version that no bundle, or more than one, has
 */
function bundleNamed(
  { name, bundles, channels }: Package,
  channel: string,
  version: string | undefined,
): string {
  const own = channels.get(channel);
  if (version === undefined) return (own && headOf(own)?.name) ?? '';
  const found = [...bundles.values()].filter((bundle) => versionText(bundle) === version);
  const [only, ...others] = found;
  if (only && others.length === 0) return only.name;
  const what = only
    ? `several bundles of ${name} have the version ${version}`
    : `${name} has no version ${version}`;
  throw new PipelineError('usage', what);
}

/** A member of the set with its ClusterExtension, or why OLM v1 refuses it. */
function printedMember({ catalog, channel, bundle, requires }: SetMember, scope: Scope): PrintedMember {
  const { obstacles, needsNamespace } = gatedSupport(bundle);
  const installed = installedOf(bundle);
  const pin = pinOf(scope.catalogs, { package: bundle.package, installed, channel, preferred: catalog });
  const about = {
    package: bundle.package,
    bundle: bundle.name,
    ...(bundle.version ? { version: formatVersion(bundle.version) } : {}),
    catalog,
    channel,
    requires,
  };
  if ('why' in pin) return { ...about, refusals: [...obstacles, pin.why], gates: [] };
  const options = {
    name: bundle.package,
    // The name of a package may have dots, that of a namespace none.
    namespace: bundle.package.replaceAll('.', '-'),
    package: bundle.package,
    version: pin.version,
    channel: pin.channel,
    ...(scope.catalogs.length > 1 ? { catalog: pin.source.name } : {}),
    ...(needsNamespace ? { watched: bundle.package.replaceAll('.', '-') } : {}),
  };
  return { ...about, refusals: obstacles, gates: gatesOf(options), extension: extensionDocument(options) };
}

/** A member of the set as lines of text. @param at its place, from 0 */
function memberLines(member: PrintedMember, at: number): string[] {
  const {
    package: packageName,
    version,
    bundle,
    catalog,
    channel,
    requires,
    refusals,
    gates,
    extension,
  } = member;
  return [
    ...(at === 0 ? [] : ['']),
    `${at + 1}. ${packageName} ${version ?? bundle} from channel ${channel} of ${catalog}`,
    ...requires.map((one) => `  requires an operator ${one.text}: ${one.package}`),
    ...refusals.map((why) => `  REFUSED by OLM v1: ${why}`),
    ...gates.map((gate) => `  needs the feature gate ${gate}`),
    ...extensionLines(extension),
  ];
}
