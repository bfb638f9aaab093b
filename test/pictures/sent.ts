/** What the Action sends to GitHub of a report: the status, the check run with its annotations, the comment. */
import type { CheckReport } from '../../pipeline/check/report.ts';
import { statusOf } from '../../pipeline/forge/status.ts';
import type { GitHub } from '../../pipeline/github/client.ts';
import { type PostRequest, postCheck, postStatus } from '../../pipeline/github/post-report.ts';

export interface Annotation {
  readonly path: string;
  readonly start_line: number;
  readonly annotation_level: 'failure' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
}

export interface Sent {
  readonly status: { readonly state: string; readonly description: string };
  readonly annotations: readonly Annotation[];
  /** As Markdown, by lines: the comment; the check run's and the job's summaries are the same. */
  readonly comment: readonly string[];
}

/** What is sent of a report, from the requests themselves. */
export async function sentOf(report: CheckReport): Promise<Sent> {
  // biome-ignore lint/suspicious/noExplicitAny: bodies of requests, which the tests of the gate check
  const bodies: any[] = [];
  const note = async (body: unknown) => {
    bodies.push(body);
    return { data: { id: 1 } };
  };
  const rest = { repos: { createCommitStatus: note }, checks: { create: note } };
  const request: PostRequest = {
    github: { rest } as unknown as GitHub,
    repository: { owner: 'example', repo: 'catalogs' },
    link: undefined,
    server: 'https://github.com',
    annotations: 50,
  };
  const about = { commit: report.head, report };
  await postStatus(request, statusOf([about.report]));
  await postCheck(request, about);
  const [{ state, description }, { output }] = bodies;
  return {
    status: { state, description },
    annotations: output.annotations,
    comment: output.summary.split('\n'),
  };
}
