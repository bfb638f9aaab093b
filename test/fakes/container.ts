/**
 * A container as a pod's specification has it, on this machine: its arguments and environment, the user and the
 * read-only root that OpenShift gives it, its volumes. The network is the machine's, and so the ports are others.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { folder } from './folder.ts';
import { freePort } from './tools.ts';

export interface ContainerSpec {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
}

interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Readonly<
    Record<'secretKeyRef' | 'configMapKeyRef', { readonly name: string; readonly key: string } | undefined>
  >;
}

export interface PodSpec {
  readonly containers: readonly ContainerSpec[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: {
      readonly secretName: string;
      readonly items: readonly { readonly key: string; readonly path: string }[];
    };
    readonly configMap?: { readonly name: string };
    readonly emptyDir?: object;
  }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
}

/** What a namespace holds, by `secret/NAME` and `configMap/NAME`: texts by key. */
export type Namespace = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface StartedContainer {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  /** Of probes. */
  readonly internal: string;
  /** Of requests. */
  readonly url: string;
}

/** A user of OpenShift's range for a namespace. */
export const USER = 1_000_650_000;

/** Only root may set up another root and be another user: elsewhere the program runs as whoever runs the test. */
export const HAS_ROOT: boolean = process.getuid?.() === 0;

/** What Linux says of a container's process: its user, its rights, and whether it may write its root. */
export function confinementOf({ child }: StartedContainer): {
  readonly user: number;
  readonly rights: number;
  readonly isReadOnly: boolean;
} {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const mounts = readFileSync(`/proc/${child.pid}/mounts`, 'utf8').split('\n');
  const root = mounts.findLast((line) => line.split(' ')[1] === '/')?.split(' ')[3] ?? '';
  return {
    user: Number(/^Uid:\t(\d+)/m.exec(status)?.[1]),
    rights: Number.parseInt(/^CapEff:\t(\w+)/m.exec(status)?.[1] ?? '', 16),
    isReadOnly: root.split(',').includes('ro'),
  };
}

/** Starts a pod's only container. @param program of the image. @throws Error for what the namespace does not hold */
export async function startContainer(
  pod: PodSpec,
  program: string,
  held: Namespace,
): Promise<StartedContainer> {
  const [container] = pod.containers;
  if (!container) throw new Error('the pod has no container');
  const root = folder();
  onTestFinished(() => rmSync(`${root}.root`, { recursive: true, force: true }));
  const [open, internal] = [await freePort(), await freePort()];
  const environment: Record<string, string> = { HOME: '/tmp', NODE_ENV: 'production' };
  for (const { name, value, valueFrom } of container.env ?? []) {
    const { secretKeyRef: secret, configMapKeyRef: map } = valueFrom ?? {};
    environment[name] = value ?? valueIn(held, secret ? 'secret' : 'configMap', secret ?? map);
  }
  Object.assign(environment, { PORTOLAN_PORT: String(open), PORTOLAN_METRICS_PORT: String(internal) });
  const writable: string[] = [];
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const at = join(root, mountPath);
    mkdirSync(at, { recursive: true });
    const { secret, configMap } = pod.volumes?.find((volume) => volume.name === name) ?? {};
    if (secret)
      for (const { key, path } of secret.items)
        writeFileSync(join(at, path), valueIn(held, 'secret', { name: secret.secretName, key }));
    else if (configMap)
      for (const [key, text] of Object.entries(held[`configMap/${configMap.name}`] ?? {}))
        writeFileSync(join(at, key), text);
    else {
      writable.push(at);
      if (HAS_ROOT) chownSync(at, USER, 0);
    }
  }
  chmodSync(root, 0o755);
  const child = HAS_ROOT
    ? isolated({ root, writable, program, args: container.args, environment })
    : spawn(process.execPath, [program, ...container.args], {
        env: inFolder(environment, root),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n').filter(Boolean)));
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, lines, internal: `http://127.0.0.1:${internal}`, url: `http://127.0.0.1:${open}` };
}

function valueIn(
  held: Namespace,
  kind: string,
  of: { readonly name: string; readonly key: string } | undefined,
): string {
  const text = of && held[`${kind}/${of.name}`]?.[of.key];
  if (text === undefined) throw new Error(`the namespace has no ${kind} ${of?.name} with the key ${of?.key}`);
  return text;
}

/** Paths of volumes, where there is no other root. */
function inFolder(environment: Readonly<Record<string, string>>, root: string): Record<string, string> {
  const moved = (value: string): string =>
    /^\/(?:cache|secrets|trusted)\//.test(`${value}/`) ? join(root, value) : value;
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, moved(value)]));
}

interface Isolated {
  readonly root: string;
  readonly writable: readonly string[];
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs Node in a root of its own that holds the machine's programs, the program and the volumes, all read-only but the empty ones. */
function isolated({ root, writable, program, args, environment }: Isolated): ChildProcess {
  const script = `
    set -e
    for one in usr lib lib64 bin etc; do
      [ -e /$one ] || continue
      if [ -L /$one ]; then cp -a /$one "$ROOT/$one"; else mkdir "$ROOT/$one"; mount --bind /$one "$ROOT/$one"; mount -o remount,ro,bind "$ROOT/$one"; fi
    done
    mkdir "$ROOT/proc" "$ROOT/dev" "$ROOT/app"
    mount --rbind /proc "$ROOT/proc"
    mount --rbind /dev "$ROOT/dev"
    cp "$NODE" "$ROOT/app/node"
    cp "$PROGRAM" "$ROOT/app/kubernetes.mjs"
    for one in $WRITABLE; do mount --bind "$one" "$one"; done
    mount --bind "$ROOT" "$ROOT.root"
    for one in $WRITABLE; do mount --bind "$one" "$ROOT.root\${one#$ROOT}"; done
    for one in usr lib lib64 bin etc proc dev; do
      [ -d "$ROOT/$one" ] && [ ! -L "$ROOT/$one" ] && mount --rbind "$ROOT/$one" "$ROOT.root/$one"
    done
    mount -o remount,ro,bind "$ROOT.root"
    exec env -i "$@"`;
  mkdirSync(`${root}.root`);
  const run = [
    'setpriv',
    `--reuid=${USER}`,
    '--regid=0',
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
    '--inh-caps=-all',
  ];
  // Who changes the root first has no right to afterwards.
  const inside = ['chroot', `${root}.root`, ...run, '/app/node', '/app/kubernetes.mjs', ...args];
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const { PATH = '' } = process.env;
  return spawn(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...set, `PATH=${PATH}`, ...inside],
    {
      env: { PATH, ROOT: root, WRITABLE: writable.join(' '), NODE: process.execPath, PROGRAM: program },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
}
