import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '../../../../pipeline/catalogs/serve/http.ts';

const CATALOG = { name: 'c', blobs: [], version: '1', since: new Date(0) };

async function statusUnder(port: number, host: string): Promise<number | undefined> {
  const asked = get(`http://127.0.0.1:${port}/catalogs/c/api/v1/all`, { headers: { host } });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test('92: at a loopback address, a page in a browser cannot read a catalog under a name of its own', async () => {
  const local = await serveHttp(CATALOG, { host: '127.0.0.1', port: 0 });
  const open = await serveHttp(CATALOG, { host: '0.0.0.0', port: 0 });
  onTestFinished(() => Promise.all([local.close(), open.close()]).then(() => {}));
  expect(await statusUnder(local.port, 'evil.example')).toBe(403);
  expect(await statusUnder(local.port, `localhost:${local.port}`)).toBe(200);
  expect(await statusUnder(local.port, '127.0.0.1')).toBe(200);
  expect(await statusUnder(open.port, 'catalogs.example')).toBe(200);
});

test('51: requests that never end keep nobody out, not even behind the same address', async () => {
  const { port, close } = await serveHttp(CATALOG, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => close());
  for (let i = 0; i < 150; i++) {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-a: ');
  }
  expect(await statusUnder(port, 'localhost')).toBe(200);
});
