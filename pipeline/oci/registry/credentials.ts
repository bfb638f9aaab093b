/**
 * Credentials as people have them: the authfile of containers' tools, Docker's config.json,
 * credential helpers. What the environment says comes as data.
 *
 * @see https://github.com/containers/image/blob/main/docs/containers-auth.json.5.md
 * @see https://docs.docker.com/reference/cli/docker/login/#credential-stores
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseJson } from '../../../catalog/json.ts';
import { shellWord } from '../../../catalog/names.ts';
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { readRegular } from '../../file-pieces.ts';
import type { Credential, CredentialSource, Repository } from '../../ports.ts';
import type { Environment } from './http/proxy.ts';
import { quirksOf } from './quirks.ts';

export interface AuthfileOptions {
  /** The file that was named; no other is looked at then. */
  readonly authfile?: string | undefined;
  /** `REGISTRY_AUTH_FILE`, `XDG_RUNTIME_DIR`, `XDG_CONFIG_HOME`, `DOCKER_CONFIG`, `HOME`, and `PATH` for helpers. */
  readonly environment: Environment;
}

/** One file: what is written in it by registry or repository, and which helpers it names. */
interface Authfile {
  readonly auths: ReadonlyMap<string, unknown>;
  readonly helpers: ReadonlyMap<string, string>;
  readonly store: string | undefined;
}

/**
 * Credentials from files, read when first asked for; the first file that knows a repository or
 * one of its parents counts.
 */
export function authfileCredentials({ authfile, environment }: AuthfileOptions): CredentialSource {
  const files = eachOnce(() => readFiles(authfile, environment));
  const ask = askEachOnce((helper, server) => askHelper(helper, server, environment));
  const look = async (repository: Repository): Promise<Credential | undefined> => {
    // One key for all repositories: the files are read once.
    for (const file of await files('')) {
      const found = await lookUp(file, repository, ask);
      if (found) return found;
    }
    return undefined;
  };
  const answers = eachOnce(look);
  return { credential: (repository) => answers(repositoryName(repository), repository) };
}

/**
 * Credentials for some repositories only; all others are asked for anonymously. For names that
 * a pull request brought: what its author may not see is not looked up with our eyes.
 */
export function credentialsOnlyFor(
  source: CredentialSource,
  isTrusted: (repository: Repository) => boolean,
): CredentialSource {
  return {
    credential: async (repository) => (isTrusted(repository) ? source.credential(repository) : undefined),
  };
}

/** The authfile that is named, or those in the usual places. @throws PipelineError if the named one does not exist */
async function readFiles(
  authfile: string | undefined,
  environment: Environment,
): Promise<readonly Authfile[]> {
  const path = authfile ?? (environment['REGISTRY_AUTH_FILE'] || undefined);
  if (path !== undefined) return [await readAuthfile(path)];
  const files: Authfile[] = [];
  for (const usual of usualPaths(environment)) {
    try {
      files.push(await readAuthfile(usual));
    } catch (error) {
      // The usual files need not exist.
      if (!(error instanceof PipelineError) || error.code !== 'not-found') throw error;
    }
  }
  return files;
}

/** Paths of credential files in the order of search: containers' tools before Docker. */
function usualPaths(environment: Environment): string[] {
  const {
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_CONFIG_HOME: config,
    DOCKER_CONFIG: docker,
  } = environment;
  const paths: string[] = [];
  if (runtime) paths.push(join(runtime, 'containers', 'auth.json'));
  if (config) paths.push(join(config, 'containers', 'auth.json'));
  else if (home) paths.push(join(home, '.config', 'containers', 'auth.json'));
  if (docker) paths.push(join(docker, 'config.json'));
  else if (home) paths.push(join(home, '.docker', 'config.json'));
  return paths;
}

/** Reads an authfile. Errors quote nothing from it. */
async function readAuthfile(path: string): Promise<Authfile> {
  let text: string;
  try {
    text = readRegular(path).toString('utf8');
  } catch (error) {
    const absent = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    throw new PipelineError(absent ? 'not-found' : 'io', `cannot read the authfile ${path}`, {
      cause: error,
    });
  }
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    // The parser's message would quote from the file.
    throw new PipelineError('usage', `the authfile ${path} is not valid JSON`);
  }
  const { auths, credHelpers, credsStore } = Object(json);
  return {
    auths: entries(auths),
    helpers: new Map(
      [...entries(credHelpers)].filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
    ),
    store: typeof credsStore === 'string' && credsStore !== '' ? credsStore : undefined,
  };
}

/** The fields of an object by name; none of anything else. */
function entries(value: unknown): Map<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

type AskHelper = (helper: string, server: string) => Promise<Credential | undefined>;

/** Asks a helper once for each server: it is a process, and there may be thousands of repositories. */
function askEachOnce(ask: AskHelper): AskHelper {
  const answers = eachOnce(ask);
  return (helper, server) => answers(`${helper} ${server}`, helper, server);
}

/** Finds each answer once, by a key. One that failed is found again: a cloud that did not answer once may answer later. */
function eachOnce<P extends readonly unknown[], T>(
  find: (...about: P) => Promise<T>,
): (key: string, ...about: P) => Promise<T> {
  const answers = new Map<string, Promise<T>>();
  return (key, ...about) => {
    const earlier = answers.get(key);
    if (earlier) return earlier;
    const answer = find(...about);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
    return answer;
  };
}

