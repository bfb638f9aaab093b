import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { createConnection } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  GrpcFailure,
  grpcFrame,
  KeptFrames,
  MessageReader,
  Status,
} from '../../../../pipeline/catalogs/serve/grpc-messages.ts';
import {
  GRPC_LIMITS,
  type GrpcLimits,
  type GrpcMethod,
  listenGrpc,
} from '../../../../pipeline/catalogs/serve/grpc-server.ts';

const MAX = 4 << 20;

/** Gives back what it is sent. */
const echo: GrpcMethod = { answer: (message) => [grpcFrame(message)] };

async function clientOf(method: GrpcMethod): Promise<ClientHttp2Session> {
  return connected(await portOf(method));
}

async function portOf(method: GrpcMethod, limits: Partial<GrpcLimits> = {}): Promise<number> {
  const methods = new Map([['/test.Echo/Say', method]]);
  const address = { host: '127.0.0.1', port: 0 };
  const listening = await listenGrpc(methods, address, { ...GRPC_LIMITS, ...limits });
  onTestFinished(() => listening.close());
  return listening.port;
}

function connected(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  return session;
}

/** A connection that sends these bytes and never answers, with a promise of its end. */
function mute(port: number, bytes: Uint8Array): Promise<unknown> {
  const socket = createConnection({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {}).resume();
  socket.write(bytes);
  return once(socket, 'close');
}

/** What a client of HTTP/2 begins with: the preface, and settings that say nothing. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');

interface Answer {
  readonly status: unknown;
  readonly message: unknown;
  readonly http: unknown;
  readonly body: string;
}

function call(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    ':path': '/test.Echo/Say',
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    ...headers,
  });
}

function answerTo(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const heads: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    const note = (more: IncomingHttpHeaders): void => void Object.assign(heads, more);
    stream.on('response', note).on('trailers', note);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
    stream.on('close', () =>
      resolve({
        status: heads['grpc-status'],
        message: heads['grpc-message'],
        http: heads[':status'],
        body: Buffer.concat(chunks).toString('latin1'),
      }),
    );
  });
}

async function ask(
  session: ClientHttp2Session,
  body: Uint8Array,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  const stream = call(session, headers);
  stream.end(body);
  return await answerTo(stream);
}

const text = (body: string): Buffer => grpcFrame(Buffer.from(body));

test('an answer is its frames and a status; a message may come in any pieces', async () => {
  const session = await clientOf(echo);
  const whole = await ask(session, text('a'.repeat(100_000)));
  expect(whole).toMatchObject({ status: '0', http: 200 });
  expect(whole.body).toBe(text('a'.repeat(100_000)).toString('latin1'));
  const stream = call(session);
  const answer = answerTo(stream);
  for (const byte of text('pieces')) {
    stream.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  stream.end();
  expect((await answer).body).toBe(text('pieces').toString('latin1'));
});

test('a call that takes many messages answers each, in their order', async () => {
  const session = await clientOf({ ...echo, takesMany: true });
  const all = Buffer.concat([text('one'), text(''), text('three')]);
  expect(await ask(session, all)).toMatchObject({ status: '0', body: all.toString('latin1') });
  expect(await ask(session, Buffer.alloc(0))).toMatchObject({ status: '0', body: '' });
});

test.each([
  ['another path', { ':path': '/test.Echo/Shout' }, '12', 'unknown method Shout for service test.Echo'],
  ['another service', { ':path': '/other/Say' }, '12', 'unknown service other'],
  ['no time to live', { 'grpc-timeout': 'soon' }, '13', 'malformed grpc-timeout'],
])('%s ends with its status', async (_, headers, status, message) => {
  expect(await ask(await clientOf(echo), text('x'), headers)).toMatchObject({ status, message, body: '' });
});

test.each([
  [{ ':method': 'GET' }, 405],
  [{ 'content-type': 'application/json' }, 415],
  [{ 'content-type': 'application/grpcx' }, 415],
])('%j is not gRPC', async (headers, http) => {
  const stream = call(await clientOf(echo), headers);
  expect(await answerTo(stream)).toMatchObject({ http, status: undefined });
});

test('messages up to 4 MiB are taken, longer ones refused before they are read', async () => {
  const session = await clientOf({ answer: (message) => [text(String(message.length))] });
  expect((await ask(session, grpcFrame(Buffer.alloc(MAX)))).body).toContain(String(MAX));
  const stream = call(session);
  const head = grpcFrame(Buffer.alloc(0));
  head.writeUInt32BE(MAX + 1, 1);
  stream.write(head);
  expect(await answerTo(stream)).toMatchObject({ status: '8' });
});

test('102: messages that never end make room for those of others', async () => {
  const method: GrpcMethod = { answer: (message) => [text(String(message.length))] };
  const port = await portOf(method, { unfinished: 10_000 });
  const part = grpcFrame(Buffer.alloc(4000)).subarray(0, 3000);
  const streams = Array.from({ length: 5 }, () => call(connected(port)));
  for (const stream of streams) stream.on('error', () => {}).write(part);
  const calm = constants.NGHTTP2_ENHANCE_YOUR_CALM;
  const ended = () => streams.map(({ rstCode }) => rstCode).filter((code) => code === calm);
  await expect.poll(ended).toEqual([calm, calm]);
  expect((await ask(connected(port), grpcFrame(Buffer.alloc(2000)))).body).toContain('2000');
  expect(ended()).toEqual([calm, calm]);
});

test('many messages that come at once are not copied for each of them', () => {
  const copies = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => copies.mockRestore());
  const reader = new MessageReader('identity');
  reader.add(Buffer.alloc(5 * 1000));
  let count = 0;
  while (reader.next()) count++;
  expect(count).toBe(1000);
  expect(copies).not.toHaveBeenCalled();
});

test('compressed messages are read as far as their limit', async () => {
  const session = await clientOf(echo);
  const compressed = (body: Buffer): Buffer => {
    const framed = grpcFrame(gzipSync(body));
    framed[0] = 1;
    return framed;
  };
  const gzip = { 'grpc-encoding': 'gzip' };
  expect((await ask(session, compressed(Buffer.from('hello')), gzip)).body).toContain('hello');
  expect(await ask(session, compressed(Buffer.alloc(MAX + 1)), gzip)).toMatchObject({ status: '8' });
  const unknown = { 'grpc-encoding': 'constructor' };
  expect(await ask(session, compressed(Buffer.from('hello')), unknown)).toMatchObject({ status: '12' });
  const wrong = Buffer.concat([Buffer.from([1, 0, 0, 0, 2]), Buffer.from('no')]);
  expect(await ask(session, wrong, gzip)).toMatchObject({ status: '13' });
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['half a prefix', Buffer.alloc(3)],
  ['half a message', text('halves').subarray(0, 8)],
])('a request with %s fails', async (_, body) => {
  expect(await ask(await clientOf(echo), body)).toMatchObject({ status: '13' });
});

test('what a method throws is the status: its own, or that of a defect without its text', async () => {
  const failing = (error: Error): Promise<ClientHttp2Session> =>
    clientOf({
      *answer() {
        yield text('first');
        throw error;
      },
    });
  const known = await failing(new GrpcFailure(Status.unknown, 'package "é%\n" not found'));
  expect(await ask(known, text(''))).toMatchObject({
    status: '2',
    message: 'package "%C3%A9%25%0A" not found',
    body: text('first').toString('latin1'),
  });
  const unknown = await failing(new Error('secret'));
  expect(await ask(unknown, text(''))).toMatchObject({ status: '13', message: 'cannot read the catalog' });
});

/** A method that never ends, and how many of its chunks were taken. */
function endless(): { method: GrpcMethod; taken: () => number } {
  let taken = 0;
  const chunk = grpcFrame(Buffer.alloc(1 << 16));
  const method: GrpcMethod = {
    *answer() {
      for (; ; taken++) yield chunk;
    },
  };
  return { method, taken: () => taken };
}

/** Until nothing more is taken. */
async function settled(taken: () => number): Promise<number> {
  for (let before = -1; before !== taken(); ) {
    before = taken();
    await new Promise((done) => setTimeout(done, 50));
  }
  return taken();
}

test('a reader that does not read is sent no more than fits; one that goes away, nothing', async () => {
  const { method, taken } = endless();
  const session = await clientOf(method);
  const stream = call(session);
  stream.end(text(''));
  await new Promise((done) => stream.once('response', done));
  expect(await settled(taken)).toBeLessThan(10);
  const gone = new Promise((done) => stream.on('close', done));
  stream.on('error', () => {});
  stream.close(8);
  await gone;
  const left = await settled(taken);
  await ask(session, text(''), { ':path': '/test.Echo/None' });
  expect(taken()).toBe(left);
});

test('however many readers of a connection wait, another is answered', async () => {
  const kept = Buffer.alloc(1 << 18);
  const session = await clientOf({ answer: (message) => [message.length > 0 ? grpcFrame(message) : kept] });
  session.setMaxListeners(0);
  const waiting = Array.from({ length: 100 }, () => call(session));
  await Promise.all(
    waiting.map((stream) => new Promise((done) => stream.once('response', done).end(text('')))),
  );
  expect(await ask(session, text('another'))).toMatchObject({ status: '0' });
});

test('a connection has so many calls at once; further ones are refused, and others are answered', async () => {
  const { method } = endless();
  const port = await portOf(method, { calls: 3 });
  const session = connected(port);
  const [settings] = await once(session, 'remoteSettings');
  expect(settings.maxConcurrentStreams).toBe(3);
  const held = Array.from({ length: 3 }, () => call(session));
  await Promise.all(held.map((stream) => once(stream.end(text('')), 'response')));
  let isAnswered = false;
  const further = call(session);
  further
    .on('error', () => {})
    .on('response', () => {
      isAnswered = true;
    });
  further.end(text(''));
  await once(connected(port), 'remoteSettings');
  await new Promise((done) => session.ping(done));
  expect(isAnswered).toBe(false);
  // Node 20's client has kept the further call to itself, and sends it now; that of Node 24 was refused.
  const [one, other] = held.map((stream) => stream.on('error', () => {}));
  for (const stream of [one, other]) {
    const closed = stream && once(stream, 'close');
    stream?.close(8);
    await closed;
  }
  await once(call(session).end(text('')), 'response');
});

test('a server has so many connections at once; further ones are closed', async () => {
  const port = await portOf(echo, { connections: 2 });
  const sessions = [connected(port), connected(port)];
  await Promise.all(sessions.map((session) => once(session, 'remoteSettings')));
  await mute(port, PREFACE);
  for (const session of sessions) expect(await ask(session, text('x'))).toMatchObject({ status: '0' });
  const [first] = sessions;
  const gone = once(first as ClientHttp2Session, 'close');
  first?.close();
  await gone;
  await vi.waitUntil(async () => {
    const again = connected(port).on('error', () => {});
    return Promise.race([
      once(again, 'remoteSettings').then(() => true),
      once(again, 'close').then(() => false),
    ]);
  }, 120_000);
});

test('a connection that answers no ping is ended, as is one that never speaks HTTP/2; others stay', async () => {
  const port = await portOf(echo, { handshake: 200, pingAfter: 20, pingTimeout: 2000 });
  const session = connected(port);
  let pings = 0;
  session.on('ping', () => pings++);
  await Promise.all([mute(port, Buffer.alloc(0)), mute(port, PREFACE)]);
  expect(pings).toBeGreaterThan(1);
  expect(await ask(session, text('there'))).toMatchObject({ status: '0' });
});

test('a call ends when its time is over, whether its answer is read or not', async () => {
  const { method, taken } = endless();
  const session = await clientOf(method);
  const unread = call(session, { 'grpc-timeout': '50m' });
  unread.end(text(''));
  await vi.waitUntil(() => unread.rstCode === 8, 10_000);
  const left = taken();
  const waiting = call(session, { 'grpc-timeout': '50000u' });
  waiting.write(text('').subarray(0, 2));
  expect(await answerTo(waiting)).toMatchObject({ status: '4', message: 'context deadline exceeded' });
  expect(taken()).toBe(left);
});

test('closing lets calls end that are under way, and waits no longer than that', async () => {
  const listening = await listenGrpc(new Map([['/test.Echo/Say', echo]]), { host: '127.0.0.1', port: 0 });
  const session = connect(`http://127.0.0.1:${listening.port}`);
  const stream = call(session);
  stream.write(text('late').subarray(0, 6));
  await new Promise((done) => session.once('connect', () => session.ping(done)));
  const closed = listening.close();
  stream.end(text('late').subarray(6));
  expect((await answerTo(stream)).body).toContain('late');
  await closed;
});

test('frames are made once, as far as they are read, for all who read them', async () => {
  let made = 0;
  const kept = new KeptFrames(function* () {
    for (let i = 0; i < 10; i++) {
      made++;
      yield Buffer.alloc(100_000, i);
    }
  });
  const [first] = kept;
  expect(first).toHaveLength(300_000);
  expect(made).toBe(3);
  const sizes = () => [...kept].reduce((sum, { length }) => sum + length, 0);
  expect([sizes(), sizes(), made]).toEqual([1_000_000, 1_000_000, 10]);
  expect([...new KeptFrames(() => [])]).toEqual([]);
});

test('frames that cannot be made are tried again by the next reader', () => {
  let isBroken = true;
  const kept = new KeptFrames(function* () {
    yield Buffer.alloc(300_000);
    if (isBroken) throw new Error('broken');
    yield Buffer.alloc(1);
  });
  expect(() => [...kept]).toThrow('broken');
  isBroken = false;
  expect([...kept].map(({ length }) => length)).toEqual([300_000, 1]);
});

test('attack 52: a call whose message does not come ends', async () => {
  const session = connected(await portOf(echo, { message: 100 }));
  const stream = call(session);
  stream.write(Buffer.from([0, 0, 0]));
  expect(await answerTo(stream)).toMatchObject({ status: '4', message: 'no message came in time' });
});

test('attack 52: a call that is not read ends', async () => {
  const session = connected(await portOf(endless().method, { stalled: 100 }));
  const stream = call(session);
  stream.on('error', () => {});
  stream.end(grpcFrame(Buffer.from('x')));
  stream.pause();
  await once(stream, 'close');
});

test('attack 51: one address has so many connections', async () => {
  const port = await portOf(echo, { perAddress: 1 });
  const first = connected(port);
  const stream = call(first);
  stream.end(grpcFrame(Buffer.from('x')));
  expect((await answerTo(stream)).status).toBe('0');
  const second = connect(`http://127.0.0.1:${port}`);
  second.on('error', () => {});
  await once(second, 'close');
});
