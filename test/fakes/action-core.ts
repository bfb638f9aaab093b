/** What replaces `@actions/core` where jobs run in the process of a test. It imports nothing that imports that. */

/** What the job that runs has written. */
export interface JobLog {
  readonly outputs: Map<string, string>;
  readonly failures: string[];
}

/** Of the job that runs; jobs may interrupt each other, but only where one waits for GitHub. */
let current: JobLog = { outputs: new Map(), failures: [] };

/** What replaces `@actions/core`. */
export const CORE: Readonly<Record<string, unknown>> & {
  setOutput(name: string, value: unknown): void;
} = {
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
  notice: () => undefined,
  setSecret: () => undefined,
  getInput: () => '',
  setFailed: (message: string) => void current.failures.push(message),
  setOutput: (name: string, value: unknown) => void current.outputs.set(name, String(value)),
  summary: { addRaw: () => undefined, write: async () => undefined },
};

/** Runs a job. @returns what it wrote */
export async function logged(job: () => Promise<void>): Promise<JobLog> {
  const [before, log] = [current, { outputs: new Map<string, string>(), failures: [] }];
  current = log;
  try {
    await job();
  } finally {
    current = before;
  }
  return log;
}
