/**
 * The check of a pull request as a step of a workflow: annotations, the job summary, outputs. The
 * step fails when nothing could be told; what was told stands in its outputs.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type AnnotationProperties,
  error,
  info,
  notice,
  setFailed,
  setOutput,
  summary,
  warning,
} from '@actions/core';
import type { Finding, Severity } from '../../catalog/finding.ts';
import { PipelineError } from '../error.ts';
import { fileError } from '../file-error.ts';
import { openRepository } from '../git/repository.ts';
import type { Policy } from '../policy/policy.ts';
import { clientUnder } from '../references/client.ts';
import type { ClientOptions, RegistryClient } from '../registry/client.ts';
import { authfileCredentials } from '../registry/credentials.ts';
import type { Environment } from '../registry/proxy.ts';
import { jsonReport } from '../report/json.ts';
import { markdownReport } from '../report/markdown.ts';
import type { CheckReport } from '../report/report.ts';
import { plain } from '../report/text.ts';
import { textReport } from '../report/text-report.ts';
import { type CheckRequest, check } from '../stages/check.ts';
import { writeFiles } from '../write.ts';
import type { Event } from './event.ts';

export interface RunInputs {
  /** The workspace; relative paths start from it. */
  readonly directory: string;
  /** A clone that holds base and head. */
  readonly repository: string;
  /** A file that stands in for the base branch's policy. */
  readonly policy: string | undefined;
  /** Revisions that stand in for the event's. */
  readonly base: string | undefined;
  readonly head: string | undefined;
  /** Undefined when the workflow runs for anything but a pull request. */
  readonly event: Event | undefined;
  /** Credentials for registries; without one the files of podman and docker are looked for. */
  readonly authfile: string | undefined;
  /** Where credentials, proxies and git are found. */
  readonly environment: Environment;
  /** A directory for the report. */
  readonly temporary: string;
  readonly now: Date;
}

/** What GitHub shows of a step: ten annotations of each kind. */
const SHOWN = 10;
/** Most bytes of a step's summary. */
const SUMMARY_BYTES = 1024 * 1024;
const REPORT = 'portolan-report.json';

/** Runs the step; whatever goes wrong is said in the log and fails it. */
export async function run(read: () => RunInputs): Promise<void> {
  try {
    const inputs = read();
    await tell(await checked(inputs), inputs.temporary);
  } catch (thrown) {
    if (!(thrown instanceof PipelineError)) throw thrown;
    setFailed(thrown.hint === undefined ? thrown.message : `${thrown.message}\n${thrown.hint}`);
  }
}

async function checked(inputs: RunInputs): Promise<CheckReport> {
  const searchPath = inputs.environment['PATH'];
  const directory = resolve(inputs.directory, inputs.repository);
  const repository = await openRepository(directory, searchPath === undefined ? {} : { searchPath });
  const clients: RegistryClient[] = [];
  const registryFor = (policy: Policy): RegistryClient => {
    const client = clientUnder(policy, registryOptions(inputs));
    clients.push(client);
    return client;
  };
  try {
    return await check(repository, { ...requestOf(inputs), registryFor });
  } catch (thrown) {
    if (thrown instanceof PipelineError && thrown.code === 'not-found') {
      throw new PipelineError('not-found', thrown.message, { cause: thrown, hint: fetchHint(inputs.event) });
    }
    throw thrown;
  } finally {
    for (const client of clients) client.close();
    await repository.close();
  }
}

function registryOptions({ authfile, directory, environment }: RunInputs): ClientOptions {
  const file = authfile === undefined ? undefined : resolve(directory, authfile);
  return { credentials: authfileCredentials({ authfile: file, environment }), environment };
}

function fetchHint(event: Event | undefined): string {
  const head = event ? `, and run: git fetch origin pull/${event.number}/head` : '';
  return `give actions/checkout fetch-depth: 0${head}`;
}

function requestOf({ event, policy, directory, now, ...inputs }: RunInputs): CheckRequest {
  const base = inputs.base ?? event?.base;
  if (base === undefined) {
    throw new PipelineError('usage', 'there is no pull request to check', {
      hint: 'run on pull_request or pull_request_target, or give the input base',
    });
  }
  return {
    base,
    head: inputs.head ?? event?.head ?? 'HEAD',
    today: now.toISOString().slice(0, 10),
    ...(event ? { people: peopleOf(event) } : {}),
    ...(policy === undefined
      ? {}
      : { policy: { path: policy, bytes: readPolicy(resolve(directory, policy)) } }),
  };
}

function readPolicy(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}

function peopleOf({ author, sender, draft }: Event): NonNullable<CheckRequest['people']> {
  const holds = draft ? ['the pull request is a draft'] : [];
  return { author, pusher: sender, reviews: [], commits: undefined, holds };
}

async function tell(report: CheckReport, temporary: string): Promise<void> {
  // Text of a pull request must not be taken for a command of the runner.
  const stop = randomUUID();
  info(`::stop-commands::${stop}`);
  info(textReport(report).trimEnd());
  info(`::${stop}::`);
  for (const severity of ['error', 'warning', 'info'] as const) annotate(report.findings, severity);
  await summary.addRaw(shortened(markdownReport(report))).write({ overwrite: true });
  writeFiles(temporary, new Map([[REPORT, jsonReport(report)]]));
  setOutput('verdict', report.verdict);
  setOutput('authority', report.authority.decision);
  setOutput('headline', plain(report.headline));
  setOutput('report', resolve(temporary, REPORT));
}

const ANNOTATE: Readonly<Record<Severity, (message: string, where: AnnotationProperties) => void>> = {
  error,
  warning,
  info: notice,
};

function annotate(findings: readonly Finding[], severity: Severity): void {
  for (const finding of findings.filter((one) => one.severity === severity).slice(0, SHOWN)) {
    const { location, rule, message, hint } = finding;
    const text = hint === undefined ? plain(message) : `${plain(message)}\nfix: ${plain(hint)}`;
    const { file, line, column } = location;
    ANNOTATE[severity](text, { title: rule, file, startLine: line, startColumn: column });
  }
}

function shortened(markdown: string): string {
  if (Buffer.byteLength(markdown) <= SUMMARY_BYTES) return markdown;
  const kept = Buffer.from(markdown)
    .subarray(0, SUMMARY_BYTES - 200)
    .toString('utf8');
  return `${kept.slice(0, kept.lastIndexOf('\n'))}\n\nThe rest did not fit: the step's output \`report\` names the whole report.\n`;
}
