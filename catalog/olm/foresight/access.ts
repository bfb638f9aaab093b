/**
 * What rules of access grant beyond others, as the authorizer of Kubernetes reads them.
 *
 * @see https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/auth/authorizer/rbac/rbac.go `RuleAllows`
 */
import { appendToGroup } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { compareText } from '../../go/text.ts';
import type { AccessRule, Permission } from '../manifests.ts';

/** Verbs on one kind of object, or on one path of the API server. */
export interface Grant {
  /** Whether it holds in every namespace. */
  readonly wide: boolean;
  /** Such as `deployments.apps/scale`, `pods/exec`, `secrets "ca"` or `/metrics`. */
  readonly on: string;
  readonly verbs: readonly string[];
}

/** What one set of permissions grants and another does not. */
interface Added {
  /** Sorted: what holds everywhere first. */
  readonly grants: readonly Grant[];
  /** Whether all was compared. */
  readonly isComplete: boolean;
}

/** Single grants that are compared at most: far more than any role has that people wrote. */
const MOST = 20_000;

/** What the permissions `after` grant and those `before` do not, whatever account has them. */
export function addedGrants(before: readonly Permission[], after: readonly Permission[]): Added {
  const index = ruleIndex(before);
  if (!index) return { grants: [], isComplete: false };
  const added = new Map<string, { grant: Grant; verbs: Set<string> }>();
  let left = MOST;
  for (const { wide, rule } of rulesOf(after)) {
    for (const single of singlesOf(rule)) {
      if (left-- === 0) return { grants: sorted(added.values()), isComplete: false };
      if (isCovered(index, single, wide)) continue;
      const on = textOf(single);
      const key = JSON.stringify([wide, on]);
      const known = added.get(key) ?? { grant: { wide, on, verbs: [] }, verbs: new Set() };
      known.verbs.add(single.verb);
      added.set(key, known);
    }
  }
  return { grants: sorted(added.values()), isComplete: true };
}

function rulesOf(permissions: readonly Permission[]): PlacedRule[] {
  return permissions.flatMap(({ wide, rules }) => rules.map((rule) => ({ wide, rule })));
}

/** Rules by what they are about, so that each grant is compared with few. */
interface Index {
  readonly exact: ReadonlyMap<string, readonly PlacedRule[]>;
  /** Rules with stars for groups or kinds, and those about paths. */
  readonly others: readonly PlacedRule[];
}

interface PlacedRule {
  readonly wide: boolean;
  readonly rule: AccessRule;
}

/** Sorts rules once by the kinds that they name; undefined if they grant more than {@link MOST}. */
const ruleIndex = onceFor((permissions: readonly Permission[]): Index | undefined => {
  const exact = new Map<string, PlacedRule[]>();
  const others: PlacedRule[] = [];
  let left = MOST;
  for (const placed of rulesOf(permissions)) {
    const { rule } = placed;
    const hasStar = [...rule.apiGroups, ...rule.resources].some((one) => one.startsWith('*'));
    if (hasStar || rule.nonResourceURLs.length > 0) others.push(placed);
    if (hasStar) continue;
    for (const { group, resource } of kindsOf(rule)) {
      if (left-- === 0) return undefined;
      const key = JSON.stringify([group, resource]);
      appendToGroup(exact, key, placed);
    }
  }
  return { exact, others };
});

function* kindsOf({ apiGroups, resources }: AccessRule): Generator<{ group: string; resource: string }> {
  for (const group of apiGroups) for (const resource of resources) yield { group, resource };
}

/** Whether indexed rules grant a single verb. @param wide whether it must be granted in all namespaces */
function isCovered({ exact, others }: Index, single: Single, wide: boolean): boolean {
  const own = exact.get(JSON.stringify([single.group, single.resource])) ?? [];
  return [...own, ...others].some((one) => (one.wide || !wide) && covers(one.rule, single));
}

/** Permissions for people: what is granted in the whole cluster first. */
function sorted(added: Iterable<{ grant: Grant; verbs: ReadonlySet<string> }>): Grant[] {
  return [...added]
    .map(({ grant, verbs }) => ({ ...grant, verbs: [...verbs].sort(compareText) }))
    .sort((a, b) => Number(b.wide) - Number(a.wide) || compareText(a.on, b.on));
}

/** One verb on one kind, name or path. */
interface Single {
  readonly verb: string;
  readonly url?: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string;
}

/** Each single grant in a rule. */
function* singlesOf({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: AccessRule): Generator<Single> {
  const names = resourceNames.length > 0 ? resourceNames : [''];
  for (const verb of verbs) {
    for (const url of nonResourceURLs) yield { verb, url, group: '', resource: '', name: '' };
    for (const group of apiGroups)
      for (const resource of resources) for (const name of names) yield { verb, group, resource, name };
  }
}

/**
 * Whether a rule grants a single verb. A rule without names grants every name; a grant of all names needs such a rule.
 */
function covers(rule: AccessRule, { verb, url, group, resource, name }: Single): boolean {
  if (!holds(rule.verbs, verb)) return false;
  if (url !== undefined) return rule.nonResourceURLs.some((one) => coversUrl(one, url));
  return (
    holds(rule.apiGroups, group) &&
    coversResource(rule.resources, resource) &&
    (rule.resourceNames.length === 0 || (name !== '' && rule.resourceNames.includes(name)))
  );
}

function holds(list: readonly string[], wanted: string): boolean {
  return list.includes('*') || list.includes(wanted);
}

/** A star before a subresource matches every kind. */
function coversResource(resources: readonly string[], wanted: string): boolean {
  const slash = wanted.indexOf('/');
  return holds(resources, wanted) || (slash > 0 && resources.includes(`*${wanted.slice(slash)}`));
}

/** A star at the end matches every path with this prefix. */
function coversUrl(url: string, wanted: string): boolean {
  return url === '*' || url === wanted || (url.endsWith('*') && wanted.startsWith(url.slice(0, -1)));
}

/** What a permission is for, such as `deployments.apps/scale "name"`. */
function textOf({ url, group, resource, name }: Single): string {
  if (url !== undefined) return url;
  const [main = '', ...sub] = resource.split('/');
  const kind = [group === '' ? main : `${main}.${group}`, ...sub].join('/');
  return name === '' ? kind : `${kind} ${JSON.stringify(name)}`;
}
