/** What a run gets: the inputs of the step, the event, and where GitHub is. */
import type { ReaderProgram } from '../check/confined/confined-check.ts';
import type { Environment } from '../oci/registry/http/proxy.ts';
import type { Event } from './event.ts';

export const MODES = ['auto', 'start', 'check', 'report', 'publish', 'drift'] as const;
type Mode = (typeof MODES)[number];

export interface RunInputs {
  readonly mode: Mode;
  /** Looks and reports in the log, the summary and the outputs; changes nothing anywhere. */
  readonly dryRun: boolean;
  /** The workspace; relative paths start from it. */
  readonly directory: string;
  /** A clone that holds base and head, in place of fetching what is needed. */
  readonly clone: string | undefined;
  /** A file that stands in for the base branch's policy. */
  readonly policy: string | undefined;
  /** Revisions of the clone that stand in for the event's. */
  readonly base: string | undefined;
  readonly head: string | undefined;
  readonly event: Event;
  /** The packed reports of an earlier job. */
  readonly result: string | undefined;
  /** The heads that an earlier job has marked, as it wrote them. */
  readonly started: string | undefined;
  /** Which try of the workflow's run this is: `1`, `2` …; a re-run of jobs is the next one. */
  readonly attempt: string;
  /** Undefined where there is nobody to ask as: then only a clone can be checked. */
  readonly forge: ForgeInputs | undefined;
  readonly posting: PostingInputs;
  readonly publish: PublishInputs;
  /** The program that reads pull requests, in a process of its own. */
  readonly reader: ReaderProgram;
  /** Credentials for registries; without one the files of podman and docker are looked for. */
  readonly authfile: string | undefined;
  /** Where credentials, proxies and git are found. */
  readonly environment: Environment;
  /** A directory for reports. */
  readonly temporary: string;
  readonly now: Date;
}

export interface ForgeInputs {
  /** Of the API, and of the pages and repositories: `https://api.github.com`, `https://github.com`. */
  readonly api: string;
  readonly server: string;
  /** `owner/name`. */
  readonly repository: string;
  /** Undefined only beside an App, which is used where both are given. */
  readonly token: string | undefined;
  readonly app: { readonly id: string; readonly privateKey: string } | undefined;
}

export interface PostingInputs {
  /** Where the job's log is; undefined outside of GitHub. */
  readonly link: string | undefined;
  /** Most annotations of a check run. */
  readonly annotations: number;
  /** Whether to post the comment, and with it suggestions, labels, requests for reviews and answers. */
  readonly comment: boolean;
  /** Whether the policy's `merge` is followed; it is never gone beyond. */
  readonly merge: boolean;
}

export interface PublishInputs {
  /** Where the published files go. */
  readonly out: string;
  /** Functions that publish, asked with the job's identity token; the job publishes itself without. */
  readonly url: string | undefined;
  /** Hosts, with their ports, that speak plain HTTP. */
  readonly plainHttp: readonly string[];
  /** Publishes every catalog, whatever the push changed. */
  readonly everything: boolean;
}
