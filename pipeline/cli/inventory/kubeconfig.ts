/**
 * Kubeconfigs: how to reach a cluster's API. Plugins are not run, and what would make a connection unsafe is refused.
 *
 * @see https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { PipelineError } from '../../error.ts';
import { readSettings } from '../../settings.ts';

/** How to reach a cluster. */
export interface ClusterAccess {
  /** Name of the context. */
  readonly name: string;
  /** Such as `https://api.example.com:6443`. */
  readonly server: string;
  /** Certificates of its authority, as PEM; those of the machine without it. */
  readonly ca: string | undefined;
  readonly token: string | undefined;
  /** A client's certificate and key, as PEM. */
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
}

interface KubeconfigFile {
  /** What it is called in messages. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Reads a file that it names. @throws PipelineError */
  readonly readFile: (path: string) => string;
}

/**
 * The access of a context.
 *
 * @param context the current one when undefined
 * @throws PipelineError `usage`
 */
export function clusterAccess(file: KubeconfigFile, context: string | undefined): ClusterAccess {
  const { settings } = readSettings(file.path, file.bytes);
  const value = settings?.value;
  if (!isObject(value)) throw usage(`${file.path} is not a kubeconfig`);
  const name = context ?? text(value['current-context']);
  if (name === '') throw usage(`${file.path} has no current context`, 'use --context NAME');
  const chosen = entryNamed(value['contexts'], name, 'context');
  if (!chosen)
    throw usage(`${file.path} has no context ${JSON.stringify(name)}`, contextsHint(value['contexts']));
  // A cluster that is not there has no server, which is refused below; a context without a user asks as nobody.
  const cluster = entryNamed(value['clusters'], text(chosen['cluster']), 'cluster') ?? {};
  const user = entryNamed(value['users'], text(chosen['user']), 'user') ?? {};
  refuse(file.path, cluster, user);
  const data = (fields: Json, key: string): string | undefined => dataOrFile(file, fields, key);
  const [cert, key] = [data(user, 'client-certificate'), data(user, 'client-key')];
  const token = tokenOf(file, user);
  return {
    name,
    server: serverOf(file.path, text(cluster['server'])),
    ca: data(cluster, 'certificate-authority'),
    token: token === '' ? undefined : token,
    certificate: cert !== undefined && key !== undefined ? { cert, key } : undefined,
  };
}

type Json = Readonly<Record<string, unknown>>;

/** A value if it is a text, else an empty text: what is missing, and what has the wrong type, is not set. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The error for a kubeconfig that cannot be used. */
function usage(message: string, hint?: string): PipelineError {
  return new PipelineError('usage', message, hint === undefined ? {} : { hint });
}

/** The value under `kind` of the entry with a name, as in `clusters: [{name: prod, cluster: {…}}]`. */
function entryNamed(list: unknown, name: string, kind: string): Json | undefined {
  const found = Array.isArray(list) ? list.find((one) => isObject(one) && one['name'] === name) : undefined;
  const value = isObject(found) ? found[kind] : undefined;
  return isObject(value) ? value : undefined;
}

/** The contexts to choose from. */
function contextsHint(list: unknown): string {
  const names = Array.isArray(list) ? list.flatMap((one) => (isObject(one) ? text(one['name']) : [])) : [];
  return `--context ${names.join('|')}`;
}

/**
 * The token of a user; empty if there is none. As for kubectl, that of a file comes first, as it is renewed there; the one in the
 * kubeconfig counts where the file has none, or cannot be read.
 */
function tokenOf({ readFile }: KubeconfigFile, user: Json): string {
  const [token, path] = [text(user['token']), text(user['tokenFile'])];
  if (path === '') return token;
  try {
    return readFile(path).trim() || token;
  } catch (error) {
    if (token === '') throw error;
    return token;
  }
}

/**
 * Refuses settings that Portolan does not follow: the connection would be as another user, or less safe than it looks.
 */
function refuse(path: string, cluster: Json, user: Json): void {
  const hint = 'put a token into the kubeconfig: kubectl create token portolan-inventory';
  if ('exec' in user || 'auth-provider' in user)
    throw usage(`${path}: Portolan does not run credential plugins (exec, auth-provider)`, hint);
  if ('username' in user || 'password' in user)
    throw usage(`${path}: Portolan does not send passwords`, hint);
  // `as`, `as-uid`, `as-groups`, `as-user-extra`.
  if (Object.keys(user).some((key) => /^as(?:-|$)/.test(key)))
    throw usage(`${path}: Portolan does not impersonate users (as, as-groups)`, hint);
  if (cluster['insecure-skip-tls-verify'] === true)
    throw usage(
      `${path}: Portolan does not skip the verification of certificates`,
      'set certificate-authority',
    );
  if ('proxy-url' in cluster) throw usage(`${path}: Portolan does not support proxy-url`);
}

/** The address of a server, without trailing slashes. Anything else than a host, a port and a path is refused. */
function serverOf(path: string, server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const others = url && [url.username, url.password, url.search, url.hash];
  if (url?.protocol === 'https:' && others?.every((part) => part === '')) return server.replace(/\/+$/, '');
  // The address may have a password, whatever comes before it, and a message may be public.
  const shown = JSON.stringify(server.replace(/^.*@/s, '…@'));
  throw usage(`${path}: the server of the cluster is ${shown}, expected https://HOST:PORT`);
}

/** The text of `KEY-data` (base64), or of the file at `KEY`; undefined if neither is set. */
function dataOrFile({ readFile }: KubeconfigFile, fields: Json, key: string): string | undefined {
  const data = text(fields[`${key}-data`]);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const path = text(fields[key]);
  return path === '' ? undefined : readFile(path);
}
