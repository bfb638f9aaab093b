/** Lists of a forge, page by page. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openForgeClient } from '../../../pipeline/forge/http.ts';
import { whole } from '../../../pipeline/forge/reply.ts';

let close: () => void;
afterEach(() => close());

/** A client of a forge that gives these answers, one after the other. */
async function clientOf(answers: readonly string[]) {
  let asked = 0;
  const server = createServer((_, response) => void response.end(answers[asked++] ?? '[]'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => server.close();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return openForgeClient({ name: 'Forge', url, headers: async () => ({}), pageSize: 'limit' });
}

test('a list ends with an empty page', async () => {
  expect(await (await clientOf(['[1, 2]', '[3]'])).pages('/reviews', whole)).toEqual([1, 2, 3]);
});

test.each(['<html>Try again later</html>', '', '{}', 'null'])(
  'a page that is no list ends nothing: %j',
  async (page) => {
    const { pages } = await clientOf(['[1, 2]', page]);
    await expect(pages('/reviews', whole)).rejects.toMatchObject({ code: 'bad-answer', retryable: true });
  },
);

test('a reply that ends in the middle is no reply', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('[1');
    setImmediate(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => server.close();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { pages } = openForgeClient({ name: 'Forge', url, headers: async () => ({}), pageSize: 'limit' });
  await expect(pages('/reviews', whole)).rejects.toMatchObject({ code: 'unreachable', retryable: true });
});
