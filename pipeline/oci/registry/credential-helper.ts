/**
 * Credential helpers: programs `docker-credential-NAME` that are asked over their standard
 * input. They run without a shell, found on the PATH that was given.
 *
 * @see https://github.com/docker/docker-credential-helpers#development
 */

import { spawn } from 'node:child_process';
import { parseJson } from '../../../catalog/json.ts';
import { shellWord } from '../../../catalog/names.ts';
import { PipelineError } from '../../error.ts';
import type { Credential } from '../../ports.ts';
import type { Environment } from './http/proxy.ts';

/** Names of helpers: they become a part of a program's name, so no slash may lead to another folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** Characters of output after which a helper is killed. */
const OUTPUT = 64 * 1024;
/** Milliseconds after which a helper is killed; it may ask a cloud. */
const PATIENCE = 60_000;

/**
 * Asks a helper for the credential of a server.
 *
 * @returns undefined when it has none
 * @throws PipelineError `usage` for a name that is not a helper's, `denied` when it fails
 */
export async function askHelper(
  name: string,
  server: string,
  environment: Environment,
): Promise<Credential | undefined> {
  if (!NAME.test(name))
    throw new PipelineError('usage', 'the authfile has an invalid credential helper name');
  const program = `docker-credential-${name}`;
  const { status, output } = await runHelper(program, server, environment);
  if (status !== 0) {
    // The protocol has no code for it, only this text on the standard output.
    if (/credentials not found/i.test(output)) return undefined;
    // Do not repeat its output: it may contain secrets.
    throw new PipelineError('denied', `${program} failed for ${server}`, {
      hint: `echo ${shellWord(server)} | ${program} get`,
    });
  }
  return credentialOf(output, program);
}

/**
 * The credential in a helper's output; undefined if it has none.
 *
 * @throws PipelineError `denied` for output that is not valid
 */
function credentialOf(output: string, program: string): Credential | undefined {
  let json: { Username?: unknown; Secret?: unknown };
  try {
    json = Object(parseJson(output));
  } catch {
    throw new PipelineError(
      'denied',
      `${program} is not a working credential helper: its output is not valid`,
    );
  }
  const { Username: username, Secret: secret } = json;
  if (typeof username !== 'string' || typeof secret !== 'string' || secret === '') return undefined;
  // Helpers return an identity token under this name.
  if (username === '<token>') return { kind: 'identity', token: secret };
  return { kind: 'basic', username, password: secret };
}

/** Runs a helper. @returns its exit code and output */
function runHelper(
  program: string,
  input: string,
  environment: Environment,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], {
      env: { ...environment },
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: PATIENCE,
      shell: false,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > OUTPUT) child.kill();
    });
    child.once('error', (cause) =>
      reject(new PipelineError('denied', `cannot run the credential helper ${program}`, { cause })),
    );
    child.once('close', (status) => resolve({ status, output }));
    // A helper may end without reading, which closes the pipe. Its exit code explains why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
