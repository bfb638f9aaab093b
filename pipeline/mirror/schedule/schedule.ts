/** When a mirror is kept up to date, and how. */

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
export function syncWords(schedule: MirrorSchedule): string[] {
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

/** The files of a schedule that belong into a Secret. */
export function secretFiles({ signKey, authfile, authorities }: MirrorSchedule): SecretFile[] {
  return [
    ...(authfile === undefined ? [] : [{ key: 'auth.json', file: authfile }]),
    ...(signKey === undefined ? [] : [{ key: 'mirror.key', file: signKey }]),
    ...authorities.map((file, i) => ({ key: `ca-${i + 1}.pem`, file })),
  ];
}
