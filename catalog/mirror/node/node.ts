/**
 * What a node does with mirror documents: the machine config operator merges them into
 * one `registries.conf`, the container runtime looks a reference up in it and asks one
 * location after the other.
 *
 * @see https://github.com/openshift/runtime-utils/blob/master/pkg/registries/registries.go
 * @see https://github.com/containers/image/blob/main/pkg/sysregistriesv2/system_registries_v2.go
 */
import { compareText } from '../../go/text.ts';
import {
  formatReference,
  InvalidReference,
  parseReference,
  type Reference,
  repositoryName,
  tryParseReference,
  withDigest,
} from '../../reference.ts';

/** One mirror of one document, as a cluster holds it. */
export interface MirrorRule {
  readonly source: string;
  readonly mirrors: readonly string[];
  /** `NeverContactSource`: the source is not asked, whatever the mirrors say. */
  readonly blocksSource: boolean;
}

/** The rules of all documents of a cluster. */
export interface MirrorRules {
  /** Of ImageDigestMirrorSets, then of ImageContentSourcePolicies. */
  readonly digest: readonly MirrorRule[];
  /** Of ImageTagMirrorSets. */
  readonly tag: readonly MirrorRule[];
}

/** `registries.conf` of a node. */
export interface NodeConfig {
  /** By prefix of a name. */
  readonly registries: ReadonlyMap<string, NodeRegistry>;
  /** Prefixes such as `*.example.com`, longest first. */
  readonly wildcards: readonly string[];
  /** Mirrors below which every name is valid, so that references that are rewritten to them need no check. */
  readonly sound: ReadonlySet<string>;
  /** Why the runtime refuses the whole file; then nothing can be pulled at all. */
  readonly refused: string | undefined;
}

export interface NodeRegistry {
  /** The prefix of names that are looked up here, and where they are when no mirror has them. */
  readonly location: string;
  readonly digestMirrors: readonly string[];
  readonly tagMirrors: readonly string[];
  readonly blocked: boolean;
}

/** What a node asks for a reference. */
export type Pull =
  | {
      /** References in the order of asking; the last is the source itself. */
      readonly asked: readonly string[];
      /** Whether the source may not be asked. */
      readonly sourceBlocked: boolean;
    }
  /** Why nothing can be asked, in the runtime's words. */
  | { readonly refused: string };

/**
 * Merges rules as the machine config operator does.
 *
 * @param base the registries that the node is configured with already; a rule for one of them takes its place
 */
export function nodeConfig(
  rules: MirrorRules,
  base: ReadonlyMap<string, NodeRegistry> = new Map(),
): NodeConfig {
  const registries = new Map<string, NodeRegistry>(base);
  const digests = mirrorsBySource(rules.digest);
  for (const [source, { mirrors, blocked }] of digests) {
    registries.set(source, { location: source, digestMirrors: mirrors, tagMirrors: [], blocked });
  }
  for (const [source, { mirrors, blocked }] of mirrorsBySource(rules.tag)) {
    // What the node had before gives way to a rule: only rules are merged.
    const known = digests.get(source);
    registries.set(source, {
      location: source,
      digestMirrors: known?.mirrors ?? [],
      tagMirrors: mirrors,
      blocked: blocked || known?.blocked === true,
    });
  }
  const wildcards = [...registries.keys()].filter((source) => source.startsWith('*.'));
  return {
    registries: withTrimmedLocations(registries),
    wildcards: wildcards.sort((a, b) => b.length - a.length || compareText(a, b)),
    sound: soundMirrors(registries),
    refused: whyRefused(registries),
  };
}

/** Most characters of a sound mirror, and of what is put behind it: both together stay below the 255 of a name. */
const MAX_SOUND = 120;

/** The mirrors below which every repository name is a valid reference, so that single names need no check. */
function soundMirrors(registries: ReadonlyMap<string, NodeRegistry>): Set<string> {
  const mirrors = [...registries.values()].flatMap(({ digestMirrors, tagMirrors }) => [
    ...digestMirrors,
    ...tagMirrors,
  ]);
  const isSound = (mirror: string): boolean => {
    const probe = tryParseReference(`${mirror}:probe`);
    // Docker Hub writes out some names and not others.
    return probe !== undefined && probe.registry !== 'docker.io' && mirror.length <= MAX_SOUND;
  };
  // Behind a host alone, `@sha256:…` would not be a reference.
  return new Set([...new Set(mirrors)].filter((mirror) => mirror.includes('/') && isSound(mirror)));
}

