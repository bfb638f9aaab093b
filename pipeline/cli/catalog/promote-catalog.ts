/** All packages of a catalog for the next version of the platform, in a work tree or as pull requests. */
import { basename, dirname, join, resolve } from 'node:path';
import { compareText } from '../../../catalog/go/text.ts';
import { type Promotions, promotionsOf } from '../../check/proposals/promotion.ts';
import { PipelineError } from '../../error.ts';
import { type Repository, withRepository, workTreeOf } from '../../git/repository.ts';
import { proposePromotions } from '../../github/proposals/promotions.ts';
import { policyOrLayoutAt } from '../../policy/setup/policy-or-layout.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { amountText, findingText, plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import type { Invocation } from '../command.ts';
import { namesGitHub, onGitHub } from '../on-github.ts';
import { showEffect } from '../show-effect.ts';

/** Promotes all packages: where `--repo` says. */
export function promoteCatalog(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const place = invocation.text('repo') ?? '.';
  return namesGitHub(place, terminal)
    ? promoteOnGitHub(invocation, terminal, place)
    : promoteInClone(invocation, terminal, place);
}

/** What is promoted where, and the day of it (`YYYY-MM-DD`). */
function requestOf({ needed }: Invocation, { now }: Terminal) {
  return { from: needed('from'), to: needed('to'), today: now().toISOString().slice(0, 10) };
}

/** Promotes in a clone: writes the files to the work tree. */
async function promoteInClone(invocation: Invocation, terminal: Terminal, place: string): Promise<ExitCode> {
  const directory = await workTreeOf(resolve(terminal.directory, place), searchPath(terminal));
  return withRepository(directory, searchPath(terminal), async (repository) => {
    const [commit = ''] = await repository.resolve(['HEAD']);
    const { policy } = await policyOrLayoutAt(repository, commit);
    if (!policy)
      throw new PipelineError('usage', 'cannot read the policy: run portolan check --base HEAD for details');
    const promotions = await promotionsOf(repository.objects, {
      ...requestOf(invocation, terminal),
      commit,
      policy,
    });
    const files = await filesOf(repository, promotions);
    printSkipped(promotions, terminal);
    const edit = { root: directory, files };
    if (!(await showEffect(edit, { invocation, terminal }))) return 1;
    write(directory, files);
    terminal.err(promotedText(promotions));
    await terminal.out([...files.keys()].map((path) => `${plainText(path)}\n`).join(''));
    return 0;
  });
}

/** The bytes of what is to be added, in the order of paths. */
async function filesOf(
  { objects }: Repository,
  { promoted }: Promotions,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = promoted.flatMap((promotion) => [...promotion.files]);
  const read = new Map<string, Uint8Array>();
  for (const [path, content] of files.sort(([a], [b]) => compareText(a, b)))
    read.set(path, content instanceof Uint8Array ? content : (await objects.read(content.id)).bytes);
  return read;
}

/** Writes files below a directory. */
function write(directory: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, bytes] of files) {
    const full = join(directory, path);
    writeFiles(dirname(full), new Map([[basename(full), bytes]]));
  }
}

/** Prints the packages that are not promoted, each with its reason. */
function printSkipped({ skipped }: Promotions, { err }: Terminal): void {
  for (const { package: name, why } of skipped) err(`skipped ${plainText(name)}: ${plainText(why)}\n`);
}

/** How many packages are promoted, and how many are not, as a line. */
function promotedText({ promoted, skipped }: Promotions): string {
  return `promoted ${amountText(promoted.length, 'package')}, skipped ${skipped.length}\n`;
}

/** Promotes on GitHub: opens a pull request for each package or group. */
async function promoteOnGitHub(invocation: Invocation, terminal: Terminal, place: string): Promise<ExitCode> {
  return onGitHub(place, invocation, terminal, async (opened, base) => {
    const request = { ...requestOf(invocation, terminal), base, group: invocation.flag('group') };
    const { promotions, proposed } = await proposePromotions(opened, request);
    for (const finding of promotions.findings) terminal.err(findingText(finding));
    printSkipped(promotions, terminal);
    terminal.err(promotedText(promotions));
    for (const [key, { kind, number, url, branch }] of proposed) {
      const what = number === undefined ? branch : `pull request ${number}`;
      await terminal.out(
        `${plainText(key)}: ${kind} ${what}${url === undefined ? '' : `\n  ${plainText(url)}`}\n`,
      );
    }
    // Others have commits on such a branch: nothing was proposed there.
    return [...proposed.values()].some(({ kind }) => kind === 'taken') ? 1 : 0;
  });
}
