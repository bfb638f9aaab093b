/** Debian's PostgreSQL, started for a test; it can be killed, and started again over what it has written. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './tools.ts';

export interface Postgres {
  readonly url: string;
  /** Ends it at once, with all that it had not written. */
  kill(): Promise<void>;
  /** Starts it again, over what it has written. */
  start(): Promise<void>;
}

/** PostgreSQL does not run as root: then it runs as Debian's `nobody`. */
const NOBODY = 65534;
const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** The folder of PostgreSQL's programs; undefined where there are none. */
export const POSTGRES: string | undefined = programs();

function programs(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

export async function postgres(): Promise<Postgres> {
  const bin = POSTGRES ?? '';
  // Not where the other tests write: nobody but the owner may look into that.
  const data = mkdtempSync('/tmp/portolan-postgres-');
  chmodSync(data, 0o700);
  if (owner.uid !== undefined) chownSync(data, owner.uid, owner.gid);
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const options = { ...owner, cwd: '/', stdio: 'ignore' } as const;
  const made = ['-D', data, '-U', 'portolan', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  execFileSync(join(bin, 'initdb'), made, options);
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    const running = child;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((done) => running.once('exit', done));
    // A process of a connection answers once more until it notices that the first one is gone.
    const others = childrenOf(running.pid);
    running.kill('SIGKILL');
    for (const pid of others) killIfThere(pid);
    await gone;
  };
  const begin = async (): Promise<void> => {
    // The machine keeps its power: what was written needs no disk.
    const settings = [
      '-c',
      'fsync=off',
      '-c',
      'unix_socket_directories=',
      '-c',
      'listen_addresses=127.0.0.1',
    ];
    for (let tries = 0; tries < 100; tries++) {
      if (!child || child.exitCode !== null || child.signalCode !== null)
        child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], options);
      if (await answers(port)) return;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error('PostgreSQL does not start');
  };
  // Registered after the folder's removal, and so done before it.
  onTestFinished(kill);
  mkdirSync(data, { recursive: true });
  await begin();
  return { url: `postgres://portolan@127.0.0.1:${port}/postgres`, kill, start: begin };
}

/** Whether it takes queries: while it starts, it says to a connection that it does not. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('connect', () => {
      const words = Buffer.from('user\0portolan\0database\0postgres\0\0');
      const head = Buffer.alloc(8);
      head.writeInt32BE(words.length + 8, 0);
      head.writeInt32BE(196_608, 4);
      socket.write(Buffer.concat([head, words]));
    });
    // R: let in. E: an error.
    socket.once('data', (answer) => {
      resolve(answer.toString('latin1', 0, 1) === 'R');
      socket.destroy();
    });
  });
}

/** Ids of the processes that a process has started. */
function childrenOf(pid: number | undefined): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.split('\n').map(Number).filter(Boolean);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It noticed by itself.
  }
}
