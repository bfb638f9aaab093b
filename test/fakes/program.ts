/** The command line as people run it: the built program, in a process of its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

export interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/** Builds what the package ships. */
export function buildProgram(): void {
  execFileSync(process.execPath, ['scripts/build.mjs']);
}

/** Runs the built program to its end. */
export function program(parameters: readonly string[], environment: NodeJS.ProcessEnv = {}): Ended {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolve('dist/portolan.mjs'), ...parameters],
    {
      encoding: 'utf8',
      env: { ...process.env, ...environment },
      maxBuffer: 1 << 29,
    },
  );
  return { exit: status, out: stdout, err: stderr };
}
