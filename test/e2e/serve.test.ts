import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { started } from '../fakes/terminal.ts';
import { isOnPath, run } from '../fakes/tools.ts';

describe.skipIf(!isOnPath('grpcurl'))('as grpcurl sees it', () => {
  test('services, packages, a channel’s head, health: nothing but reflection tells it how', async () => {
    const root = folder();
    cpSync('test/catalogs/sample/catalogs/v4.20', root, { recursive: true });
    const note = { schema: 'org.note', package: 'harbour-operator', versions: [{ name: '1.2', lts: true }] };
    writeFileSync(join(root, 'note.json'), JSON.stringify(note));
    const running = await started('.', 'serve', root, ...['--listen', '127.0.0.1:0', '--http', 'off']);
    const [, port = ''] = /gRPC {2}127\.0\.0\.1:(\d+)/.exec(running.out()) ?? [];
    const ask = async (...words: string[]): Promise<string> => {
      const data = words.slice(1);
      return (await run('grpcurl', '-plaintext', ...data, `localhost:${port}`, words[0] ?? '')).toString();
    };
    expect((await ask('list')).trim().split('\n')).toEqual([
      'api.ExperimentalRegistry',
      'api.Registry',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    for (const version of ['v1', 'v1alpha']) {
      const service = `grpc.reflection.${version}.ServerReflection`;
      const described = await run('grpcurl', '-plaintext', `localhost:${port}`, 'describe', service);
      expect(described.toString()).toContain('rpc ServerReflectionInfo');
    }
    const custom = 'api.ExperimentalRegistry/ExperimentalListPackageCustomSchemas';
    const acknowledged = ['-H', 'x-acknowledge-experimental: true'];
    expect(await ask(custom, ...acknowledged, '-d', '{"schema":"none"}')).toBe('');
    const wanted = JSON.stringify({ schema: note.schema, packageName: note.package });
    expect(JSON.parse(await ask(custom, ...acknowledged, '-d', wanted))).toEqual(note);
    await expect(ask(custom, ...acknowledged)).rejects.toThrow('schema is required');
    expect(await ask('api.Registry/ListPackages')).toContain('"name": "ferry-operator"');
    const name = JSON.stringify({ name: 'harbour-operator' });
    expect(JSON.parse(await ask('api.Registry/GetPackage', '-d', name)).defaultChannelName).toBe('stable');
    const channel = JSON.stringify({ pkgName: 'harbour-operator', channelName: 'stable' });
    const head = JSON.parse(await ask('api.Registry/GetBundleForChannel', '-d', channel));
    expect(head.csvName).toBe('harbour-operator.v1.2.0');
    expect(JSON.parse(await ask('grpc.health.v1.Health/Check'))).toEqual({ status: 'SERVING' });
    await expect(ask('api.Registry/GetPackage', '-d', '{"name":"nope"}')).rejects.toThrow(
      'package "nope" not found',
    );
  });
});
