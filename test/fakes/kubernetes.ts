/** Processes of the Kubernetes host as its containers run them: the built program, its role, its environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { JOB, REPOSITORY_ID } from './cloud.ts';
import { folder } from './folder.ts';
import { freePort } from './tools.ts';

export interface HostOptions {
  /** The branch's repository over HTTP. */
  readonly git: string;
  readonly branch: string;
  /** A registry that speaks plain HTTP. */
  readonly registry: string;
  /** GitHub's API. */
  readonly github: string;
  /** Of PostgreSQL. */
  readonly database: string;
  /** Variables beside. */
  readonly more?: Readonly<Record<string, string>>;
}

export interface Pod {
  /** Of webhooks. */
  readonly url: string;
  /** Of probes and metrics. */
  readonly internal: string;
  readonly lines: readonly string[];
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Tells it to stop. @returns its exit code, once it has */
  stop(): Promise<number | null>;
}

export interface KubernetesHost {
  /** What each process is started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a process that goes on. @returns once it is ready */
  start(role: 'receive' | 'work'): Promise<Pod>;
  /** Runs a process to its end, in a role with what follows it, with a text on its standard input. */
  run(words: string, input?: string): Promise<{ readonly exit: number | null; readonly out: string }>;
  /** Sends a push to a process, signed. @returns the status; undefined when nobody answers */
  push(pod: Pick<Pod, 'url'>, payload: string): Promise<number | undefined>;
}

const SECRET = 'it is only a test';

export function kubernetesHost({
  git,
  branch,
  registry,
  github,
  database,
  more,
}: HostOptions): KubernetesHost {
  const secrets = folder();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(secrets, 'webhook'), `${SECRET}\n`);
  writeFileSync(join(secrets, 'app'), JSON.stringify({ appId: 1, installationId: 2, privateKey: pem }));
  const environment = {
    PATH: '/nowhere',
    TMPDIR: folder(),
    PORTOLAN_SOURCES: JSON.stringify([
      { repository: 'sea/catalogs', id: REPOSITORY_ID, branch, url: git, job: JOB },
    ]),
    PORTOLAN_DATABASE: database,
    PORTOLAN_WEBHOOK_SECRET_FILE: join(secrets, 'webhook'),
    PORTOLAN_APP_SECRET_FILE: join(secrets, 'app'),
    PORTOLAN_API: github,
    PORTOLAN_PLAIN_HTTP: `${registry},${new URL(git).host}`,
    PORTOLAN_STOP_REFUSE: '0',
    PORTOLAN_SILENCE: '10',
    ...more,
  };
  const begin = (role: string, ports: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, [resolve('dist/kubernetes.mjs'), ...role.split(' ')], {
      env: { ...environment, ...ports },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n').filter(Boolean)));
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, lines };
  };
  return {
    environment,
    start: async (role) => {
      const [open, internal] = [await freePort(), await freePort()];
      const ports = { PORTOLAN_PORT: String(open), PORTOLAN_METRICS_PORT: String(internal) };
      const { child, lines } = begin(role, ports);
      const ended = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
        const end = endOf(child);
        child.kill(signal);
        return end;
      };
      const pod: Pod = {
        url: `http://127.0.0.1:${open}`,
        internal: `http://127.0.0.1:${internal}`,
        lines,
        kill: async () => void (await ended('SIGKILL')),
        stop: () => ended('SIGTERM'),
      };
      for (let tries = 0; ; tries++) {
        const ready = await fetch(`${pod.internal}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
        if (ready) return pod;
        if (child.exitCode !== null || tries > 600)
          throw new Error(`${role} does not start: ${lines.join('\n')}`);
        await new Promise((done) => setTimeout(done, 100));
      }
    },
    run: async (role, input = '') => {
      const { child, lines } = begin(role);
      child.stdin.end(input);
      return { exit: await endOf(child), out: lines.join('\n') };
    },
    push: async ({ url }, payload) => {
      const signature = `sha256=${createHmac('sha256', SECRET).update(payload).digest('hex')}`;
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-hub-signature-256': signature,
      };
      const asked = { method: 'POST', headers, body: payload, signal: AbortSignal.timeout(10_000) };
      return fetch(`${url}/webhook`, asked).then(
        ({ status }) => status,
        () => undefined,
      );
    },
  };
}

function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((done) => child.once('close', done));
}
