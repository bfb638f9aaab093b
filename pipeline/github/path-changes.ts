/** Which commits changed a path: those of paths that are wanted together come by one question, or with another one. */
import type { PathChanges, RepositoryName } from '../forge/forge.ts';
import { answerIfAny, type GitHub } from './client.ts';
import { askWhole } from './graphql.ts';

/** Paths in one question: GitHub looks through the history for each, and must answer within 10 s. */
const TOGETHER = 10;

interface Place {
  readonly commit: string;
  readonly path: string;
  readonly most: number;
}

/** A part of a question, whose answer has a field `histories`. */
interface Part {
  /** `name: Type` of each variable. */
  readonly variables: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
  readonly field: string;
  /** Takes the field of the answer; undefined where there was none. */
  readonly give: (histories: unknown) => void;
}

type Changes = ReadonlyMap<string, PathChanges>;

interface Batch {
  readonly commit: string;
  readonly most: number;
  readonly paths: Set<string>;
  /** Set as soon as it is asked. */
  asked?: Promise<Changes>;
}

export interface PathHistory {
  /** Says what will be wanted; nothing is asked yet. */
  expect(commit: string, paths: readonly string[], most: number): void;
  /** The last changes of a path up to a commit; undefined where GitHub does not list them. */
  read(place: Place): Promise<PathChanges | undefined>;
  /** Announced paths, to be added to the next query. */
  part(): Part | undefined;
}

/** Reads the changes of paths in batches: many paths by one query, and alone if that fails. */
export function pathHistory(github: GitHub, repository: RepositoryName): PathHistory {
  const batches: Batch[] = [];
  const batchFor = ({ commit, path, most }: Place): Batch => {
    const fitting = batches.filter((one) => one.commit === commit && one.most === most);
    const found = fitting.find(({ paths, asked }) => paths.has(path) || (!asked && paths.size < TOGETHER));
    const batch = found ?? { commit, most, paths: new Set() };
    batch.paths.add(path);
    if (!found) batches.push(batch);
    return batch;
  };
  return {
    expect: (commit, paths, most) => {
      for (const path of paths) batchFor({ commit, path, most });
    },
    read: async (place) => {
      const batch = batchFor(place);
      // No path is added from here on: a caller announces all of its paths before it reads the first.
      batch.asked ??= askAlone(github, partOf(batch, repository));
      return (await batch.asked).get(place.path) ?? readOne(github, repository, place);
    },
    part: () => {
      const batch = batches.find(({ asked }) => !asked);
      return batch && handOut(batch, repository);
    },
  };
}

interface AnsweredPart extends Omit<Part, 'give'> {
  readonly changesIn: (histories: unknown) => Changes;
}

/**
 * The part of a batch for another query to carry. The batch counts as asked, and gets its answer when the
 * part's `give` is called.
 */
function handOut(batch: Batch, repository: RepositoryName): Part {
  const { changesIn, ...part } = partOf(batch, repository);
  let give: Part['give'] = () => undefined;
  batch.asked = new Promise((done) => {
    give = (histories) => done(changesIn(histories));
  });
  return { ...part, give: (histories) => give(histories) };
}

/** The part of a GraphQL query that asks for the changes of a batch, and how to read its answer. */
function partOf({ commit, most, paths }: Batch, { owner, repo }: RepositoryName): AnsweredPart {
  const named = [...paths].map((path, i) => [`p${i}`, path] as const);
  const histories = named.map(
    ([name]) => `${name}: history(first: $most, path: $${name}) { nodes { oid committedDate tree { oid } } }`,
  );
  const found = `object(oid: $commit) { ... on Commit { ${histories.join(' ')} } }`;
  const strings = Object.fromEntries(
    ['owner', 'repo', ...named.map(([name]) => name)].map((name) => [name, 'String!']),
  );
  return {
    variables: { ...strings, commit: 'GitObjectID!', most: 'Int!' },
    values: { owner, repo, commit, most, ...Object.fromEntries(named) },
    field: `histories: repository(owner: $owner, name: $repo) { ${found} }`,
    changesIn: (answered) => {
      const { object } = (answered as Histories | null | undefined) ?? {};
      const changes = named.flatMap(([name, path]) => {
        const history = object?.[name];
        return history ? [[path, changesOf(history)] as const] : [];
      });
      return new Map(changes);
    },
  };
}

interface History {
  readonly nodes: readonly {
    readonly oid: string;
    readonly committedDate: string;
    readonly tree: { readonly oid: string };
  }[];
}

interface Histories {
  readonly object?: Readonly<Record<string, History>> | null;
}

function changesOf({ nodes }: History): PathChanges {
  return nodes.map(({ oid, committedDate, tree }) => ({
    commit: oid,
    tree: tree.oid,
    date: committedDate.slice(0, 10),
  }));
}

/** Asks for the changes of a batch in a query of its own; none if GitHub does not answer it. */
async function askAlone(
  github: GitHub,
  { variables, values, field, changesIn }: AnsweredPart,
): Promise<Changes> {
  const query = `query(${declaredVariables(variables)}) { ${field} }`;
  const found = await askWhole<{ readonly histories: unknown }>(github, query, values);
  return changesIn(found?.histories);
}

/** Variables as a question declares them. */
export function declaredVariables(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, type]) => `$${name}: ${type}`)
    .join(', ');
}

/** The changes of one path by the REST API; undefined for a path that may not be seen. */
async function readOne(
  github: GitHub,
  repository: RepositoryName,
  { commit, path, most }: Place,
): Promise<PathChanges | undefined> {
  const asked = { ...repository, sha: commit, path, per_page: most };
  const listed = await answerIfAny(github.rest.repos.listCommits(asked));
  return listed?.map(({ sha, commit: { tree, committer } }) => ({
    commit: sha,
    tree: tree.sha,
    date: (committer?.date ?? '').slice(0, 10),
  }));
}
