/** Stories played by the Action's jobs. */
import type { Event } from '../../pipeline/action/event.ts';
import { runWorkflow, type WorkflowRun } from './action-jobs.ts';
import { PEOPLE } from './gate.ts';
import type { FakePull } from './github/forge.ts';
import type { Answer, Asked } from './github/server.ts';
import type { Story } from './story.ts';

let runs = 0;
function runOf(event: Event): WorkflowRun {
  runs += 1;
  return { event, id: runs, attempt: 1, failures: [] };
}

export async function play(story: Story, event: Event): Promise<WorkflowRun> {
  const run = runOf(event);
  await runWorkflow(run, story.hub.forge);
  return run;
}

export function changeOf(story: Story, pull: FakePull, action: string): Event {
  const { number, head, draft, into: branch = 'main' } = pull;
  const people = { author: PEOPLE.bob, pusher: PEOPLE.bob };
  const at = { number, action, base: story.hub.base(), head, previousHead: undefined, branch, draft };
  return { kind: 'pull request', ...at, ...people };
}

export const changed = (story: Story, pull: FakePull, action: string): Promise<WorkflowRun> =>
  play(story, changeOf(story, pull, action));
export const moved = (story: Story, before: string): Promise<WorkflowRun> =>
  play(story, { kind: 'moved', branch: 'main', before, commit: story.hub.base() });
export const isMerge = ({ operation }: Asked): boolean =>
  operation.startsWith('PUT ') && operation.endsWith('/merge');
export const merges = ({ hub }: Story): string[] => hub.forge.merges.map(({ sha }) => sha);

/** Answers the next merges with what GitHub says where it cannot merge. */
export function refuseMerges({ hub }: Story, times: number): void {
  let left = times;
  hub.forge.faults.push((asked) =>
    isMerge(asked) && left-- > 0
      ? { status: 405, data: { message: 'Pull Request is not mergeable' } }
      : undefined,
  );
}

/** Happens once, when the merge is asked for and before GitHub looks at it. */
export function atMerge({ hub }: Story, act: (asked: Asked) => Answer | undefined): void {
  let isDone = false;
  hub.forge.faults.push((asked) => {
    if (isDone || !isMerge(asked)) return undefined;
    isDone = true;
    return act(asked);
  });
}
