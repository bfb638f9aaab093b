/**
 * A check in a process of its own, which may hang, crash or run out of memory: {@link confinedCheck} started it. What is
 * needed from elsewhere it asks of that process, which has the credentials.
 */
import { PipelineError } from '../../error.ts';
import { BatchProcess } from '../../git/cat-file.ts';
import { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import type { Registry } from '../../ports.ts';
import { checkPullRequest } from '../check.ts';
import type { CheckRequest } from '../request.ts';
import { type FromReader, receivedError, sentError, type Task, type ToReader } from './messages.ts';

/** Asks the process that started this one. @throws PipelineError as it answers */
type Ask = <T>(what: string, ...parameters: readonly unknown[]) => Promise<T>;

/** A question that the parent has not answered yet. */
interface OpenQuestion {
  readonly resolve: (value: never) => void;
  readonly reject: (error: PipelineError) => void;
}

/** Runs the check of the first message, sends the report, and ends. */
export function serveReader(): void {
  const questions = new Map<number, OpenQuestion>();
  const send = (message: FromReader): void => void process.send?.(message);
  let count = 0;
  const ask: Ask = (what, ...parameters) =>
    new Promise((resolve, reject) => {
      const id = count++;
      questions.set(id, { resolve, reject });
      send({ kind: 'ask', id, what, parameters });
    });
  // Without its parent nobody takes the report.
  process.once('disconnect', () => process.exit(2));
  process.on('message', (message: ToReader) => {
    if (message.kind === 'task') return void run(message.task, ask).then(send);
    const question = questions.get(message.id);
    questions.delete(message.id);
    if (message.kind === 'answer') question?.resolve(message.value as never);
    else question?.reject(receivedError(message.error));
  });
}

/** Runs the check. An error that is not a PipelineError is a bug: it ends this process, and the check. */
async function run(task: Task, ask: Ask): Promise<FromReader> {
  const repository = repositoryOf(task, ask);
  try {
    return { kind: 'report', report: await checkPullRequest(repository, requestOf(task, ask)) };
  } catch (error) {
    if (error instanceof PipelineError) return { kind: 'error', error: sentError(error) };
    throw error;
  } finally {
    await repository.close();
  }
}

/**
 * The repository as the confined process has it: objects that are here are read directly, all else is asked of the
 * parent.
 */
function repositoryOf({ settings, scratch, shallow, isRemote, brought }: Task, ask: Ask): Repository {
  const store = new BatchProcess({ settings, directory: scratch, bare: true });
  const objects = isRemote
    ? new ObjectReader(store, (ids) => ask('fetch', ids), brought)
    : new ObjectReader(store);
  return {
    settings,
    objects,
    scratch,
    shallow,
    resolve: (revisions) => ask('resolve', revisions),
    bring: (commits) => ask('bring', commits),
    bringHistory: (commits) => ask('bringHistory', commits),
    bringTrees: (trees, levels) => ask('bringTrees', trees, levels),
    mergeTrees: (base, head) => ask('mergeTrees', base, head),
    close: () => objects.close(),
  };
}

/** The check's request, with functions that ask the parent. */
function requestOf({ request, people, has }: Task, ask: Ask): CheckRequest {
  return {
    ...request,
    ...(has.history ? { historyOf: (places) => ask('history', places) } : {}),
    ...(has.registry ? { registryFor: () => registryOf(ask) } : {}),
    ...(has.cache
      ? { cache: { get: (key) => ask('cached', key), put: (key, bytes) => ask('keep', key, bytes) } }
      : {}),
    ...(people
      ? {
          people: {
            ...people,
            ...(has.directory ? { directoryFor: (identities) => ask('directory', identities) } : {}),
            ...(has.leftBase ? { leftBaseAt: (commit) => ask('leftBase', commit) } : {}),
          },
        }
      : {}),
  };
}

/** The registries as the confined process has them: each read is a question to the parent. */
function registryOf(ask: Ask): Registry {
  const refuse = (): Promise<never> =>
    Promise.reject(new PipelineError('not-allowed', 'a check writes to no registry'));
  return {
    resolve: (reference) => ask('resolveImage', reference),
    getManifest: (reference) => ask('getManifest', reference),
    getBlob: (from, { digest, size }) => stream(ask, 'getBlob', from, { digest, size }),
    hasBlob: (from, digest, size) => ask('hasBlob', from, digest, size),
    listTags: (of) => stream(ask, 'listTags', of),
    listReferrers: (of, digest, type) => ask('listReferrers', of, digest, type),
    putBlob: refuse,
    putManifest: refuse,
    deleteManifest: refuse,
  };
}

/** Iterates over data of another process, one part at a time. */
async function* stream<T>(ask: Ask, what: string, ...parameters: readonly unknown[]): AsyncGenerator<T> {
  const handle = await ask<number>(what, ...parameters);
  try {
    for (;;) {
      const { done, value } = await ask<{ done: boolean; value: T }>('next', handle);
      if (done) return;
      yield value;
    }
  } finally {
    await ask('end', handle);
  }
}
