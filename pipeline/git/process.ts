/**
 * git as a child process: plumbing commands only, without a shell, and with nothing of
 * the machine's or the repository's configuration that could run a program or reach a
 * network.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { PipelineError } from '../error.ts';
import { watchMemory } from '../processes.ts';
import { keepAuthorization } from '../secrets.ts';
import { refusePipes } from './special-files.ts';

/** How git is started. */
export interface GitSettings {
  /** The PATH on which git is looked for; the system's default one when undefined. */
  readonly searchPath?: string | undefined;
  /** Variables that say where git's own parts are, when not where it was built for: {@link partsOf}. */
  readonly parts?: Readonly<Record<string, string>> | undefined;
  /** Where objects come from that are not here; only commands that say `remote` may ask there. */
  readonly remote?: GitRemote | undefined;
}

/** A repository that is asked over HTTP for what is needed of it. */
export interface GitRemote extends Reach {
  /** `https://…`; plain HTTP only where it says so. */
  readonly url: string;
}

export interface GitRun {
  readonly settings: GitSettings;
  /** Directory in which git starts, or the git directory itself with `bare`. */
  readonly directory: string;
  /** Whether `directory` is the git directory, so that none is looked for. */
  readonly bare?: boolean;
  readonly input?: string | Uint8Array;
  /** Whether the command may ask the settings' remote for objects. */
  readonly remote?: boolean;
  /** Exit codes that are answers; every other one is a failure. */
  readonly accept?: readonly number[];
  /** How long it may take, in ms. */
  readonly timeout?: number;
  /** Memory in MiB that it may take where that can be seen (Linux). */
  readonly memory?: number;
  /** Set when another repository is to be reached; without, nothing but this directory is. */
  readonly reach?: Reach;
  /** More configuration that wins over the repository's own. */
  readonly configuration?: readonly (readonly [key: string, value: string])[];
}

/** How another repository is reached: over HTTP, or in a directory of this machine. */
export interface Reach {
  /** An HTTP header that proves who asks, such as `Authorization: Basic …`; never in a command line. */
  readonly header?: string | undefined;
  /** Variables that name a proxy or certificates: `HTTPS_PROXY`, `SSL_CERT_FILE` … */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

export interface GitAnswer {
  readonly code: number;
  readonly output: Buffer;
}

/** The header by which GitHub takes a token over HTTP; undefined without one. */
export function authorizationHeader(token: string | undefined): string | undefined {
  const value = authorizationValue(token);
  return value === undefined ? undefined : `Authorization: ${value}`;
}

/** The value of that header. */
export function authorizationValue(token: string | undefined): string | undefined {
  if (token === undefined || token === '') return undefined;
  const value = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
  keepAuthorization(value);
  return value;
}

/** Variables that say how git reaches hosts. */
const NETWORK = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO'];

/** Variables that say where git's programs and their libraries are. */
const PARTS = ['GIT_EXEC_PATH', 'LD_LIBRARY_PATH'];

/** What of an environment says how hosts are reached. */
export function networkOf(environment: Environment): Readonly<Record<string, string>> {
  return setIn(
    environment,
    NETWORK.flatMap((name) => [name, name.toLowerCase()]),
  );
}

/** What of an environment says where git's own parts are. */
export function partsOf(environment: Environment): Readonly<Record<string, string>> {
  return setIn(environment, PARTS);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of these names that are set, and not empty. */
function setIn(environment: Environment, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value ? [[name, value] as const] : [];
    }),
  );
}

