/** The clusters that a command line names by a kubeconfig and its contexts. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readFileBytes, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation, Option } from '../command.ts';
import { type ClusterApi, clusterApi } from './cluster-api.ts';
import { clusterAccess } from './kubeconfig.ts';

export const CONTEXT_OPTION: Option = {
  value: 'NAME',
  description: 'context of a cluster to read (default: the current context)',
  multiple: true,
};

/**
 * Reads each cluster of `--context`, or that of the current context.
 *
 * @throws PipelineError `usage` for a kubeconfig that cannot be used, and what `read` throws
 */
export async function readClusters<T>(
  invocation: Invocation,
  terminal: Terminal,
  read: (api: ClusterApi, name: string) => Promise<T>,
): Promise<T[]> {
  const contexts = [...new Set(invocation.list('context'))];
  const found: T[] = [];
  for (const context of contexts.length > 0 ? contexts : [undefined])
    found.push(await readCluster(invocation, terminal, { context, read }));
  return found;
}

/** Reads the cluster of a context; of the current one without it. @throws as `readClusters` */
export async function readCluster<T>(
  invocation: Pick<Invocation, 'text'>,
  terminal: Terminal,
  {
    context,
    read,
  }: {
    readonly context: string | undefined;
    readonly read: (api: ClusterApi, name: string) => Promise<T>;
  },
): Promise<T> {
  const path = kubeconfigPath(invocation, terminal);
  // kubectl takes such paths from the kubeconfig's folder, too.
  const readFile = (name: string): string => textBeside(path, name);
  const access = clusterAccess({ path, bytes: readFileBytes(path), readFile }, context);
  const api = clusterApi(access);
  try {
    return await read(api, access.name);
  } finally {
    api.close();
  }
}

/**
 * The text of a file that a kubeconfig names, such as a key. Others may have written the kubeconfig: a pipe or
 * device, which need not have an end, is refused.
 *
 * @throws PipelineError `usage`, `not-found` or `io`
 */
function textBeside(path: string, name: string): string {
  const full = resolve(dirname(path), name);
  if (existsSync(full) && !statSync(full).isFile())
    throw new PipelineError('usage', `${full}, which ${path} names, is not a regular file`);
  return readText(full);
}

/**
 * The path of `--kubeconfig`, of KUBECONFIG or of kubectl's own file. Portolan merges no files: of several in
 * KUBECONFIG it reads the first.
 */
function kubeconfigPath({ text }: Pick<Invocation, 'text'>, { directory, environment }: Terminal): string {
  const [first = ''] = (environment['KUBECONFIG'] ?? '').split(':');
  const named =
    text('kubeconfig') ?? (first === '' ? join(environment['HOME'] ?? '/', '.kube/config') : first);
  return resolve(directory, named);
}
