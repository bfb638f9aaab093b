import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveCatalog } from '../../pipeline/catalogs/serve/serve.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { type Answer, registryApi } from '../fakes/registry-api.ts';
import { saysWhy } from './graph.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON, whose shape its README gives
type Recorded = any;

/** Answers of `opm serve`, asked of ours over the network; streams are sets. */
export async function* cases(folder: string): AsyncGenerator<CaseResult> {
  const root = join(folder, 'graph');
  for (const name of readdirSync(root).sort()) {
    if (!name.startsWith('grpc-')) continue;
    const read = (file: string): Recorded => JSON.parse(readFileSync(join(root, name, file), 'utf8'));
    yield await isolated(name, async () => {
      const { queries, catalogs } = read('query.json');
      const input = join(root, name, 'input', catalogs[0].name);
      const differences = await compare(input, queries, read('expect.json'));
      return differences.length === 0
        ? { name, outcome: 'agree' }
        : { name, outcome: 'differ', detail: differences.join('; ') };
    });
  }
}

async function compare(input: string, queries: Recorded, expected: Recorded): Promise<string[]> {
  const serving = await serveCatalog({
    source: directorySource(input),
    name: 'catalog',
    grpc: { host: '127.0.0.1', port: 0 },
    now: new Date(0),
  });
  if (serving.kind === 'refused') {
    const rules = serving.findings.map(({ rule }) => rule);
    if (expected.serveError && saysWhy(expected.serveError, rules)) return [];
    return [`refused for ${rules.join(', ')}, recorded: ${expected.serveError ?? 'served'}`];
  }
  const api = registryApi(serving.grpc ?? 0);
  try {
    if (expected.serveError) return [`served, recorded: ${expected.serveError}`];
    const differences: string[] = [];
    for (const [i, { rpc, request }] of queries.entries()) {
      const ours = text(await api.ask(rpc, request));
      const recorded = expected.answers[i];
      const possible = recorded.oneOf?.map((answer: unknown) => ({ answer })) ?? [answerOf(recorded)];
      if (possible.map(text).includes(ours)) continue;
      differences.push(
        `${rpc} ${JSON.stringify(request)}: ${ours}, recorded: ${possible.map(text).join(' or ')}`,
      );
    }
    return differences;
  } finally {
    api.close();
    await serving.close();
  }
}

function answerOf({ rpc: _rpc, request: _request, ...answer }: Recorded): Answer {
  return answer;
}

/** An answer without what recordings leave out, keys and streams in an order of their own. */
function text(answer: Answer): string {
  const plain = 'stream' in answer ? { stream: answer.stream.map(sorted).sort() } : answer;
  return sorted(plain);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (key, inner) => {
    if (key === 'csvJson' || key === 'object') return undefined;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const kept = Object.entries(inner).filter(
      ([, member]) => member !== '' && member !== null && !isEmpty(member),
    );
    return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
