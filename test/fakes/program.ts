/** The command line as people run it: the built program, in a process of its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/** What a build reads, and what it writes. */
const BUILT = ['catalog', 'pipeline', 'functions', 'scripts', 'package.json', 'package-lock.json', 'dist'];
/** Says of which state of those files the last build was. */
const STAMP = 'node_modules/.cache/portolan/built';

/** Builds what the package ships, unless the last build was of the same sources. */
export function buildProgram(): void {
  if (isBuilt()) return;
  execFileSync(process.execPath, ['scripts/build.mjs']);
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, stateOf(BUILT));
}

/** Builds dist/action.cjs alone, unless everything is built. */
export function buildAction(): void {
  if (!isBuilt()) execFileSync(process.execPath, ['scripts/build.mjs', '--action']);
}

function isBuilt(): boolean {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stateOf(BUILT);
}

/** Names the state of files by their sizes and times, in this directory. */
function stateOf(paths: readonly string[]): string {
  const hash = createHash('sha256').update(process.cwd());
  for (const path of paths.filter((one) => existsSync(one))) {
    const names = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
      : [''];
    for (const name of names.sort()) {
      const { size, mtimeMs } = statSync(join(path, name));
      hash.update(`${path}/${name} ${size} ${mtimeMs}\0`);
    }
  }
  return hash.digest('hex');
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
