import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../../../pipeline/oci/digest.ts';
import { type Asked, reply, startHost, testClient } from '../../../fakes/host.ts';
import { bytesOf, noise, source } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const bytes = noise(300_000);
const blob = { digest: source(bytes).digest, size: bytes.length };
const at = (host: string) => ({ registry: host, repository: 'a' });

/** A registry with one blob, which each request is answered from by a step of the script. */
async function scripted(...steps: ((request: Asked, response: ServerResponse) => void)[]) {
  let next = 0;
  const started = await startHost((request, response) => {
    if (request.url === '/v2/') return reply(response, 200);
    steps[Math.min(next++, steps.length - 1)]?.(request, response);
  });
  return { ...started, client: testClient([started.host]) };
}

const whole = (_: Asked, response: ServerResponse) => reply(response, 200, bytes);
const rest = (request: Asked, response: ServerResponse) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]);
  reply(response, 206, bytes.subarray(from), {
    'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
  });
};
/** Sends so many bytes of the answer and cuts the line. */
const cutAfter =
  (count: number, from = 0) =>
  (_: Asked, response: ServerResponse) => {
    response.writeHead(from === 0 ? 200 : 206, {
      'content-length': bytes.length - from,
      ...(from === 0 ? {} : { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    response.write(bytes.subarray(from, from + count), () => setTimeout(() => response.destroy(), 20));
  };

describe('downloads', () => {
  test('whole', async () => {
    const { client, host, asked } = await scripted(whole);
    expect(digestOf(await bytesOf(client.getBlob(at(host), blob)))).toBe(blob.digest);
    expect(asked.at(-1)?.headers['accept-encoding']).toBe('identity');
  });

  test('nothing is asked before the first read, and a reader may stop', async () => {
    const { client, host, asked } = await scripted(whole);
    const stream = client.getBlob(at(host), blob);
    await new Promise((done) => setTimeout(done, 20));
    expect(asked).toEqual([]);
    for await (const chunk of stream) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
  });

  test('that break after the last byte are complete', async () => {
    const broken = (_: Asked, response: ServerResponse) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      response.write(bytes, () => setTimeout(() => response.destroy(), 20));
    };
    const { client, host, asked } = await scripted(broken, (_, response) => reply(response, 416));
    expect(digestOf(await bytesOf(client.getBlob(at(host), blob)))).toBe(blob.digest);
    expect(asked.slice(1)).toHaveLength(1);
  });

  test('go on where they broke', async () => {
    const { client, host, asked } = await scripted(cutAfter(100_000), cutAfter(50_000, 100_000), rest);
    expect(digestOf(await bytesOf(client.getBlob(at(host), blob)))).toBe(blob.digest);
    expect(asked.slice(1).map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=150000-',
    ]);
  });

  test.each([
    ['the line breaks', (response: ServerResponse) => setTimeout(() => response.destroy(), 50)],
    ['nothing comes any more', () => undefined],
  ])('that are small go on where they were when %s', async (_, stop) => {
    const small = bytes.subarray(0, 30_000);
    const begun = (from: number, to: number) => (__: Asked, response: ServerResponse) => {
      response.writeHead(from === 0 ? 200 : 206, {
        'content-length': small.length - from,
        ...(from > 0 && { 'content-range': `bytes ${from}-${small.length - 1}/${small.length}` }),
      });
      response.write(small.subarray(from, to));
      if (to < small.length) stop(response);
      else response.end();
    };
    const { client, host, asked } = await scripted(begun(0, 10_000), begun(10_000, small.length));
    const wanted = { digest: digestOf(small), size: small.length };
    expect(digestOf(await bytesOf(client.getBlob(at(host), wanted)))).toBe(wanted.digest);
    expect(asked.slice(1).map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=10000-']);
  });

  test('go on although the registry knows no ranges', async () => {
    const { client, host } = await scripted(cutAfter(100_000), whole);
    expect(digestOf(await bytesOf(client.getBlob(at(host), blob)))).toBe(blob.digest);
  });

  test('go on after a 500', async () => {
    const { client, host } = await scripted((_, response) => reply(response, 500), whole);
    expect(digestOf(await bytesOf(client.getBlob(at(host), blob)))).toBe(blob.digest);
  });

  test('go on after a silence', async () => {
    const silent = (_: Asked, response: ServerResponse) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 100_000));
    };
    const { client, host } = await scripted(silent, rest);
    expect(digestOf(await bytesOf(client.getBlob(at(host), blob)))).toBe(blob.digest);
  });

  test('are given up when they never get on', async () => {
    const { client, host, asked } = await scripted(cutAfter(100_000), cutAfter(0, 100_000));
    await expect(bytesOf(client.getBlob(at(host), blob))).rejects.toMatchObject({ code: 'unreachable' });
    expect(asked.length).toBeLessThan(10);
  });

  test.each([
    [
      'other bytes of the same length',
      Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]),
      {},
      'corrupt',
    ],
    ['too few bytes', bytes.subarray(1), {}, 'corrupt'],
    ['too many bytes', Buffer.concat([bytes, bytes]), {}, 'corrupt'],
    [
      'another digest in the header',
      bytes,
      { 'docker-content-digest': source(Buffer.from('x')).digest },
      'corrupt',
    ],
  ])('%s are not taken', async (_, body, headers, code) => {
    const { client, host } = await scripted((_request, response) => reply(response, 200, body, headers));
    await expect(bytesOf(client.getBlob(at(host), blob))).rejects.toMatchObject({ code });
  });

  test('an endless body is cut', async () => {
    const { client, host } = await scripted((_, response) => {
      response.writeHead(200);
      const more = (): void => {
        if (!response.destroyed) response.write(bytes, more);
      };
      more();
    });
    await expect(bytesOf(client.getBlob(at(host), blob))).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('a rest from another place is not taken', async () => {
    const { client, host } = await scripted(cutAfter(100_000), (_, response) =>
      reply(response, 206, bytes.subarray(100_000), { 'content-range': 'bytes 7-200006/300000' }),
    );
    await expect(bytesOf(client.getBlob(at(host), blob))).rejects.toMatchObject({ code: 'bad-answer' });
  });

  test('a blob that is not there is said to be so', async () => {
    const { host } = await registry();
    await expect(bytesOf(testClient([host]).getBlob(at(host), blob))).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  test('a reader that takes its time is not taken for a slow host', async () => {
    const { client, host } = await scripted(whole);
    let size = 0;
    for await (const chunk of client.getBlob(at(host), blob)) {
      if (size === 0) await new Promise((done) => setTimeout(done, 500));
      size += chunk.length;
    }
    expect(size).toBe(bytes.length);
  });
});

describe('whether a blob is there', () => {
  const head = (status: number) => (request: Asked, response: ServerResponse) => {
    response.writeHead(request.method === 'HEAD' ? status : 206, { 'content-length': 1 });
    response.end(request.method === 'HEAD' ? '' : 'x');
  };
  const nothing = (_: Asked, response: ServerResponse) => reply(response, 404);

  test.each([
    ['HEAD says so', head(200), true, 1],
    ['HEAD says no and GET has it', head(404), true, 2],
    ['HEAD is forbidden and GET has it', head(403), true, 2],
    ['neither has it', nothing, false, 2],
  ])('%s', async (_, step, expected, requests) => {
    const { client, host, asked } = await scripted(step);
    expect(await client.hasBlob(at(host), blob.digest)).toBe(expected);
    expect(asked).toHaveLength(1 + requests);
  });

  const part = (size: string) => (request: Asked, response: ServerResponse) => {
    if (request.method === 'HEAD') return reply(response, 200);
    reply(response, 206, Buffer.from('x'), { 'content-range': `bytes 0-0/${size}` });
  };
  test.each([
    ['HEAD says its size', () => whole, 1],
    ['HEAD says no size, and GET does', () => part(`${bytes.length}`), 2],
    ['nobody says its size', () => part('*'), 2],
  ])('a whole blob: %s', async (_, step, requests) => {
    const { client, host, asked } = await scripted(step());
    expect(await client.hasBlob(at(host), blob.digest, blob.size)).toBe(true);
    expect(asked).toHaveLength(1 + requests);
  });

  test.each([
    ['HEAD and GET', (_: Asked, response: ServerResponse) => reply(response, 200, bytes.subarray(0, 10))],
    ['GET', part('10')],
  ])('a blob of another size is broken, as %s say', async (_, step) => {
    const { client, host } = await scripted(step);
    await expect(client.hasBlob(at(host), blob.digest, blob.size)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(`has 10 bytes, expected ${blob.size}`),
    });
  });

  test('no answer is no "no"', async () => {
    const { client, host } = await scripted((_, response) => reply(response, 403));
    await expect(client.hasBlob(at(host), blob.digest)).rejects.toMatchObject({ code: 'denied' });
  });
});
