/** Limits of connections, for each address and in all. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  type ConnectionLimits,
  createRoom,
  type HeldBytes,
  limitConnections,
  networkOf,
  oneAtATime,
} from '../../pipeline/server-limits.ts';

/** A server that says hello, with a function that connects to it from an address. */
async function serverWith(limits: ConnectionLimits): Promise<(from: string) => Promise<Socket>> {
  const server = createServer();
  limitConnections(server, limits);
  server.on('connection', (socket) => socket.on('error', () => {}).write('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (localAddress) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return socket;
  };
}

const [ATTACKER, OTHER, STRANGER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];

test('attack 51: an address that holds all its connections keeps no other one out', async () => {
  const open = await serverWith({ total: 10, perAddress: 3, beyond: 'refuse' });
  const held = await Promise.all([1, 2, 3].map(() => open(ATTACKER)));
  expect((await open(ATTACKER)).destroyed).toBe(true);
  expect((await open(OTHER)).destroyed).toBe(false);
  const [first] = held;
  first?.destroy();
  await expect.poll(async () => (await open(ATTACKER)).destroyed).toBe(false);
});

test('attack 51: beyond the limit of all, the oldest connection of the address with the most makes room', async () => {
  const open = await serverWith({ total: 4, perAddress: 3, beyond: 'replace' });
  const [oldest, ...held] = [await open(ATTACKER), await open(ATTACKER), await open(ATTACKER)];
  const other = await open(OTHER);
  expect((await open(STRANGER)).destroyed).toBe(false);
  await expect.poll(() => oldest?.destroyed).toBe(true);
  expect([...held, other].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
});

test('attack 51: a request that never comes makes room for another one of its address, one that is answered does not', async () => {
  const server = createHttpServer((request, response) => {
    response.write('begun');
    if (request.url === '/short') response.end();
  });
  limitConnections(server, { total: 10, perAddress: 3, beyond: 'replace-waiting' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const send = async (text: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKER });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  const ask = async (path: string): Promise<Socket> => {
    const socket = await send(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return socket;
  };
  const long = await ask('/long');
  const halves = [await send('GET / HTTP/1.1\r\nx-a: '), await send('GET / HTTP/1.1\r\nx-a: ')];
  const others = [await ask('/long'), await ask('/long')];
  await expect.poll(() => halves.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  expect([long, ...others].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  const refused = await ask('/long');
  await expect.poll(() => refused.destroyed).toBe(true);
  others[0]?.destroy();
  await expect.poll(async () => (await ask('/short')).destroyed).toBe(false);
  expect(long.destroyed).toBe(false);
});

/** Sends requests at once over one connection to a server that answers with so many bytes. */
async function pipelined(count: number, bytes: number): Promise<{ socket: Socket; started: () => number }> {
  let started = 0;
  const server = createHttpServer(
    oneAtATime((request, response) => {
      started++;
      response.end(`${request.url} ${'x'.repeat(bytes)}`);
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(Array.from({ length: count }, (_, i) => `GET /q${i} HTTP/1.1\r\nhost: x\r\n\r\n`).join(''));
  await expect.poll(() => started).toBeGreaterThan(0);
  return { socket, started: () => started };
}

test('attack 52: who sends many requests and reads nothing gets the answer to one', async () => {
  const { started } = await pipelined(50, 32 * 1024 * 1024);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(started()).toBe(1);
});

test('attack 52: who reads gets the answer to each, in their order', async () => {
  const { socket } = await pipelined(50, 10);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.resume();
  const expected = Array.from({ length: 50 }, (_, i) => `/q${i} `);
  await expect.poll(() => text.match(/\/q\d+ /g)).toEqual(expected);
});

test('attack 52: a connection on which far too many requests wait is ended', async () => {
  const { socket } = await pipelined(500, 32 * 1024 * 1024);
  socket.resume();
  await expect.poll(() => socket.destroyed).toBe(true);
});

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%j counts as %j', (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});

test('102: without room the largest that are not complete are ended, and only those', () => {
  const room = createRoom(10);
  const ended: string[] = [];
  const held = (name: string): HeldBytes => ({ bytes: 0, end: () => ended.push(name) });
  const [whole, large, small] = [held('whole'), held('large'), held('small')];
  const [larger, late] = [held('larger'), held('late')];
  expect(room.hold(whole, 4)).toBe(true);
  room.keep(whole);
  expect([room.hold(large, 3), room.hold(small, 2), room.hold(late, 2)]).toEqual([true, true, true]);
  expect(ended).toEqual(['large']);
  expect(room.hold(larger, 5)).toBe(false);
  room.free(larger);
  room.free(whole);
  expect(room.hold(late, 8)).toBe(true);
  expect(ended).toEqual(['large']);
});

test.each([
  ['one host', 'Host: localhost', 200],
  ['two hosts', 'Host: localhost\r\nHost: other.example', 400],
  ['two equal hosts', 'Host: localhost\r\nHost: localhost', 400],
  ['two accounts', 'Host: localhost\r\nAuthorization: Basic YTph\r\nAuthorization: Basic YjpiCg==', 400],
  ['a list in two lines', 'Host: localhost\r\nAccept: a/b\r\nAccept: c/d\r\nCookie: a=1\r\nCookie: b=2', 200],
])('147: a request with %s', async (_, head, status) => {
  const server = createHttpServer(oneAtATime((__, response) => void response.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(`GET / HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  expect(String(answer).split(' ')[1]).toBe(`${status}`);
});
