/** The check in a clone that somebody else made: no token, nothing asked of GitHub, reviews not known. */
import { resolve } from 'node:path';
import { warning } from '@actions/core';
import { type Checker, checkLimits, confinedCheck } from '../check/confined/confined-check.ts';
import type { CheckReport } from '../check/report.ts';
import type { CheckRequest } from '../check/request.ts';
import { fileError } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { readRegular } from '../file-pieces.ts';
import { openRepository } from '../git/repository.ts';
import { plainText } from '../text.ts';
import type { PullRequestEvent } from './event.ts';
import type { RunInputs } from './inputs.ts';
import { registriesOf } from './registries.ts';

/**
 * Checks two commits of a local clone.
 *
 * @throws PipelineError `not-found` if the clone lacks a commit, `usage` if nothing says which two
 */
export async function checkClone(inputs: RunInputs): Promise<CheckReport> {
  const searchPath = inputs.environment['PATH'];
  const directory = resolve(inputs.directory, inputs.clone ?? '.');
  const repository = await openRepository(directory, searchPath === undefined ? {} : { searchPath });
  const registries = registriesOf(inputs);
  try {
    return await checkerOf(inputs)(repository, { ...requestOf(inputs), registryFor: registries.under });
  } catch (thrown) {
    // Usually a shallow clone, which is what actions/checkout makes if nothing else is asked for.
    if (thrown instanceof PipelineError && thrown.code === 'not-found') {
      throw new PipelineError('not-found', thrown.message, { cause: thrown, hint: fetchHint(inputs) });
    }
    throw thrown;
  } finally {
    registries.close();
    await repository.close();
  }
}

/**
 * A check in a process of its own. If a hostile pull request makes it run out of memory, the job can still report that; a job
 * that runs out of memory itself just ends.
 */
export function checkerOf({ reader }: RunInputs): Checker {
  return confinedCheck({ ...reader, ...checkLimits(), log: (line) => warning(plainText(line)) });
}

/** What to set in the workflow so that the clone has the commits. */
function fetchHint({ event }: RunInputs): string {
  const head = event.kind === 'pull request' ? `, and run: git fetch origin pull/${event.number}/head` : '';
  return `set fetch-depth: 0 for actions/checkout${head}`;
}

/** The check of a clone that the inputs and the event ask for. @throws PipelineError `usage` without a base */
function requestOf({ event, policy, directory, now, ...inputs }: RunInputs): CheckRequest {
  const pull = event.kind === 'pull request' ? event : undefined;
  const base = inputs.base ?? pull?.base;
  if (base === undefined) {
    throw new PipelineError('usage', 'there is no pull request to check', {
      hint: 'run on pull_request or pull_request_target, or set the input base',
    });
  }
  return {
    base,
    head: inputs.head ?? pull?.head ?? 'HEAD',
    today: now.toISOString().slice(0, 10),
    // Without a pull request there is no author, so permissions are not checked.
    ...(pull ? { people: peopleOf(pull) } : {}),
    ...(policy === undefined ? {} : { policy: policyIn(directory, policy) }),
  };
}

/** The policy in a file of the workspace; findings name it by the given path. @throws PipelineError `not-found`, `io` */
export function policyIn(directory: string, path: string): NonNullable<CheckRequest['policy']> {
  const file = resolve(directory, path);
  try {
    return { path, bytes: readRegular(file) };
  } catch (thrown) {
    throw fileError(thrown, file);
  }
}

/** What the event alone says of the people. Reviews and commit authors are unknown, because nothing is asked of GitHub. */
function peopleOf({ author, pusher, draft }: PullRequestEvent): NonNullable<CheckRequest['people']> {
  const holds = draft ? ['the pull request is a draft'] : [];
  return { author, pusher, reviews: [], commits: undefined, holds };
}
