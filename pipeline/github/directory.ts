/** What GitHub says of the names in owners' lists: whose number a login has, and who is in a team. */
import { PipelineError } from '../error.ts';
import { namesIn } from '../forge/directory.ts';
import type { Directory, Identity, Person } from '../policy/identity.ts';
import { answer, answerIfAny, type GitHub, pages } from './client.ts';
import { personOf } from './pull-request.ts';

/** Looks identities up at once. What cannot be found out is absent, and then counts for nobody. */
export async function readDirectory(github: GitHub, identities: readonly Identity[]): Promise<Directory> {
  const { logins, teams } = namesIn(identities);
  const accounts = await Promise.all(
    logins.map(async (login) => [login, await accountNumber(github, login)] as const),
  );
  const members = await Promise.all(teams.map(async (team) => [team, await readTeam(github, team)] as const));
  return {
    accounts: new Map(accounts.flatMap(([login, id]) => (id === undefined ? [] : [[login, id]]))),
    teams: new Map(members.flatMap(([team, people]) => (people ? [[team, people]] : []))),
  };
}

/** The number of an account, null for a login that nobody has, undefined when it cannot be told. */
async function accountNumber(github: GitHub, login: string): Promise<number | null | undefined> {
  try {
    return Number((await answer(github.rest.users.getByUsername({ username: login }))).id);
  } catch (error) {
    if (error instanceof PipelineError) return error.code === 'not-found' ? null : undefined;
    throw error;
  }
}

async function readTeam(github: GitHub, team: string): Promise<readonly Person[] | undefined> {
  const [org = '', slug = ''] = team.split('/');
  const asked = { org, team_slug: slug, per_page: 100 };
  const seen = await answerIfAny(github.rest.teams.getByName({ org, team_slug: slug }));
  if (!seen) return undefined;
  return (await pages(github.paginate(github.rest.teams.listMembersInOrg, asked))).map(personOf);
}
