/** A real Gitea, over PostgreSQL: its people, its repositories, what they do. */
import { spawn } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { folder } from './folder.ts';
import type { Postgres } from './postgres.ts';
import { freePort, run } from './tools.ts';

/** The program, where it is on the PATH with Gitea's folders `templates` and `options` beside it. */
export const GITEA: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((path) => join(path, 'gitea'))
  .filter((path) => existsSync(path))
  .map((path) => realpathSync(path))
  .find((path) => existsSync(join(dirname(path), 'templates')));

// biome-ignore lint/suspicious/noExplicitAny: what Gitea answers
type Data = any;

/** Somebody with an account. */
export interface GiteaUser {
  readonly name: string;
  readonly id: number;
  readonly token: string;
  /** Asks the API as this person. @throws Error with the status of an answer that is none of success */
  ask(method: string, path: string, body?: object): Promise<Data>;
  /** A URL to push to as this person. */
  git(repository: string): string;
}

export interface Gitea {
  readonly url: string;
  /** @param scopes of the account's token; all that people need when left out */
  user(name: string, scopes?: readonly string[]): Promise<GiteaUser>;
}

const SCOPES = ['write:repository', 'write:issue', 'write:organization', 'write:user'];
const PASSWORD = 'it-is-only-a-Test1';

export async function gitea({ url: database }: Postgres): Promise<Gitea> {
  const [program, at, port] = [GITEA ?? '', folder(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const { hostname, port: databasePort, username, pathname } = new URL(database);
  const config = join(at, 'app.ini');
  writeFileSync(
    config,
    `RUN_USER = ${process.env['USER'] ?? 'root'}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
RUN_MODE = prod
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
STATIC_ROOT_PATH = ${dirname(program)}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = postgres
HOST = ${hostname}:${databasePort}
USER = ${username}
NAME = ${pathname.slice(1)}
[security]
INSTALL_LOCK = true
SECRET_KEY = test
[webhook]
ALLOWED_HOST_LIST = loopback
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[actions]
ENABLED = false
[log]
LEVEL = Error
`,
  );
  const environment = { ...process.env, HOME: at, GITEA_WORK_DIR: at, USER: process.env['USER'] ?? 'root' };
  const admin = (...words: readonly string[]) =>
    run(
      'env',
      `HOME=${at}`,
      `GITEA_WORK_DIR=${at}`,
      `USER=${environment.USER}`,
      program,
      '--config',
      config,
      ...words,
    );
  await admin('migrate');
  const credentials = ['--username', 'root', '--password', PASSWORD, '--email', 'root@example.com'];
  await admin('admin', 'user', 'create', '--admin', '--must-change-password=false', ...credentials);
  const child = spawn(program, ['--config', config, 'web'], { env: environment, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  for (let tries = 0; !(await fetch(`${url}/api/v1/version`).catch(() => undefined))?.ok; tries++) {
    if (tries > 300) throw new Error('Gitea does not start');
    await new Promise((done) => setTimeout(done, 200));
  }
  const basic = (name: string): string => `Basic ${Buffer.from(`${name}:${PASSWORD}`).toString('base64')}`;
  const root = ask(url, basic('root'));
  return {
    url,
    user: async (name, scopes = SCOPES) => {
      const account = { username: name, password: PASSWORD, email: `${name}@example.com` };
      const { id } = await root('POST', '/admin/users', { ...account, must_change_password: false });
      const { sha1: token } = await ask(url, basic(name))('POST', `/users/${name}/tokens`, {
        name: 't',
        scopes,
      });
      return {
        ...{ name, id, token },
        ask: ask(url, `token ${token}`),
        git: (repository) => `http://${name}:${token}@127.0.0.1:${port}/${repository}.git`,
      };
    },
  };
}

function ask(url: string, authorization: string): GiteaUser['ask'] {
  return async (method, path, body) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const sent = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    const response = await fetch(`${url}/api/v1${path}`, sent);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} for ${method} ${path}: ${text.slice(0, 300)}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}