interface Merged {
  readonly mirrors: readonly string[];
  readonly blocked: boolean;
}

/** The mirrors of each source, in an order that agrees with every rule if there is one. */
function mirrorsBySource(rules: readonly MirrorRule[]): Map<string, Merged> {
  const lists = new Map<string, { chains: string[][]; blocked: boolean }>();
  for (const { source, mirrors, blocksSource } of rules) {
    // A rule without a mirror other than the source is not a rule, not even for its policy.
    if (mirrors.every((mirror) => mirror === source)) continue;
    const list = lists.get(source) ?? { chains: [], blocked: false };
    list.chains.push(mirrors.includes(source) ? [...mirrors] : [...mirrors, source]);
    list.blocked ||= blocksSource;
    lists.set(source, list);
  }
  const result = new Map<string, Merged>();
  for (const [source, { chains, blocked }] of lists) {
    const order = inOrder(chains);
    // The source comes last by itself.
    if (order.at(-1) === source) order.pop();
    result.set(source, { mirrors: order, blocked });
  }
  return result;
}

/** A slash at the end of a location means nothing. */
function withTrimmedLocations(registries: ReadonlyMap<string, NodeRegistry>): Map<string, NodeRegistry> {
  const result = new Map<string, NodeRegistry>();
  for (const [source, registry] of registries) {
    const prefix = source.replace(/\/+$/, '');
    // Of several entries for a prefix, the runtime uses the first.
    if (!result.has(prefix))
      result.set(prefix, { ...registry, location: registry.location.replace(/\/+$/, '') });
  }
  return result;
}

