import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import { answersOf } from '../../../../catalog/opm/serve/answers.ts';
import { serveGrpc } from '../../../../pipeline/catalogs/serve/grpc.ts';
import { listPackages } from '../../../../pipeline/catalogs/serve/registry-client.ts';

test('a stream that waits for its reader many times leaves nothing behind that Node warns of', async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const names = Array.from({ length: 400 }, (_, i) => 'x'.repeat(60_000) + i);
  const nothing = catalogOf({ packages: [], channels: [], bundles: [], deprecations: [], others: [] });
  const answers = { ...answersOf(nothing), listPackages: () => names.map((name) => ({ name })) };
  const listening = await serveGrpc(answers, { host: '127.0.0.1', port: 0 });
  onTestFinished(listening.close);
  expect(await listPackages(listening.port)).toEqual(names);
  expect(warnings).toEqual([]);
});
