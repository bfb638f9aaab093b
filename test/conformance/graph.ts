import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cel, loadCel } from '../../catalog/fbc/cel/cel.ts';
import { headOf } from '../../catalog/fbc/channel.ts';
import { load } from '../../catalog/fbc/load.ts';
import { catalogOf } from '../../catalog/fbc/model.ts';
import {
  type Extension,
  type ExtensionResolution,
  resolveExtension,
} from '../../catalog/olm/resolve/extension.ts';
import { resolveNamespace } from '../../catalog/olm/resolve/namespace.ts';
import { storedVersion, versionReleaseOf } from '../../catalog/olm/resolve/release.ts';
import { selectorOf } from '../../catalog/olm/resolve/selector.ts';
import type { Scope, ScopeCatalog } from '../../catalog/olm/resolve/snapshot.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { isServed, refusals } from '../../catalog/rules/serve-refusals.ts';
import { meets, parseVersionConstraint } from '../../catalog/version/constraint.ts';
import { satisfies } from '../../catalog/version/satisfies.ts';
import { formatVersion, parseRange, parseVersion, VersionError } from '../../catalog/version/version.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';

/** Answers of OLM v0's step resolver, of OLM v1's catalog resolver, of `opm serve`, and of the two range libraries. */
export async function* cases(folder: string, fallback: string): AsyncGenerator<CaseResult> {
  const root = join(folder, 'graph');
  const cel = await loadCel();
  for (const name of readdirSync(root).sort()) {
    const compare = Object.entries(COMPARISONS).find(([prefix]) => name.startsWith(prefix))?.[1];
    if (!compare) continue;
    const path = join(root, name);
    yield await isolated(name, async () => {
      const query = json(join(path, 'query.json'));
      const differences = await compare({
        query,
        expected: json(join(path, 'expect.json')),
        scope: await scopeOf(path, query, cel),
      });
      return differences.length === 0
        ? { name, outcome: 'agree' }
        : { name, outcome: 'differ', detail: differences.join('; ') };
    });
  }
  const own = join(root, '_ranges');
  yield* ranges(existsSync(own) ? own : join(fallback, 'graph', '_ranges'));
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON, whose shape its README gives
type Recorded = any;

function json(path: string): Recorded {
  return JSON.parse(readFileSync(path, 'utf8'));
}

interface Case {
  readonly query: Recorded;
  readonly expected: Recorded;
  readonly scope: Scope & { readonly refused: ReadonlyMap<string, readonly string[]> };
}

const COMPARISONS: Readonly<Record<string, (recorded: Case) => string[]>> = {
  'v0-': compareNamespace,
  'v1-': compareExtension,
  'grpc-': compareServed,
};

async function scopeOf(path: string, query: Recorded, cel: Cel): Promise<Case['scope']> {
  const catalogs: ScopeCatalog[] = [];
  const refused = new Map<string, readonly string[]>();
  for (const { name, priority = 0, labels = {}, ...rest } of query.catalogs) {
    if (rest.availability === 'Unavailable' || rest.availabilityMode === 'Unavailable') continue;
    const { blobs, findings } = await load(directorySource(join(path, 'input', name)));
    const catalog = catalogOf(blobs);
    // catalogd serves whatever it can read; only opm judges.
    const served =
      query.engine === 'olmv1'
        ? rest.serving !== false && rest.notServing !== true
        : isServed(catalog, findings);
    if (!served)
      refused.set(
        name,
        refusals(catalog, findings).map(({ rule }) => rule),
      );
    catalogs.push({ name, namespace: 'olm', priority, labels, catalog, serving: served });
  }
  return { catalogs, cel, refused };
}

function compareNamespace({ query, expected, scope }: Case): string[] {
  const ours = resolveNamespace(scope, {
    name: query.namespace,
    subscriptions: query.subscriptions.map((one: Recorded) => ({
      name: one.name,
      package: one.package,
      channel: one.channel ?? '',
      catalog: one.catalog,
      startingCSV: one.startingCSV ?? '',
      installedCSV: one.installedCSV ?? '',
    })),
    installed: (query.installed ?? []).map((one: Recorded) => ({
      name: one.name,
      version: parseVersion(one.version),
      properties: [
        { type: 'olm.package', value: { packageName: one.package, version: one.version } },
        ...(one.properties ?? []),
      ],
    })),
  });
  if (ours.kind === 'fails')
    return differs(
      'error',
      sameError(ours.reason.text, expected.error) ? expected.error : ours.reason,
      expected.error,
    );
  const steps = ours.steps.map(({ catalog, bundle, replaces }) => ({ catalog, bundle, replaces }));
  const recorded = expected.bundleLookups.map((one: Recorded) => ({
    catalog: one.catalog,
    bundle: one.identifier,
    replaces: one.replaces ?? '',
  }));
  return [
    ...differs('error', undefined, expected.error),
    ...differs('steps', sorted(steps), sorted(recorded)),
  ];
}

/** An unsatisfiable set of constraints and why: any other failure is compared by its beginning. */
function sameError(ours: string, recorded: string | undefined): boolean {
  return recorded !== undefined && (ours === recorded || recorded.startsWith(ours.split(':')[0] ?? ours));
}

function compareExtension({ query, expected, scope }: Case): string[] {
  const extension: Extension = {
    package: query.package,
    version: query.spec.version,
    channels: query.spec.channels ?? [],
    policy: query.spec.upgradeConstraintPolicy === 'SelfCertified' ? 'SelfCertified' : 'CatalogProvided',
    installed: query.installed ?? undefined,
    selects: query.spec.selector && selectorOf(query.spec.selector),
    releases: query.featureGates?.BundleReleaseSupport === true,
  };
  const ours = resolveExtension(scope, extension);
  const possible: Recorded[] = expected.oneOf ?? [expected];
  const [first = [], ...others] = possible.map((one) => compareResolution(ours, { one, extension, scope }));
  const nearest = others.reduce((best, next) => (next.length < best.length ? next : best), first);
  // What depends on the order of loading must be known to.
  return [...nearest, ...differs('ties', ours.ties.length > 0, expected.oneOf !== undefined)];
}

function compareResolution(
  { outcome, candidates }: ExtensionResolution,
  { one, extension, scope }: { one: Recorded; extension: Extension; scope: Scope },
): string[] {
  // A catalog that is down ends the walk, wherever it had come.
  if (outcome.kind === 'fails' && outcome.reason.code === 'not-serving') {
    return differs(
      'error',
      true,
      one.error?.startsWith(outcome.reason.text.split(': cache')[0] ?? '') ?? false,
    );
  }
  const left = differs('candidates', Object.fromEntries(candidates), one.candidates);
  if (outcome.kind === 'fails') return [...left, ...differs('error', outcome.reason.text, one.error)];
  const name = outcome.kind === 'upgrade' ? outcome.to.name : extension.installed?.name;
  const bundle = scope.catalogs.flatMap(({ catalog }) => catalog.blobs.bundles).find((b) => b.name === name);
  const found = bundle && versionReleaseOf(bundle, extension.releases);
  const stored = found && (extension.releases ? formatVersion(found.version) : storedVersion(found));
  const recorded = one.resolved ?? {};
  return [
    ...left,
    ...differs('error', undefined, one.error),
    ...differs('resolved', name, recorded.name),
    ...differs('stored', stored, recorded.installedMetadata?.version),
  ];
}

function compareServed({ query, expected, scope }: Case): string[] {
  if (expected.serveError) {
    const [, rules = []] = [...scope.refused][0] ?? [];
    const told = saysWhy(expected.serveError, rules);
    return differs('refusal', told ? 'as recorded' : rules, 'as recorded');
  }
  const refusal = differs('refusal', [...scope.refused.values()].flat(), []);
  return [
    ...refusal,
    ...expected.answers.flatMap((answer: Recorded, i: number) =>
      compareAnswer(query.queries[i], answer, scope),
    ),
  ];
}

/** Whether a recorded refusal is one that any of the rules stands for. */
export function saysWhy(recorded: string, rules: readonly string[]): boolean {
  return rules.some((id) =>
    RULES.find((rule) => rule.id === id)?.opm?.some((message) => says(recorded, message)),
  );
}

/** Whether a recorded text has the words of a rule's message around its quoted names. */
function says(recorded: string, message: string): boolean {
  const pattern = message
    .split(/"[^"]*"|: .*$|\[.*\]$|…/)
    .map((words) => words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(pattern).test(recorded);
}

function compareAnswer({ rpc, request }: Recorded, answer: Recorded, scope: Scope): string[] {
  const packages = scope.catalogs[0]?.catalog.packages;
  if (rpc === 'ListPackages') {
    return differs(
      rpc,
      sorted([...(packages?.keys() ?? [])].map((name) => ({ name }))),
      sorted(answer.stream),
    );
  }
  if (rpc !== 'GetPackage') return [];
  const found = packages?.get(request.name);
  if (!found) return differs(rpc, 'no package', answer.error === undefined ? 'a package' : 'no package');
  const channels = [...found.channels.values()].map((channel) => ({
    name: channel.name,
    csvName: headOf(channel)?.name,
  }));
  const recorded = answer.answer?.channels?.map((one: Recorded) => ({
    name: one.name,
    csvName: one.csvName,
  }));
  return [
    ...differs(`${rpc} channels`, sorted(channels), sorted(recorded ?? [])),
    ...differs(`${rpc} default`, found.defaultChannel, answer.answer?.defaultChannelName),
  ];
}

function* ranges(path: string): Generator<CaseResult> {
  const { versions } = json(join(path, 'query.json'));
  for (const recorded of json(join(path, 'expect.json'))) {
    const differences = [
      ...compareRange('blang', recorded, () => {
        const range = parseRange(recorded.range);
        return versions.filter((version: string) => satisfies(parseVersion(version), range));
      }),
      ...compareRange('masterminds', recorded, () => {
        const constraint = parseVersionConstraint(recorded.range);
        return versions.filter((version: string) => meets(parseVersion(version), constraint));
      }),
    ];
    const name = `_ranges ${JSON.stringify(recorded.range)}`;
    yield differences.length === 0
      ? { name, outcome: 'agree' }
      : { name, outcome: 'differ', detail: differences.join('; ') };
  }
}

function compareRange(library: string, recorded: Recorded, matches: () => string[]): string[] {
  try {
    return differs(library, matches(), recorded[`${library}Error`] ?? recorded[`${library}Matches`] ?? []);
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    return differs(library, error.message, recorded[`${library}Error`] ?? 'a range');
  }
}

function sorted<T>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function differs(what: string, ours: unknown, recorded: unknown): string[] {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(recorded)];
  return a === b ? [] : [`${what}: ours ${a}, recorded ${b}`];
}
