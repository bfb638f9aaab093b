/** Looks up names in owners' lists on GitHub: the numbers of accounts and the members of teams. */
import { PipelineError } from '../error.ts';
import { type Names, namesIn } from '../forge/directory.ts';
import type { Directory, Identity, Person } from '../policy/identity.ts';
import { allPages, answerIfAny, dataOf, type GitHub } from './client.ts';
import { type Asked, askAtOnce } from './graphql.ts';
import { declaredVariables, type PathHistory } from './path-changes.ts';
import { personOf } from './pull-request.ts';

/**
 * Looks up identities, all at once. An identity that GitHub does not resolve is absent, and gives nobody a right.
 *
 * @param history is asked in the same request, which saves one, and gets its part of the answer
 */
export async function readDirectory(
  github: GitHub,
  identities: readonly Identity[],
  history?: Pick<PathHistory, 'part'>,
): Promise<Directory> {
  const { logins, teams } = namesIn(identities);
  const asked = await askNames(github, { logins, teams }, history);
  const accounts = await Promise.all(
    logins.map(async (login, i) => {
      // Organizations, apps and unknown logins have no account number.
      const id = asked?.data[`u${i}`]?.databaseId ?? (await accountNumber(github, login));
      return [login, id] as const;
    }),
  );
  const members = await Promise.all(
    teams.map(async (team, i) => {
      const known = asked && teamIn(asked, `t${i}`);
      // `more`: the team has more members than one page.
      return [team, known === 'more' || !known ? await readTeam(github, team) : known.people] as const;
    }),
  );
  return {
    accounts: new Map(accounts.flatMap(([login, id]) => (id === undefined ? [] : [[login, id]]))),
    teams: new Map(members.flatMap(([team, people]) => (people ? [[team, people]] : []))),
  };
}

interface Named {
  readonly databaseId?: number | null;
  readonly team?: {
    readonly members: {
      readonly nodes: readonly { readonly login: string; readonly databaseId: number | null }[];
      readonly pageInfo: { readonly hasNextPage: boolean };
    };
  } | null;
}

type Answered = Asked<Readonly<Record<string, Named | null>>>;

/** Asks GitHub for all users and teams in one query: the answer has the first user as `u0`, and the first team in `t0`. */
async function askNames(
  github: GitHub,
  { logins, teams }: Names,
  history: Pick<PathHistory, 'part'> | undefined,
): Promise<Answered | undefined> {
  if (logins.length + teams.length === 0) return undefined;
  const part = history?.part();
  const names = Object.fromEntries([
    ...logins.map((login, i) => [`u${i}`, login]),
    ...teams.flatMap((team, i) => {
      const [org, slug] = team.split('/');
      return [
        [`o${i}`, org],
        [`s${i}`, slug],
      ];
    }),
  ]);
  const strings = Object.fromEntries(Object.keys(names).map((name) => [name, 'String!']));
  const fields = [
    ...logins.map((_, i) => `u${i}: user(login: $u${i}) { databaseId }`),
    ...teams.map((_, i) => `t${i}: organization(login: $o${i}) { team(slug: $s${i}) { ${MEMBERS} } }`),
    part?.field ?? '',
  ];
  const query = `query(${declaredVariables({ ...strings, ...part?.variables })}) {\n${fields.join('\n')}\n}`;
  const asked = await askAtOnce<Answered['data']>(github, query, { ...names, ...part?.values });
  part?.give(asked?.data['histories']);
  return asked;
}

const MEMBERS = 'members(first: 100) { nodes { login databaseId } pageInfo { hasNextPage } }';

/** A team's members where the answer has all of them; none where they may not be seen. */
function teamIn(
  { data, refused }: Asked<Readonly<Record<string, Named | null>>>,
  name: string,
): { readonly people: readonly Person[] | undefined } | 'more' {
  const team = data[name]?.team;
  if (!team) return refused.get(name) === 'FORBIDDEN' ? { people: undefined } : 'more';
  const { nodes, pageInfo } = team.members;
  const people = nodes.flatMap(({ login, databaseId: id }) => (id === null ? [] : [{ login, id }]));
  return pageInfo.hasNextPage || people.length < nodes.length ? 'more' : { people };
}

/** The number of an account, null for a login without an account, undefined if GitHub does not reply. */
async function accountNumber(github: GitHub, login: string): Promise<number | null | undefined> {
  try {
    return Number((await dataOf(github.rest.users.getByUsername({ username: login }))).id);
  } catch (error) {
    if (error instanceof PipelineError) return error.code === 'not-found' ? null : undefined;
    throw error;
  }
}

/**
 * Members of a team by the REST API; undefined where they may not be seen. The team is asked for first, since
 * the list of a hidden one is an error.
 */
async function readTeam(github: GitHub, team: string): Promise<readonly Person[] | undefined> {
  const [org = '', slug = ''] = team.split('/');
  const asked = { org, team_slug: slug, per_page: 100 };
  const seen = await answerIfAny(github.rest.teams.getByName({ org, team_slug: slug }));
  if (!seen) return undefined;
  return (await allPages(github.paginate(github.rest.teams.listMembersInOrg, asked))).map(personOf);
}
