/** The host's HTTP servers: what strangers may send, and how they stop. */
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Routes,
  type RunningServer,
  type ServerLimits,
  serveRoutes,
} from '../../../functions/kubernetes/server.ts';

async function running(
  routes: Routes,
  limits?: ServerLimits,
): Promise<{ url: string; server: RunningServer; log: string[] }> {
  const log: string[] = [];
  const server = await serveRoutes(0, routes, (line) => log.push(line), limits);
  onTestFinished(() => server.stop(0));
  return { url: `http://127.0.0.1:${server.port}`, server, log };
}

const ECHO: Routes = {
  'POST /echo': async ({ headers, body }) => ({
    status: 202,
    body: `${headers['x-word']} ${Buffer.from(body).toString('hex')}`,
  }),
};

test('a route gets the headers and the very bytes, whatever the query', async () => {
  const { url } = await running(ECHO);
  const headers = { 'X-Word': 'hello' };
  const asked = { method: 'POST', headers, body: new Uint8Array([0, 255]) };
  const answer = await fetch(`${url}/echo?x=1`, asked);
  expect([answer.status, await answer.text()]).toEqual([202, 'hello 00ff']);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test.each([
  ['GET', '/echo'],
  ['POST', '/'],
  ['POST', '/echo/../echo2'],
])('nothing is at %s %s', async (method, path) => {
  const { url } = await running(ECHO);
  expect((await fetch(`${url}${path}`, { method })).status).toBe(404);
});

test('102: bodies that never end make room for those of others beyond 64 MiB, and leave the log as it was', async () => {
  const { server, url, log } = await running(ECHO);
  const piece = Buffer.alloc(5 * 1024 * 1024);
  const sockets = Array.from({ length: 15 }, () => {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).resume();
    socket.write(`POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: ${piece.length + 1}\r\n\r\n`);
    socket.write(piece);
    return socket;
  });
  const ended = () => sockets.filter((socket) => socket.destroyed).length;
  await expect.poll(ended).toBeGreaterThanOrEqual(3);
  for (let i = 0; i < 5; i++) {
    const asked = { method: 'POST', headers: { 'X-Word': 'hello' }, body: piece.subarray(0, 100_000) };
    expect((await fetch(`${url}/echo`, asked)).status).toBe(202);
  }
  expect(ended()).toBeLessThan(6);
  expect(log).toEqual([]);
});

test('95: of many requests at once on a connection one is handled at a time, and far too many end it', async () => {
  let started = 0;
  const waits: Routes = {
    'POST /wait': () => {
      started++;
      return new Promise(() => undefined);
    },
  };
  const { server } = await running(waits);
  const send = (count: number) => {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).resume();
    socket.write('POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'.repeat(count));
    return socket;
  };
  const few = send(50);
  const many = send(500);
  await expect.poll(() => many.destroyed).toBe(true);
  expect([started, few.destroyed]).toEqual([2, false]);
});

test('a body that is too large is refused before it has come', async () => {
  let calls = 0;
  const { server } = await running({
    'POST /echo': async () => {
      calls++;
      return { status: 202, body: '' };
    },
  });
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n');
  socket.write(Buffer.alloc(7 * 1024 * 1024));
  const answer = await new Promise<string>((done) => socket.once('data', (chunk) => done(chunk.toString())));
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(calls).toBe(0);
});

test('a failure is an answer that may be sent again, and only the log says why', async () => {
  const { url, log } = await running({
    'POST /echo': async () => {
      throw new Error('the password is secret');
    },
  });
  const answer = await fetch(`${url}/echo`, { method: 'POST' });
  expect([answer.status, await answer.text()]).toEqual([503, 'try again later\n']);
  expect(log).toEqual(['cannot answer POST /echo: the password is secret']);
});

test('a server that stops answers what it has, and takes nothing more', async () => {
  let release = (): void => undefined;
  let arrived = (): void => undefined;
  const isThere = new Promise<void>((done) => {
    arrived = done;
  });
  const { url, server } = await running({
    'POST /echo': async () => {
      arrived();
      await new Promise<void>((done) => {
        release = done;
      });
      return { status: 202, body: 'done' };
    },
  });
  const asked = fetch(`${url}/echo`, { method: 'POST' });
  await isThere;
  const stopping = server.stop(60_000);
  await expect(fetch(`${url}/echo`, { method: 'POST' })).rejects.toThrow();
  release();
  expect((await asked).status).toBe(202);
  await stopping;
});

const SMALL: ServerLimits = { head: 150, request: 300, connections: 20, perAddress: 10 };

/** A connection that sends some bytes and then nothing, with a promise of its end. */
function silent(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).resume();
  socket.write(text);
  return new Promise((done) => socket.once('close', () => done()));
}

test.each([
  ['body', 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12'],
  ['head', 'POST /echo HTTP/1.1\r\nhost: x\r\n'],
  ['first line', 'POST'],
])('attack 52: a connection whose %s stalls is closed', async (_, text) => {
  const { server } = await running(ECHO, SMALL);
  await silent(server.port, text);
});

test('attack 51: 1,005 slow connections keep no webhook out', async () => {
  const { server, url } = await running(ECHO);
  for (let i = 0; i < 1005; i++) {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).resume();
    await new Promise((done) => socket.once('connect', done));
    socket.write('POST /echo HTTP/1.1\r\n');
  }
  const answer = await fetch(`${url}/echo`, { method: 'POST', headers: { 'X-Word': 'hello' }, body: 'x' });
  expect(answer.status).toBe(202);
});