/** The longest key that is the repository or a parent of it; last the registry by its other names. */
async function lookUp(
  file: Authfile,
  repository: Repository,
  ask: AskHelper,
): Promise<Credential | undefined> {
  for (const key of keysOf(repository)) {
    const helper = file.helpers.get(key);
    if (helper !== undefined) return ask(helper, key);
    const found = credentialOf(file.auths.get(key));
    if (found) return found;
  }
  // What is left are keys with the host in another form, such as `https://host/v1/`, and other names of the registry.
  const names = [repository.registry, ...(quirksOf(repository.registry).credentialKeys ?? [])];
  for (const [key, value] of file.auths) {
    const found = names.some((name) => hostOf(name) === hostOf(key)) ? credentialOf(value) : undefined;
    if (found) return found;
  }
  // Helpers may know the registry by one of its other names, as Docker Hub is known by `https://index.docker.io/v1/`.
  for (const name of names.slice(1)) {
    const helper = file.helpers.get(name);
    if (helper !== undefined) return ask(helper, name);
  }
  // The store, too, knows such a registry by its other name.
  return file.store === undefined ? undefined : ask(file.store, names[1] ?? repository.registry);
}

/** `host/a/b`, `host/a`, `host`. */
function keysOf(repository: Repository): string[] {
  const keys: string[] = [];
  for (let key = repositoryName(repository); ; key = key.slice(0, key.lastIndexOf('/'))) {
    keys.push(key);
    if (!key.includes('/')) return keys;
  }
}

/**
 * The host of a key as old Docker wrote it: `https://host/v1/` or `host/v1/`. Any other key as it is, so that `host/org` equals
 * no host.
 */
function hostOf(key: string): string {
  const url = /^https?:\/\/([^/]+)(?:\/.*)?$/.exec(key);
  return url?.[1] ?? key.replace(/\/v[12]\/?$/, '');
}

/** The credential in an entry of `auths`; undefined in an empty one, which means that a credential store has it. */
function credentialOf(entry: unknown): Credential | undefined {
  const { auth, username, password, identitytoken, registrytoken } = Object(entry);
  if (isText(registrytoken)) return { kind: 'bearer', token: registrytoken };
  if (isText(identitytoken)) return { kind: 'identity', token: identitytoken };
  if (isText(auth)) return pairOf(auth);
  return isText(username) && isText(password) ? { kind: 'basic', username, password } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The name and password in an entry's `auth`, base64 of `NAME:PASSWORD`; undefined where it is neither. */
function pairOf(auth: string): Credential | undefined {
  const text = Buffer.from(auth, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return undefined;
  // Docker on Windows has padded passwords with NUL.
  return {
    kind: 'basic',
    username: text.slice(0, colon),
    password: text.slice(colon + 1).replace(/\0+$/, ''),
  };
}

// Credential helpers: programs `docker-credential-NAME` that are asked over their standard
// input. They run without a shell, found on the PATH that was given.
//
// @see https://github.com/docker/docker-credential-helpers#development

/** Names of helpers: they become a part of a program's name, so no slash may lead to another folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** Characters of output after which a helper is killed. */
const OUTPUT = 64 * 1024;
/** Milliseconds after which a helper is killed; it may ask a cloud. */
const PATIENCE = 60_000;

/**
 * Asks a helper for the credential of a server.
 *
 * @returns undefined when it has none
 * @throws PipelineError `usage` for a name that is not a helper's, `denied` when it fails
 */
async function askHelper(
  name: string,
  server: string,
  environment: Environment,
): Promise<Credential | undefined> {
  if (!NAME.test(name))
    throw new PipelineError('usage', 'the authfile has an invalid credential helper name');
  const program = `docker-credential-${name}`;
  const { status, output } = await runHelper(program, server, environment);
  if (status !== 0) {
    // The protocol has no code for it, only this text on the standard output.
    if (/credentials not found/i.test(output)) return undefined;
    // Do not repeat its output: it may contain secrets.
    throw new PipelineError('denied', `${program} failed for ${server}`, {
      hint: `echo ${shellWord(server)} | ${program} get`,
    });
  }
  return helperCredential(output, program);
}

/**
 * The credential in a helper's output; undefined if it has none.
 *
 * @throws PipelineError `denied` for output that is not valid
 */
function helperCredential(output: string, program: string): Credential | undefined {
  let json: { Username?: unknown; Secret?: unknown };
  try {
    json = Object(parseJson(output));
  } catch {
    throw new PipelineError(
      'denied',
      `${program} is not a working credential helper: its output is not valid`,
    );
  }
  const { Username: username, Secret: secret } = json;
  if (typeof username !== 'string' || typeof secret !== 'string' || secret === '') return undefined;
  // Helpers return an identity token under this name.
  if (username === '<token>') return { kind: 'identity', token: secret };
  return { kind: 'basic', username, password: secret };
}

/** Runs a helper. @returns its exit code and output */
function runHelper(
  program: string,
  input: string,
  environment: Environment,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], {
      env: { ...environment },
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: PATIENCE,
      shell: false,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > OUTPUT) child.kill();
    });
    child.once('error', (cause) =>
      reject(new PipelineError('denied', `cannot run the credential helper ${program}`, { cause })),
    );
    child.once('close', (status) => resolve({ status, output }));
    // A helper may end without reading, which closes the pipe. Its exit code explains why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
