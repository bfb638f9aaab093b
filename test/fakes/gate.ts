/** A small catalog repository with owners and a policy, and pull requests to it. */
import { createHash } from 'node:crypto';
import { type Change, subjectDigests } from '../../pipeline/change/change.ts';
import { classifyChange } from '../../pipeline/change/classify.ts';
import type { Review } from '../../pipeline/check/authority/approval.ts';
import {
  type AuthorityDecision,
  type AuthorityInput,
  decideAuthority,
} from '../../pipeline/check/authority/authority.ts';
import { openRepository, type Repository } from '../../pipeline/git/repository.ts';
import { EMPTY_DIRECTORY, type Person } from '../../pipeline/policy/identity.ts';
import { POLICY_PATH, policyAt } from '../../pipeline/policy/read-policy.ts';
import { type Files, makeRepository, type TestRepository } from './repository.ts';

export type Who = 'alice' | 'amy' | 'bob' | 'carol' | 'dan' | 'mallory' | 'robot';

export const PEOPLE: Readonly<Record<Who, Person>> = {
  alice: { login: 'alice', id: 1 },
  amy: { login: 'amy', id: 2 },
  bob: { login: 'bob', id: 11 },
  carol: { login: 'carol', id: 12 },
  dan: { login: 'dan', id: 13 },
  mallory: { login: 'mallory', id: 66 },
  robot: { login: 'robot', id: 99 },
};

export const POLICY = `apiVersion: portolan/v1alpha1
kind: Portolan
owners:
  admins: ['alice#1', amy]
  blocked: []
automation:
- {id: 99, login: robot, packages: ['*'], may: [add-entry, edit-graph, promote], maxPackages: 2}
`;

/** Documents of a catalog as a stream of JSON. */
export function documents(...all: readonly object[]): string {
  return all.map((one) => `${JSON.stringify(one)}\n`).join('');
}

export function bundle(name: string, version: string, more: object = {}): object {
  return {
    schema: 'olm.bundle',
    package: name,
    name: `${name}.v${version}`,
    image: `quay.io/org/${name}@sha256:${digestOf(version)}`,
    properties: [{ type: 'olm.package', value: { packageName: name, version } }],
    ...more,
  };
}

/** Each version has an image of its own; that of the first is easy to write. */
function digestOf(version: string): string {
  return version === '1.0.0' ? `${'0'.repeat(63)}1` : createHash('sha256').update(version).digest('hex');
}

/** A package in which each version replaces the one before, and what its bundles have beside that. */
export function operator(name: string, versions: readonly string[], ...more: readonly object[]): string {
  const entries = versions.map((version, i) => ({
    name: `${name}.v${version}`,
    ...(i === 0 ? {} : { replaces: `${name}.v${versions[i - 1]}` }),
  }));
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries },
    ...versions.map((version) =>
      bundle(name, version, {
        properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...more],
      }),
    ),
  );
}

/** A package with a channel in which each version replaces the one before. */
export function catalogOf(name: string, versions: readonly string[], channel = 'stable'): string {
  const entries = versions.map((version, i) => ({
    name: `${name}.v${version}`,
    ...(i === 0 ? {} : { replaces: `${name}.v${versions[i - 1]}` }),
  }));
  return documents(
    { schema: 'olm.package', name, defaultChannel: channel },
    { schema: 'olm.channel', package: name, name: channel, entries },
    ...versions.map((version) => bundle(name, version)),
  );
}

/** etcd belongs to bob, quay to carol and dan, free to nobody. */
export const BASE: Files = {
  [POLICY_PATH]: POLICY,
  'README.md': '# catalogs',
  'catalogs/v4.19/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
  'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0', '3.1.0']),
  'catalogs/v4.20/free/catalog.yaml': catalogOf('free', ['0.1.0']),
  'operators/etcd/ci.yaml': 'reviewers:\n- bob\n',
  'operators/etcd/catalog-templates/basic.yaml': 'schema: olm.template.basic\nentries: []\n',
  'operators/etcd/1.0.0/manifests/csv.yaml': 'kind: ClusterServiceVersion\n',
  'operators/quay/ci.yaml': 'reviewers:\n- carol\n- dan\n',
  'operators/free/Makefile': 'all:\n',
};

export interface PullRequest {
  /** What the base branch has, beside {@link BASE} or instead of it. */
  readonly base?: Files;
  readonly bare?: boolean;
  readonly head: Files;
  readonly author?: Who;
  /** The author when left out; undefined when it is not known. */
  readonly pusher?: Who | undefined;
  /** Approvals of the head, or of states before it: `{bob: earlierFiles}`. */
  readonly approvals?: readonly Who[];
  readonly reviews?: readonly (Omit<Review, 'author' | 'commit' | 'content'> & {
    readonly by: Who | Person;
    /** What the reviewed commit had changed; the head when left out. */
    readonly of?: Files;
  })[];
  readonly input?: Partial<AuthorityInput>;
}

export interface Judged {
  readonly change: Change;
  readonly decision: AuthorityDecision;
  /** Classes by package, as text, and the areas. */
  readonly classes: Readonly<Record<string, string>>;
}

export interface Gate {
  readonly source: TestRepository;
  judge(pullRequest: PullRequest): Promise<Judged>;
  close(): Promise<void>;
}

export async function openGate(): Promise<Gate> {
  const source = makeRepository();
  const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
  return {
    source,
    judge: (pullRequest) => judge(source, repository, pullRequest),
    close: async () => {
      await repository.close();
      source.remove();
    },
  };
}

async function judge(source: TestRepository, repository: Repository, pull: PullRequest): Promise<Judged> {
  const files = { ...(pull.bare ? {} : BASE), ...pull.base };
  const [base = '', head = ''] = source.chain(files, pull.head);
  const { policy, findings } = await policyAt(repository.objects, base);
  if (!policy) throw new Error(JSON.stringify(findings));
  const change = await classifyChange(repository.objects, { base, merged: head }, policy);
  const author = PEOPLE[pull.author ?? 'mallory'];
  const pusher = 'pusher' in pull ? pull.pusher && PEOPLE[pull.pusher] : author;
  const digests = async (of: string, before = base): Promise<ReadonlyMap<string, string>> =>
    subjectDigests(await classifyChange(repository.objects, { base: before, merged: of }, policy));
  const reviews: Review[] = [];
  for (const { by, of, state } of [
    ...(pull.approvals ?? []).map((one) => ({ by: one, of: undefined, state: 'approved' as const })),
    ...(pull.reviews ?? []).map((review) => ({ of: undefined, ...review })),
  ]) {
    const commit = of ? (source.chain(files, of)[1] ?? '') : head;
    const reviewer = typeof by === 'string' ? PEOPLE[by] : by;
    reviews.push({ author: reviewer, state, commit, content: await digests(commit) });
  }
  const decision = decideAuthority({
    policy,
    change,
    author,
    pusher,
    head,
    content: await digests(head),
    headContent: await digests(head),
    reviews,
    commits: undefined,
    directory: EMPTY_DIRECTORY,
    prunesRefused: new Set(),
    accepted: new Set(),
    reach: undefined,
    holds: [],
    ...pull.input,
  });
  return { change, decision, classes: classesOf(change) };
}

function classesOf({ packages, areas }: Change): Record<string, string> {
  return Object.fromEntries([
    ...[...packages.values()].map(({ name, classes }) => [name, [...classes].sort().join(' ')]),
    ...areas.map(({ area, catalog, paths }) => [area, catalog ?? paths.join(' ')]),
  ]);
}
