// npm run verify-action [-- --built]: whether the committed Action is what the sources build, byte for byte. With --built
// dist/ has just been built. Pull requests may leave the Action out: maintainers build it after the merge.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const COMMITTED = ['dist/action.cjs', 'dist/third-party.txt'];
if (process.env.GITHUB_EVENT_NAME === 'pull_request' && isLeftOut()) {
  process.stdout.write(`${COMMITTED.join(', ')}: left out of the pull request\n`);
  process.exit();
}
if (!process.argv.includes('--built'))
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
const differing = COMMITTED.filter((path) => {
  const committed = execFileSync('git', ['show', `HEAD:${path}`], { maxBuffer: 1 << 28 });
  return !committed.equals(readFileSync(path));
});
if (differing.length > 0) {
  process.stderr.write(
    `${differing.join(', ')}: not what the sources build (run npm run build, and commit; a pull request may leave them out)\n`,
  );
  process.exit(1);
}
process.stdout.write(`${COMMITTED.join(', ')}: as the sources build them\n`);

/** Whether the merge of a pull request takes the files from its base, the first parent. Without that parent, it is unknown. */
function isLeftOut() {
  return spawnSync('git', ['diff', '--quiet', 'HEAD^1', 'HEAD', '--', ...COMMITTED]).status === 0;
}
