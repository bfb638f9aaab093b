import { basename, dirname, resolve } from 'node:path';
import { rehearseMerges } from '../../check/rehearsal/rehearsal.ts';
import { timeLimit } from '../../check/rehearsal/time-limit.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { openRepository, type Repository } from '../../git/repository.ts';
import { optimizeLater } from '../../processes.ts';
import { rehearsalPage } from '../../report/page/rehearsal-page.ts';
import { rehearsalText } from '../../report/rehearsal-text.ts';
import { searchPath } from '../../terminal.ts';
import { writeFiles } from '../../write.ts';
import { type Command, countOption } from '../command.ts';
import { adminsOption } from '../formed-option.ts';
import { progressLine } from '../progress-line.ts';
import { rehearsalPolicy } from './rehearsal-policy.ts';

/** How many merges are checked if nobody says it. */
const MERGES = 200;
/** How long merges are checked if nobody says it, in s: 200 merges of the largest known repositories take a minute. */
const SECONDS = 120;
/** The page that is written if nobody names one. */
const PAGE = 'portolan-rehearsal.html';

export const command: Command = {
  words: 'rehearse',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'path of a clone (default: current directory)' },
    head: { value: 'REF', description: 'branch whose merges are checked (default: HEAD)' },
    last: { value: 'N', description: `number of merges, the latest (default: ${MERGES})` },
    timeout: {
      value: 'SECONDS',
      description: `time after which no other merge is checked (default: ${SECONDS})`,
    },
    policy: {
      value: 'FILE',
      description:
        'policy to rehearse (default: that of the branch, else the one that portolan setup would write)',
    },
    admin: {
      value: 'LOGIN',
      description: 'admins of the policy that portolan setup would write, comma-separated',
    },
    page: { value: 'FILE', description: `HTML page to write (default: ${PAGE})` },
    format: { value: 'text|json', description: 'output format (default: text)' },
  },
  details: [
    'Checks past merges as the gate would have checked them, and needs no configuration: what fails and why, who',
    'would have been asked for an approval, and which clusters would have been stranded. Past reviews are not known, so a',
    'merge that needs an approval counts as passing after it. Nothing outside the clone is contacted. The exit code',
    'is 2 if the time did not suffice for all merges.',
  ].join('\n'),
  examples: ['portolan rehearse', 'portolan rehearse --repo ../catalogs --last 50 --admin alice'],
  run: async (invocation, terminal) => {
    const count = countOption(command, invocation, 'last') ?? MERGES;
    const limit = timeLimit(countOption(command, invocation, 'timeout') ?? SECONDS, () => +terminal.now());
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const repository = await openRepository(directory, searchPath(terminal));
    const { tell, clear } = progressLine(terminal);
    optimizeLater();
    try {
      const head = invocation.text('head') ?? 'HEAD';
      const file = invocation.text('policy');
      const policy =
        file === undefined
          ? await rehearsalPolicy(repository, head, adminsOption(command, invocation))
          : { path: file, bytes: readFileBytes(resolve(terminal.directory, file)) };
      const rehearsal = await rehearseMerges(repository, {
        head,
        count,
        policy,
        limit,
        today: terminal.now().toISOString().slice(0, 10),
        progress: ({ done, merges, stopped }) =>
          tell(() => `${done} of ${merges} merges checked, ${stopped} fail`),
      });
      clear();
      // The day of the last merge: there was none.
      if (rehearsal.to === '') throw noMerges(head, repository);
      const page = resolve(terminal.directory, invocation.text('page') ?? PAGE);
      const source = { source: policy.path, text: Buffer.from(policy.bytes).toString('utf8') };
      const html = rehearsalPage({ rehearsal, name: basename(directory), policy: source });
      writeFiles(dirname(page), new Map([[basename(page), html]]));
      const isJson = invocation.word('format', ['text', 'json']) === 'json';
      await terminal.out(isJson ? `${JSON.stringify(rehearsal, null, 2)}\n` : rehearsalText(rehearsal));
      terminal.err(`policy: ${policy.path}\npage: ${page}\n`);
      return limit.left > 0 ? 2 : 0;
    } finally {
      clear();
      await repository.close();
    }
  },
};

/** The error where there is no merge to check again, with the likely cause. */
function noMerges(head: string, { shallow }: Repository): PipelineError {
  return new PipelineError('not-found', `${head} has no merges to check`, {
    hint: shallow
      ? 'the clone is shallow: run git fetch --unshallow'
      : 'the branch has only one commit; portolan audit DIR checks a catalog without its history',
  });
}
