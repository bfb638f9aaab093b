/** When a mirror is kept up to date, and how. */
import { type KubernetesObject, objectsText } from '../../catalog/mirror/kubernetes-object.ts';
import { PipelineError } from '../error.ts';

export interface MirrorSchedule {
  /** Of the units and objects. */
  readonly name: string;
  /** Where `mirror sync` runs; its state and files are below it. */
  readonly directory: string;
  /** Absolute path of the ImageSetConfiguration. */
  readonly config: string;
  readonly to: string;
  /** In UTC. */
  readonly hour: number;
  readonly minute: number;
  readonly prunes: boolean;
  readonly signKey?: string;
  readonly authfile?: string;
  /** Absolute paths of certificates of private certificate authorities. */
  readonly authorities: readonly string[];
  /** Registries that are contacted over plain HTTP, and internal hosts. */
  readonly insecure: readonly string[];
  readonly internal: readonly string[];
}

/** The words of `mirror sync` behind the program. */
function syncWords(schedule: MirrorSchedule): string[] {
  const { config, to, prunes, signKey, authfile, authorities, insecure, internal } = schedule;
  return [
    ...['mirror', 'sync', config, '--to', to, '--out', 'mirror', '--status-page', 'status.html'],
    ...(prunes ? ['--prune'] : []),
    ...(signKey === undefined ? [] : ['--sign-key', signKey]),
    ...(authfile === undefined ? [] : ['--authfile', authfile]),
    ...authorities.flatMap((file) => ['--ca', file]),
    ...insecure.flatMap((host) => ['--insecure', host]),
    ...internal.flatMap((host) => ['--internal', host]),
  ];
}

/** A file that a CronJob gets from its Secret, under the key that it has there. */
interface SecretFile {
  readonly key: string;
  readonly file: string;
}

/** The credentials, key and certificates of a schedule, which a CronJob gets from a Secret. */
export function secretFiles({ signKey, authfile, authorities }: MirrorSchedule): SecretFile[] {
  return [
    ...(authfile === undefined ? [] : [{ key: 'auth.json', file: authfile }]),
    ...(signKey === undefined ? [] : [{ key: 'mirror.key', file: signKey }]),
    ...authorities.map((file, i) => ({ key: `ca-${i + 1}.pem`, file })),
  ];
}

// A CronJob that keeps a mirror up to date, with its configuration and the volume of its state.

interface CronJobParts {
  /** Image of Portolan. */
  readonly image: string;
  /** The ImageSetConfiguration. */
  readonly content: string;
}

/** Where the container has its configuration, state, Secret and temporary files. */
const [CONFIG, STATE, SECRET, WORK] = ['/config', '/state', '/secret', '/tmp'];
const FILE = 'imageset-config.yaml';

/** The manifests of a CronJob that runs `portolan mirror sync`. */
export function cronJobText(schedule: MirrorSchedule, { image, content }: CronJobParts): string {
  const { name, hour, minute, signKey, authfile } = schedule;
  const metadata = {
    name,
    labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/managed-by': 'portolan' },
  };
  const words = syncWords({
    ...schedule,
    config: `${CONFIG}/${FILE}`,
    ...(signKey !== undefined && { signKey: `${SECRET}/mirror.key` }),
    ...(authfile !== undefined && { authfile: `${SECRET}/auth.json` }),
    authorities: schedule.authorities.map((_, i) => `${SECRET}/ca-${i + 1}.pem`),
  });
  const hasSecret = secretFiles(schedule).length > 0;
  const container = {
    name: 'sync',
    image,
    args: words,
    workingDir: STATE,
    env: [
      { name: 'HOME', value: STATE },
      { name: 'TMPDIR', value: WORK },
    ],
    resources: { requests: { cpu: '500m', memory: '512Mi' }, limits: { memory: '2Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG, readOnly: true },
      { name: 'state', mountPath: STATE },
      { name: 'work', mountPath: WORK },
      ...(hasSecret ? [{ name: 'secret', mountPath: SECRET, readOnly: true }] : []),
    ],
  };
  const volumes = [
    { name: 'config', configMap: { name } },
    { name: 'state', persistentVolumeClaim: { claimName: name } },
    { name: 'work', emptyDir: {} },
    ...(hasSecret ? [{ name: 'secret', secret: { secretName: name } }] : []),
  ];
  const pod = {
    restartPolicy: 'Never',
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes,
  };
  const objects: KubernetesObject[] = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [FILE]: content } },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata,
      spec: {
        schedule: `${minute} ${hour} * * *`,
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        jobTemplate: { spec: { backoffLimit: 2, template: { spec: pod } } },
      },
    },
  ];
  return objectsText(objects);
}

// Units of systemd that keep a mirror up to date.
//
// @see https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines

/** The systemd service that synchronizes a mirror. @throws PipelineError `usage` for a name with a line break */
export function serviceText(schedule: MirrorSchedule): string {
  const words = ['/usr/bin/env', 'portolan', ...syncWords(schedule)];
  return `[Unit]
Description=Mirror of ${systemdValue(schedule.config)}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
WorkingDirectory=${systemdValue(schedule.directory)}
ExecStart=${words.map(systemdWord).join(' ')}
`;
}

/** The systemd timer of a mirror's daily synchronization. */
export function timerText({ name, hour, minute }: MirrorSchedule): string {
  const time = [hour, minute].map((number) => String(number).padStart(2, '0')).join(':');
  return `[Unit]
Description=Time of ${name}.service

[Timer]
OnCalendar=*-*-* ${time}:00 UTC
Persistent=true

[Install]
WantedBy=timers.target
`;
}

/** A value in which systemd replaces nothing: `%%` stands for a percent sign. @throws PipelineError `usage` */
function systemdValue(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would begin another setting
  if (/[\x00-\x1f\x7f]/.test(text))
    throw new PipelineError('usage', `${JSON.stringify(text)} has a control character`);
  return text.replaceAll('%', '%%');
}

/** A word of a command line in which systemd replaces nothing: `$$` stands for a dollar, and `$$$$` for that in `replaceAll`. */
function systemdWord(text: string): string {
  const escaped = systemdValue(text).replaceAll('$', '$$$$').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return /^[\w./:@%=+,-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
