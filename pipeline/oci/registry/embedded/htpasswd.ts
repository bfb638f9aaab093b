/**
 * Accounts of an htpasswd file, as Docker's registry reads it: bcrypt alone (`htpasswd -B`).
 *
 * @see https://distribution.github.io/distribution/about/configuration/#htpasswd
 */
import { createHash } from 'node:crypto';
import { compare } from 'bcryptjs';
import { PipelineError } from '../../../error.ts';
import { networkOf } from '../../../server-limits.ts';
import type { PasswordCheck } from './access.ts';
import { passwordAttempts } from './attempts.ts';

/**
 * Reads the accounts of an htpasswd file.
 *
 * @param path to name in errors
 * @returns whether a password is the one of a name
 * @throws PipelineError `usage` for a line that is not an account, or not in bcrypt
 */
export function htpasswdAccounts(text: string, path: string): PasswordCheck {
  const hashes = hashesIn(text, path);
  // A password costs a tenth of a second; clients send it with every request.
  const proven = new Map<string, string>();
  const attempts = passwordAttempts();
  const [some = ''] = hashes.values();
  return async (name, password, address) => {
    const hash = hashes.get(name);
    const digest = createHash('sha256').update(`${hash} ${password}`).digest('hex');
    if (hash !== undefined && proven.get(name) === digest) return true;
    // A name that is unknown takes as long.
    const isRight = await attempts(
      networkOf(address),
      async () => (await compare(password, hash ?? some)) && hash !== undefined,
    );
    if (isRight) proven.set(name, digest);
    return isRight;
  };
}

function hashesIn(text: string, path: string): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, hash] = /^([^:]+):(\$2[aby]\$\d\d\$[./0-9A-Za-z]{53})$/.exec(line) ?? [];
    if (name === undefined || hash === undefined) {
      throw new PipelineError('usage', `${path}:${i + 1} is not an account with a bcrypt password`, {
        hint: `write it with: htpasswd -B ${path} NAME`,
      });
    }
    hashes.set(name, hash);
  }
  return hashes;
}
