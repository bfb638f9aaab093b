// npm run verify-action [-- --built]: whether the committed Action is what the sources build, byte for byte. With --built
// dist/ has just been built.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const COMMITTED = ['dist/action.cjs', 'dist/third-party.txt'];
if (!process.argv.includes('--built'))
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
const differing = COMMITTED.filter((path) => {
  const committed = execFileSync('git', ['show', `HEAD:${path}`], { maxBuffer: 1 << 28 });
  return !committed.equals(readFileSync(path));
});
if (differing.length > 0) {
  process.stderr.write(
    `${differing.join(', ')}: not what the sources build (run npm run build, and commit)\n`,
  );
  process.exit(1);
}
process.stdout.write(`${COMMITTED.join(', ')}: as the sources build them\n`);
