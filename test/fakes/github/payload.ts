/** Events with GitHub's own example payloads, told of a pull request of ours. */
import { createRequire } from 'node:module';
import type { Account, FakeForge, FakePull } from './forge.ts';

type Json = Record<string, unknown>;

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
  readonly name: string;
  readonly examples: Json[];
}[];

/** An example payload of an event, of one action where that is given. */
export function example(name: string, action?: string): Json {
  const { examples: payloads } = examples.find((event) => event.name === name) ?? { examples: [] };
  const found = payloads.find((payload) => action === undefined || payload['action'] === action);
  if (!found) throw new Error(`no example of ${name} ${action}`);
  return structuredClone(found);
}

/** The payload of an event about a pull request. */
export function pullPayload(
  forge: FakeForge,
  pull: FakePull,
  { action = 'synchronize', sender = pull.author }: { action?: string; sender?: string } = {},
): Json {
  const known = ['edited', 'enqueued'].includes(action) ? 'synchronize' : action;
  const payload = example('pull_request', known);
  const request = payload['pull_request'] as Json;
  const person = (login: string): Account =>
    forge.accounts.find((one) => one.login === login) ?? { login, id: 1 };
  Object.assign(request, {
    number: pull.number,
    draft: pull.draft,
    state: pull.state,
    user: { ...(request['user'] as Json), type: 'User', ...person(pull.author) },
  });
  Object.assign(request['base'] as Json, { ref: pull.into ?? 'main', sha: pull.base });
  Object.assign(request['head'] as Json, { ref: pull.branch, sha: pull.head });
  const by = { ...(payload['sender'] as Json), type: 'User', ...person(sender) };
  return { ...payload, action, number: pull.number, sender: by };
}