/** Why a node refuses the whole configuration, in the words of its library. */
function whyRefused(registries: ReadonlyMap<string, NodeRegistry>): string | undefined {
  for (const [source, { digestMirrors, tagMirrors }] of registries) {
    const mirrors = [...digestMirrors, ...tagMirrors];
    const url = [source, ...mirrors].find((location) => /^https?:\/\//.test(location));
    if (url !== undefined) return `invalid location '${url}': URI schemes are not supported`;
    if (source.replace(/\/+$/, '') === '') return 'invalid condition: both location and prefix are unset';
    if (mirrors.some((mirror) => mirror.replace(/\/+$/, '') === '')) {
      return 'invalid condition: mirror location is unset';
    }
  }
  return undefined;
}

/**
 * The hosts of all mirrors, with their ports. Requests to them are allowed even on an internal network, because the user's own
 * configuration names them.
 */
export function mirrorHosts({ registries }: NodeConfig): string[] {
  const places = [...registries].flatMap(([prefix, { location, digestMirrors, tagMirrors }]) => [
    ...digestMirrors,
    ...tagMirrors,
    ...(location === prefix ? [] : [location]),
  ]);
  return [...new Set(places.map((place) => place.split('/', 1)[0] ?? ''))];
}

/**
 * What a node with this configuration asks for a reference as a pod names it.
 *
 * @param read the reference, where it was read before
 */
export function pullOnNode(config: NodeConfig, written: string, read?: Reference): Pull {
  try {
    const wanted = read ?? parseReference(written);
    if (config.refused !== undefined) return { refused: config.refused };
    const name = repositoryName(wanted);
    // The runtime drops a tag beside a digest.
    const full = formatReference(wanted.kind === 'digest' ? withDigest(wanted, wanted.digest) : wanted);
    const prefix = longestPrefix(config, name);
    const registry = prefix === undefined ? undefined : config.registries.get(prefix);
    if (prefix === undefined || !registry) return { asked: [full], sourceBlocked: false };
    const mirrors = wanted.kind === 'digest' ? registry.digestMirrors : registry.tagMirrors;
    const rest = full.slice(prefixLength(name, prefix));
    const sound = (mirror: string): boolean => config.sound.has(mirror) && rest.length <= MAX_SOUND;
    const asked = mirrors.map((mirror) => (sound(mirror) ? mirror + rest : canonical(mirror + rest)));
    const own = registry.location === prefix ? full : canonical(registry.location + rest);
    return { asked: [...asked, own], sourceBlocked: registry.blocked };
  } catch (error) {
    if (error instanceof InvalidReference) return { refused: error.message };
    throw error;
  }
}

/** The longest prefix of a name that the configuration has, ending with a host, a port or a part of the path. */
function longestPrefix(config: NodeConfig, name: string): string | undefined {
  let end = name.length;
  for (; end > 0; end = Math.max(name.lastIndexOf('/', end - 1), name.lastIndexOf(':', end - 1))) {
    const prefix = name.slice(0, end);
    if (config.registries.has(prefix)) break;
  }
  const exact = end > 0 ? name.slice(0, end) : undefined;
  const wildcard = config.wildcards.find((pattern) => prefixLength(name, pattern) > 0);
  // Of equal lengths the runtime takes the first in byte order.
  if (wildcard === undefined || (exact !== undefined && exact.length > wildcard.length)) return exact;
  return wildcard;
}

/**
 * How much of a name a prefix covers; 0 when it does not match. `*.example.com` covers the host `a.example.com` alone, so the
 * name must end there, or a path or port follow.
 */
function prefixLength(name: string, prefix: string): number {
  if (!prefix.startsWith('*.')) return prefix.length;
  const at = name.indexOf(prefix.slice(1));
  if (at < 0 || name.slice(0, at).includes('/')) return 0;
  const end = at + prefix.length - 1;
  return end === name.length || '/:'.includes(name.charAt(end)) ? end : 0;
}

/** A rewritten reference; the runtime takes it only when it is written out in full. */
function canonical(rewritten: string): string {
  try {
    if (formatReference(parseReference(rewritten)) === rewritten) return rewritten;
  } catch (error) {
    if (!(error instanceof InvalidReference)) throw error;
    throw new InvalidReference(`rewriting reference: ${error.message}`);
  }
  throw new InvalidReference('rewriting reference: repository name must be canonical');
}

// Merging lists into one whose order agrees with all of them, if there is such an order.
//
// @see https://github.com/openshift/runtime-utils/blob/master/pkg/registries/topo.go

interface Node {
  readonly name: string;
  /** Names that must come before and have not been taken yet. */
  readonly before: Set<string>;
  readonly after: Set<string>;
}

/**
 * Every name of the chains once, each after what stands before it in a chain; equals in
 * byte order. Where a circle keeps all others back, the first of them in byte order is next.
 */
function inOrder(chains: readonly (readonly string[])[]): string[] {
  const nodes = graphOf(chains);
  const names = [...nodes.keys()].sort(compareText);
  const queue = names.filter((name) => nodes.get(name)?.before.size === 0);
  const taken = new Set<string>();
  let next = 0;
  while (taken.size < nodes.size) {
    const name = queue.shift() ?? names[next++] ?? '';
    const node = nodes.get(name);
    if (!node || taken.has(name)) continue;
    taken.add(name);
    for (const released of releasedNodes(node, nodes, taken)) queue.push(released);
  }
  return [...taken];
}

/** The order in which these chains list names: each name with those before and after it. */
function graphOf(chains: readonly (readonly string[])[]): Map<string, Node> {
  const nodes = new Map<string, Node>();
  const nodeFor = (name: string): Node => {
    const known = nodes.get(name) ?? { name, before: new Set(), after: new Set() };
    nodes.set(name, known);
    return known;
  };
  for (const chain of chains) {
    for (const [i, name] of chain.entries()) {
      const next = chain[i + 1];
      if (next === undefined) continue;
      nodeFor(name).after.add(next);
      nodeFor(next).before.add(name);
    }
  }
  return nodes;
}

/** The names that nothing holds back any longer, now that `node` has been taken. */
function releasedNodes(node: Node, nodes: ReadonlyMap<string, Node>, taken: ReadonlySet<string>): string[] {
  const free: string[] = [];
  for (const name of node.after) {
    const next = nodes.get(name);
    next?.before.delete(node.name);
    if (next?.before.size === 0 && !taken.has(name)) free.push(name);
  }
  return free.sort(compareText);
}