/** Configuration that wins over the repository's own. */
const CONFIGURATION: readonly (readonly [key: string, value: string])[] = [
  // Objects are only read, and nothing in the directory is run: whose it is does not matter.
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  // A clone may have git compare less than it can, and then call a changed file unchanged.
  ['core.fsmonitor', 'false'],
  ['core.checkStat', 'default'],
  ['core.trustctime', 'true'],
  ['core.attributesFile', '/dev/null'],
  ['core.pager', 'cat'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
];

/** Transports that run no program which a name could choose. */
const TRANSPORTS = ['https', 'http', 'file'];

/** The whole environment of a git process: no configuration, prompt or network but what the run asks for. */
function environmentOf(run: GitRun): Record<string, string> {
  const { settings, directory, bare, remote, reach } = run;
  const asked = remote ? settings.remote : undefined;
  const configuration = [
    ...CONFIGURATION,
    ...(run.configuration ?? []),
    ...(asked ? remoteConfiguration(asked) : []),
    ...(reach ? reachConfiguration(reach) : []),
  ];
  const environment: Record<string, string> = {
    ...settings.parts,
    ...asked?.environment,
    ...reach?.environment,
    ...(settings.searchPath === undefined ? {} : { PATH: settings.searchPath }),
    ...(bare ? { GIT_DIR: directory } : {}),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // A partial clone must not fetch in the middle of reading: what is missing is said.
    ...(asked ? {} : { GIT_NO_LAZY_FETCH: '1' }),
    GIT_ALLOW_PROTOCOL: protocolsOf(asked, reach),
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_CONFIG_COUNT: String(configuration.length),
  };
  for (const [i, [key, value]] of configuration.entries()) {
    environment[`GIT_CONFIG_KEY_${i}`] = key;
    environment[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return environment;
}

/** The remote stands in the environment only: a repository on the disk never says where to ask. */
function remoteConfiguration({ url, header }: GitRemote): [key: string, value: string][] {
  return [
    ['remote.origin.url', url],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.partialclonefilter', 'blob:none'],
    ['http.followRedirects', 'false'],
    ...(header === undefined ? [] : [[`http.${url}.extraHeader`, header] as [string, string]]),
  ];
}

function protocolsOf(asked: GitRemote | undefined, reach: Reach | undefined): string {
  if (reach) return TRANSPORTS.join(':');
  return asked ? new URL(asked.url).protocol.slice(0, -1) : '';
}

/** The settings with which git may contact a remote, and no other host with the token. */
function reachConfiguration({ header }: Reach): (readonly [key: string, value: string])[] {
  return [
    ...TRANSPORTS.map((name) => [`protocol.${name}.allow`, 'always'] as const),
    // Where the first redirect leads, git asks all that comes after it, with the header.
    ['http.followRedirects', header === undefined ? 'initial' : 'false'],
    ...(header === undefined ? [] : [['http.extraHeader', header] as const]),
  ];
}

/** Starts git with its three streams as pipes. */
export function startGit(run: GitRun, parameters: readonly string[]): ChildProcess {
  const options: SpawnOptions = {
    env: environmentOf(run),
    stdio: 'pipe',
    windowsHide: true,
  };
  refusePipes(run.directory, run.bare ?? false);
  const child = spawn('git', run.bare ? parameters : ['-C', run.directory, ...parameters], options);
  if (run.timeout !== undefined) endAfter(child, run.timeout);
  return child;
}

/** Ends a child that takes too long. The timer of `spawn` itself goes on where the program cannot be started. */
function endAfter(child: ChildProcess, timeout: number): void {
  const timer = setTimeout(() => child.kill(), timeout);
  for (const event of ['error', 'exit']) child.once(event, () => clearTimeout(timer));
}

/** Longest time for one command, in ms: a merge of trees that were made to exhaust us ends here. */
const TIMEOUT = 120_000;

/** Memory of a command, in MiB: trees that hold each other stand for a thousand million files, which git lists before it prints. */
const MEMORY = 2048;
/** The same of a command that compares commit by commit: the largest public repositories take 100 MB. */
export const LOG_MEMORY: number = 512;
/** Bytes of an answer at most: a text cannot be longer. */
const LARGEST_ANSWER = 500 * 2 ** 20;

/** What git prints on standard error is cut behind this many characters. */
const MESSAGE_LENGTH = 600;

/**
 * Runs git to its end.
 *
 * @throws PipelineError `git` when git is missing or fails, `too-large` when it takes too much
 */
export function runGit(run: GitRun, parameters: readonly string[]): Promise<GitAnswer> {
  return new Promise((resolve, reject) => {
    const child = startGit({ timeout: TIMEOUT, ...run }, parameters);
    const output: Buffer[] = [];
    const [command = ''] = parameters;
    const most = run.memory ?? MEMORY;
    let [size, message, excess] = [0, '', ''];
    const end = (what: string): void => {
      excess = what;
      child.kill('SIGKILL');
    };
    const unwatch = watchMemory(child, most, () => end(`takes more than ${most} MiB of memory`));
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_ANSWER) end(`prints more than ${LARGEST_ANSWER / 2 ** 20} MiB`);
      else output.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (message.length < MESSAGE_LENGTH) message += chunk.toString('utf8');
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(run.input ?? '');
    child.on('error', (error) => {
      unwatch();
      reject(startError(error));
    });
    child.on('close', (code, signal) => {
      unwatch();
      if (excess !== '') reject(new PipelineError('too-large', `git ${command} ${excess}`));
      else if (code !== null && (run.accept ?? [0]).includes(code))
        resolve({ code, output: Buffer.concat(output) });
      else reject(gitFailure(command, code ?? signal, message));
    });
  });
}

/** Why git could not be started. */
export function startError(error: Error): PipelineError {
  const missing = 'code' in error && error.code === 'ENOENT';
  return new PipelineError('git', missing ? 'git is not on the PATH' : `git: ${error.message}`, {
    cause: error,
    ...(missing ? { hint: 'install git 2.38 or later' } : {}),
  });
}

/** What git says of a redirect that it does not follow. */
const REDIRECT = /unable to access '([^']*)': The requested URL returned error: (30\d)/;

