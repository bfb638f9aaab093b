/**
 * Rendering a Helm chart through the program `helm`. Charts are somebody else's templates: helm runs
 * without a shell, with empty directories for its settings and plugins, without access to a cluster, and within limits of
 * time, memory and output.
 *
 * @see https://helm.sh/docs/helm/helm_template/
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';
import type { Readable } from 'node:stream';
import { PipelineError } from '../../error.ts';
import { printableText } from '../../oci/registry/response.ts';
import { type ProcessLimits, watchProcess } from '../../processes.ts';

interface RenderLimits extends ProcessLimits {
  /** Bytes of manifests. */
  readonly output: number;
}

/** Limits of one run of helm, in s, MiB and bytes. A chart that needs more is an error, not a wait. */
export const RENDER_LIMITS: RenderLimits = { seconds: 60, memory: 1024, output: 64 * 2 ** 20 };

interface RenderOptions {
  /** The search path of programs: `PATH`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** An existing, empty directory. */
  readonly scratch: string;
  /** The Kubernetes version that the chart sees, such as `1.33`. */
  readonly kubernetes: string;
  /** Absolute paths of files with values, the last one counts most. */
  readonly values?: readonly string[];
  readonly limits?: RenderLimits;
}

/**
 * The manifests of a chart, hooks included, as text. Its values are not compared with their schema: a schema may refer to
 * any address or file, and helm would read it.
 *
 * @param path absolute path of the chart's directory or archive
 * @returns undefined where there is no program `helm`
 * @throws PipelineError `usage` when helm cannot render the chart, `too-large` beyond a limit
 */
export async function renderChart(path: string, options: RenderOptions): Promise<string | undefined> {
  try {
    return await outputOf(startHelm([UNCHECKED], path, options), options.limits);
  } catch (error) {
    // Only helm's own error follows "chart: ": before the words of a chart that fails on purpose, helm names its template.
    const isOld =
      error instanceof PipelineError && error.message.endsWith(`chart: unknown flag: ${UNCHECKED}`);
    if (!isOld) throw error;
    return outputOf(startHelm([], path, options), options.limits);
  }
}

/** Since helm 3.16. */
const UNCHECKED = '--skip-schema-validation';
/** A proxy that is not there, for schemas that an older helm reads. */
const NOWHERE = 'http://127.0.0.1:9';

type Helm = ChildProcessByStdio<null, Readable, Readable>;

/** Starts helm, which gets no network, no cluster and none of this process's environment. */
function startHelm(
  more: readonly string[],
  path: string,
  { environment, scratch, kubernetes, values = [], limits = RENDER_LIMITS }: RenderOptions,
): Helm {
  // helm would take a relative path for the name of a chart in a repository.
  if (!isAbsolute(path)) throw new TypeError('internal error: the path of a chart is not absolute');
  if (!values.every(isAbsolute)) throw new TypeError('internal error: the path of values is not absolute');
  const files = values.flatMap((file) => ['--values', file]);
  return spawn(
    'helm',
    ['template', 'release', path, '--include-crds', '--kube-version', kubernetes, ...more, ...files],
    {
      cwd: scratch,
      env: {
        PATH: environment['PATH'] ?? '',
        HOME: scratch,
        HELM_CACHE_HOME: scratch,
        HELM_CONFIG_HOME: scratch,
        HELM_DATA_HOME: scratch,
        HELM_PLUGINS: scratch,
        KUBECONFIG: '/dev/null',
        HTTP_PROXY: NOWHERE,
        HTTPS_PROXY: NOWHERE,
        // From half of the limit on, helm collects its garbage more often, before it is killed for it.
        GOMEMLIMIT: `${Math.floor(limits.memory / 2)}MiB`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: false,
    },
  );
}

/** The manifests that helm writes; undefined without helm. It is killed at a limit. */
function outputOf(child: Helm, limits: RenderLimits = RENDER_LIMITS): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let message = '';
    let broken: string | undefined;
    const stop = (limit: string): void => {
      broken ??= limit;
      child.kill('SIGKILL');
    };
    const unwatch = watchProcess(child, limits, stop);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.output) stop(`it gave more than ${limits.output / 2 ** 20} MiB of manifests`);
      else chunks.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (message.length < MESSAGE) message += text;
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      unwatch();
      // Without helm, the caller looks for images in the templates.
      if (error.code === 'ENOENT') resolve(undefined);
      else reject(new PipelineError('io', 'cannot run helm', { cause: error }));
    });
    child.once('close', (status) => {
      unwatch();
      if (broken !== undefined)
        reject(new PipelineError('too-large', `the chart cannot be rendered: ${broken}`));
      else if (status !== 0) reject(refusal(message));
      else resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

/** Characters of helm's output that are kept. */
const MESSAGE = 4_096;

/** The error for a chart that helm cannot render. */
function refusal(message: string): PipelineError {
  // What helm writes before "Error: " are warnings.
  const [reason = ''] = /(?<=Error: ).*/.exec(message) ?? [message.trim()];
  const missing = /missing in charts\/ directory: (.*)/.exec(reason)?.[1];
  if (missing !== undefined) {
    return new PipelineError(
      'usage',
      `the chart needs other charts that are not in it: ${printableText(missing)}`,
      {
        hint: 'run helm dependency build in the directory of the chart',
      },
    );
  }
  return new PipelineError('usage', `helm cannot render the chart: ${printableText(reason)}`);
}
