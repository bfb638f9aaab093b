/** Programs that other people wrote, run beside ours. */
import { execFile, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Whether a program is on the PATH: suites that need it are skipped, by its name, when it is not. */
export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs a program to its end; gives what it wrote. */
export function run(program: string, ...parameters: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    execFile(program, parameters, { encoding: 'buffer', maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program} ${parameters.join(' ')}: ${stderr}${stdout}`));
      else resolve(stdout);
    });
  });
}

export interface Started {
  /** Starts the program; it ends with the test. */
  readonly program: string;
  readonly parameters: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Asked until it answers at all. */
  readonly url: string;
}

export async function start({ program, parameters, environment, url }: Started): Promise<void> {
  const child = spawn(program, parameters, { env: { ...process.env, ...environment }, stdio: 'ignore' });
  onTestFinished(() => void child.kill());
  for (let tries = 0; tries < 900; tries++) {
    const isUp = await fetch(url).then(
      () => true,
      // TLS that fetch does not trust is an answer too.
      (error: Error) =>
        /CERT|SELF_SIGNED|certificate|UNABLE/i.test(String((error.cause as { code?: string })?.code)),
    );
    if (isUp) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${program} does not answer at ${url}`);
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