/** What git says of objects that a partial clone does not have, since it must not fetch them. */
const MISSING = /unable to read (?:tree|sha1 file|[0-9a-f]{40})|missing (?:tree|blob|commit)|bad tree object/;

/** A failure of git, in git's words where those tell what to do. */
export function gitFailure(command: string, code: number | string | null, message: string): PipelineError {
  const words = message.slice(0, MESSAGE_LENGTH).trim().replaceAll(/\s+/g, ' ');
  const [, url, status] = REDIRECT.exec(words) ?? [];
  if (url !== undefined) {
    return new PipelineError(
      'git',
      `git ${command}: ${url} redirects (${status}), and Portolan sends no token there: ` +
        'use the new URL of a renamed or moved repository',
    );
  }
  if (MISSING.test(words)) {
    return new PipelineError('not-found', `git ${command} needs objects that are not in this clone`, {
      hint: 'git fetch --refetch --filter=blob:none brings the history and folders of a partial clone, without its files',
    });
  }
  const old = /unknown option|is not a git command|usage: git/.test(words);
  return new PipelineError(
    'git',
    `git ${command} failed with exit code ${code}${words === '' ? '' : `: ${words}`}`,
    old ? { hint: 'install git 2.38 or later' } : {},
  );
}

/**
 * A run that compares files with the index. Filters are programs that the repository names: they do not run, and a file
 * that one of them changes counts as changed.
 *
 * @throws PipelineError `git` where the directory is in no work tree, or the repository names another directory for it
 */
export async function inWorkTree(run: GitRun): Promise<GitRun> {
  const asked = await runGit(run, ['rev-parse', '--is-inside-work-tree']);
  if (asked.output.toString('utf8').trim() !== 'true')
    throw new PipelineError('git', `git looks for the files of ${run.directory} elsewhere`, {
      hint: 'git config --unset core.worktree',
    });
  const words = ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'];
  // Git answers 1 if there are none.
  const { output } = await runGit({ ...run, accept: [0, 1] }, words);
  const keys = output.toString('utf8').split('\0').filter(Boolean);
  return { ...run, configuration: keys.map((key) => [key, key.endsWith('.required') ? 'false' : '']) };
}
