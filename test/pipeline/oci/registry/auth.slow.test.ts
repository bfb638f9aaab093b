import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { parseChallenges } from '../../../../pipeline/oci/registry/auth.ts';
import { parseManifest } from '../../../../pipeline/oci/registry/image.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import type { Credential, CredentialSource } from '../../../../pipeline/ports.ts';
import { type Respond, reply, startHost, testClient } from '../../../fakes/host.ts';
import { noise, sampleImage, source } from '../../../fakes/image.ts';
import { registry, tokensEndAfter } from '../../../fakes/registry.ts';

const always = (credential: Credential): CredentialSource => ({ credential: async () => credential });
const account = always({ kind: 'basic', username: 'u', password: 'p' });
const accounts = { u: 'p' };

describe('a registry with passwords', () => {
  test('gets them after it asked, not before', async () => {
    const { host, seen } = await registry({ access: { kind: 'basic', accounts } });
    const client = testClient([host], { credentials: account });
    await pushImage(client, parseReference(`${host}/a:v1`), { image: sampleImage() });
    expect(seen.filter(({ status }) => status === 401).map(({ url }) => url)).toEqual(['/v2/']);
  });

  test('wrong or missing ones are denied, and not tried again', async () => {
    const { host, seen } = await registry({ access: { kind: 'basic', accounts } });
    const wrong = always({ kind: 'basic', username: 'u', password: 'no' });
    const client = testClient([host], { credentials: wrong });
    await expect(client.resolve(parseReference(`${host}/a:v1`))).rejects.toMatchObject({ code: 'denied' });
    expect(seen.length).toBeLessThan(5);
    await expect(testClient([host]).resolve(parseReference(`${host}/a:v1`))).rejects.toMatchObject({
      code: 'denied',
    });
  });
});

test('63: what a registry repeats of a password is not said', async () => {
  const credentials = always({ kind: 'basic', username: 'u', password: 'very secret' });
  const { host } = await startHost(({ headers }, response) => {
    const { authorization } = headers;
    if (authorization === undefined)
      return reply(response, 401, '', { 'www-authenticate': 'Basic realm="x"' });
    const message = `bad header ${authorization}: u, very secret`;
    return reply(response, 403, JSON.stringify({ errors: [{ code: 'DENIED', message }] }));
  });
  const asked = testClient([host], { credentials }).getManifest(parseReference(`${host}/a:v1`));
  await expect(asked).rejects.toThrow('DENIED bad header Basic ***: u, ***');
});

/** A text as escapes of JSON. */
function byNumber(text: string): string {
  return [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

/** Where a registry may repeat what it was sent. */
const PLACES: Readonly<Record<string, (response: ServerResponse, sent: string) => void>> = {
  'the media type of an image': (response, sent) =>
    reply(response, 200, JSON.stringify({ schemaVersion: 2, mediaType: `x/${sent}` }), {
      'content-type': `x/${sent}`,
    }),
  'a message, escaped as in a URL': (response, sent) =>
    reply(response, 400, JSON.stringify({ errors: [{ code: 'X', message: encodeURIComponent(sent) }] })),
  'a message, escaped twice as in JSON': (response, sent) =>
    reply(response, 400, JSON.stringify({ errors: [{ code: 'X', message: JSON.stringify(sent) }] })),
  'a message, as characters of JSON by number': (response, sent) =>
    reply(response, 400, `{"errors":[{"code":"X","message":"${byNumber(byNumber(sent))}"}]}`),
  'a message, in Base64': (response, sent) => {
    const message = Buffer.from(sent).toString('base64');
    reply(response, 400, JSON.stringify({ errors: [{ code: 'X', message }] }));
  },
  'a message that is cut off': (response, sent) =>
    reply(response, 400, JSON.stringify({ errors: [{ code: 'X', message: `${'x'.repeat(283)} ${sent}` }] })),
  'the name of a host': (response, sent) => reply(response, 302, '', { location: `http://${sent}.example/` }),
};

test.each(Object.entries(PLACES))('63: what a registry repeats in %s is not said', async (_, repeat) => {
  const password = 'pass.word-"1234567890';
  const credentials = always({ kind: 'basic', username: 'u', password });
  const { host } = await startHost(({ headers }, response) =>
    headers.authorization === undefined
      ? reply(response, 401, '', { 'www-authenticate': 'Basic realm="x"' })
      : repeat(response, password),
  );
  const asked = testClient([host], { credentials })
    .getManifest(parseReference(`${host}/a:v1`))
    .then((manifest) => manifest && parseManifest(manifest));
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PipelineError);
  const said = JSON.stringify([error, (error as Error).message]);
  for (const form of [password, Buffer.from(password).toString('base64'), byNumber(password)])
    expect(said).not.toContain(form.slice(0, 8));
});

test('63: what another host repeats after a redirect, or a token service of a refresh token, is not said', async () => {
  const other = await startHost(({ url }, response) =>
    reply(response, 400, JSON.stringify({ errors: [{ code: 'X', message: url }] })),
  );
  const { host } = await startHost(({ headers: { authorization }, url, body }, response) => {
    if (url === '/token') return reply(response, 400, JSON.stringify({ message: `no: ${body.toString()}` }));
    if (authorization === undefined)
      return reply(response, 401, '', { 'www-authenticate': `Bearer realm="http://${host}/token"` });
    return reply(response, 307, '', { location: `http://${other.host}/?${authorization.slice(7)}` });
  });
  for (const kind of ['bearer', 'identity'] as const) {
    const client = testClient([host, other.host], {
      credentials: always({ kind, token: `${kind}/that=is+secret` }),
    });
    const error = await client.getManifest(parseReference(`${host}/a:v1`)).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain('***');
    expect((error as Error).message).not.toMatch(/that/);
  }
});

test('63: a token that everybody gets cuts no words out of messages', async () => {
  const { host } = await startHost(({ headers: { authorization }, url }, response) => {
    if (url?.startsWith('/token')) return reply(response, 200, JSON.stringify({ token: 'stranded' }));
    return authorization === undefined
      ? reply(response, 401, '', { 'www-authenticate': `Bearer realm="http://${host}/token"` })
      : reply(response, 400, JSON.stringify({ errors: [{ code: 'X', message: '1.0.0 is stranded' }] }));
  });
  const asked = testClient([host]).getManifest(parseReference(`${host}/a:v1`));
  await expect(asked).rejects.toThrow('1.0.0 is stranded');
});

describe('a registry with tokens', () => {
  test('that names no token service has its answer closed: an open one keeps the program from its end', async () => {
    let open = 0;
    const { host } = await startHost(({ url }, response) => {
      if (url === '/v2/') return reply(response, 200);
      open += 1;
      response.on('close', () => {
        open -= 1;
      });
      response.writeHead(401, { 'www-authenticate': 'Bearer service="x"' });
      // More than the buffers of a connection hold.
      response.end(Buffer.alloc(16 << 20));
    });
    const asked = testClient([host]).getManifest(parseReference(`${host}/a:v1`));
    await expect(asked).rejects.toThrow('does not name a valid token service');
    await expect.poll(() => open).toBe(0);
  });

  test('one token serves all that may share it', async () => {
    const { host, seen } = await registry({ access: { kind: 'token', accounts } });
    const client = testClient([host], { credentials: account });
    await pushImage(client, parseReference(`${host}/a:v1`), {
      image: sampleImage({ layers: ['1', '2', '3'] }),
    });
    const tokens = seen.filter(({ url }) => url.startsWith('/token'));
    // One to look what the tag names, one to write.
    expect(tokens.map(({ url }) => new URLSearchParams(url.split('?')[1]).get('scope'))).toEqual([
      'repository:a:pull',
      'repository:a:pull,push',
    ]);
  });

  test('reading is anonymous where there is no credential', async () => {
    const { host } = await registry({ access: { kind: 'token', accounts, anonymousPull: true } });
    const reference = parseReference(`${host}/a:v1`);
    await pushImage(testClient([host], { credentials: account }), reference, { image: sampleImage() });
    const reader = testClient([host]);
    expect(await reader.resolve(reference)).toMatchObject({ digest: sampleImage().root.digest });
    await expect(reader.putBlob(reference, source(Buffer.from('x')))).rejects.toMatchObject({
      code: 'denied',
    });
  });

  test('many repositories share tokens: 20 in each', async () => {
    const { host, seen } = await registry({ access: { kind: 'token', accounts, anonymousPull: true } });
    const writer = testClient([host], { credentials: account });
    const references = Array.from({ length: 100 }, (_, i) => parseReference(`${host}/repo-${i}:v1`));
    await pushImage(writer, references[7] ?? parseReference('x'), { image: sampleImage() });
    const before = seen.length;
    const client = testClient([host]);
    const answers = await Promise.all(references.map((reference) => client.resolve(reference)));
    expect(answers.flatMap((answer, i) => (answer ? [i] : []))).toEqual([7]);
    const tokens = seen.slice(before).filter(({ url }) => url.startsWith('/token'));
    expect(tokens.map(({ url }) => new URLSearchParams(url.split('?')[1]).getAll('scope').length)).toEqual([
      20, 20, 20, 20, 20,
    ]);
  });

  test('a service that dislikes scopes together gets them one by one', async () => {
    const real = await registry({ access: { kind: 'token', accounts, anonymousPull: true } });
    const auth = await startHost((request, response) => {
      const scopes = new URL(request.url, 'http://x').searchParams.getAll('scope');
      if (scopes.length > 1) return reply(response, 400, 'one at a time');
      reply(response, 200, JSON.stringify({ token: `good-${scopes[0]}` }));
    });
    const front = await startHost((request, response) => {
      const name = request.url.split('/')[2];
      const challenge = `Bearer realm="${auth.url}/token",service="x"`;
      if (request.headers.authorization !== `Bearer good-repository:${name}:pull`) {
        return reply(response, 401, '', { 'www-authenticate': challenge });
      }
      reply(response, 404);
    });
    const client = testClient([front.host, auth.host, real.host]);
    const references = ['a', 'b', 'c'].map((name) => parseReference(`${front.host}/${name}:v1`));
    expect(await Promise.all(references.map((one) => client.resolve(one)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(auth.asked).toHaveLength(4);
  });

  test('a token that names several repositories and serves only the first is replaced', async () => {
    const auth = await startHost((request, response) => {
      const scopes = new URL(request.url, 'http://x').searchParams.getAll('scope');
      reply(response, 200, JSON.stringify({ access_token: `t-${scopes[0]}`, expires_in: 300 }));
    });
    const front = await startHost((request, response) => {
      const name = request.url.split('/')[2];
      if (request.headers.authorization !== `Bearer t-repository:${name}:pull`) {
        return reply(response, 401, '', { 'www-authenticate': `Bearer realm="${auth.url}/token"` });
      }
      reply(response, 404);
    });
    const client = testClient([front.host, auth.host]);
    const references = ['a', 'b', 'c'].map((name) => parseReference(`${front.host}/${name}:v1`));
    expect(await Promise.all(references.map((one) => client.resolve(one)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(auth.asked.length).toBeLessThanOrEqual(3);
  });

  test('an end of life in the middle of an upload is survived', async () => {
    const { host, seen } = await registry({ access: { kind: 'token', accounts, now: tokensEndAfter(2) } });
    const client = testClient([host], { credentials: account, chunk: 100_000 });
    const upload = client.putBlob({ registry: host, repository: 'a' }, source(noise(500_000)));
    expect(await upload).toBe('uploaded');
    expect(seen.filter(({ url }) => url.startsWith('/token')).length).toBeGreaterThan(2);
  });

  test('an identity token is exchanged by POST', async () => {
    const auth = await startHost((request, response) => {
      const form = new URLSearchParams(request.body.toString());
      const good = request.method === 'POST' && form.get('refresh_token') === 'secret+/=';
      reply(response, good ? 200 : 401, JSON.stringify({ access_token: 'fresh' }));
    });
    const front = await startHost(guarded(`Bearer realm="${auth.url}/t",service="svc"`, 'Bearer fresh'));
    const client = testClient([front.host, auth.host], {
      credentials: always({ kind: 'identity', token: 'secret+/=' }),
    });
    expect(await client.resolve(parseReference(`${front.host}/a:v1`))).toBeUndefined();
    const form = new URLSearchParams(auth.asked[0]?.body.toString());
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: 'refresh_token',
      scope: 'repository:a:pull',
      service: 'svc',
    });
  });

  test.each([[307], [308]])(
    'an identity token does not follow a redirect (%i) to another host',
    async (status) => {
      const other = await startHost((_request, response) =>
        reply(response, 200, JSON.stringify({ access_token: 'fresh' })),
      );
      const auth = await startHost((request, response) => {
        if (request.url === '/t') return reply(response, status, '', { location: '/moved' });
        reply(response, status, '', { location: `${other.url}/t` });
      });
      const front = await startHost(guarded(`Bearer realm="${auth.url}/t"`, 'Bearer fresh'));
      const client = testClient([front.host, auth.host, other.host], {
        credentials: always({ kind: 'identity', token: 'secret' }),
      });
      await expect(client.resolve(parseReference(`${front.host}/a:v1`))).rejects.toMatchObject({
        code: 'bad-answer',
        message: `${auth.host} redirects the token request to ${other.host}, but the secret in its body is only for ${auth.host}`,
        hint: expect.stringContaining(other.host),
      });
      expect(auth.asked.map(({ url }) => url)).toEqual(['/t', '/moved']);
      expect(other.asked).toEqual([]);
    },
  );

  test('a bearer token of the authfile is sent as it is', async () => {
    const front = await startHost(guarded('Bearer realm="https://nowhere.invalid/"', 'Bearer ready'));
    const client = testClient([front.host], { credentials: always({ kind: 'bearer', token: 'ready' }) });
    expect(await client.resolve(parseReference(`${front.host}/a:v1`))).toBeUndefined();
  });

  test.each([
    ['no JSON', 'oops'],
    ['no token', '{}'],
    ['a token that would split the header', JSON.stringify({ token: 'a\r\nx: y' })],
    ['a token that is not a text', JSON.stringify({ token: { a: 1 } })],
  ])('%s is a bad answer', async (_, body) => {
    const auth = await startHost((_request, response) => reply(response, 200, body));
    const front = await startHost(guarded(`Bearer realm="${auth.url}/t"`, 'never'));
    const client = testClient([front.host, auth.host]);
    const looking = client.resolve(parseReference(`${front.host}/a:v1`));
    await expect(looking).rejects.toMatchObject({ code: 'bad-answer' });
  });

  test.each([
    ['Bearer realm="not a url"', 'bad-answer'],
    ['Bearer realm="https://user:pass@evil.example/"', 'bad-answer'],
    ['Bearer realm="http://plain.example/t"', 'not-allowed'],
    ['Bearer realm="file:///etc/passwd"', 'not-allowed'],
  ])('the service %s is not asked', async (challenge, code) => {
    const front = await startHost(guarded(challenge, 'never'));
    const looking = testClient([front.host]).resolve(parseReference(`${front.host}/a:v1`));
    await expect(looking).rejects.toMatchObject({ code });
  });

  test('a greeting that is redirected does not bring the credentials to the other host’s service', async () => {
    const auth = await startHost((_request, response) =>
      reply(response, 200, JSON.stringify({ token: 'anonymous' })),
    );
    const other = await startHost(guarded(`Bearer realm="${auth.url}/t"`, 'Bearer anonymous'));
    const front = await startHost(({ url }, response) =>
      reply(response, 307, '', { location: `${other.url}${url}` }),
    );
    const client = testClient([front.host, other.host, auth.host], { credentials: account });
    expect(await client.resolve(parseReference(`${front.host}/a:v1`))).toBeUndefined();
    expect(auth.asked.length).toBeGreaterThan(0);
    const shown = [...auth.asked, ...other.asked].map(
      ({ headers, url }) => `${headers.authorization} ${url}`,
    );
    expect(shown.filter((one) => one.includes('Basic') || one.includes('account='))).toEqual([]);
  });

  test('a registry may ask for other actions in the same repository, not for another repository', async () => {
    const auth = await startHost((request, response) =>
      reply(response, 200, JSON.stringify({ token: `x${auth.asked.length}${request.method}` })),
    );
    const asking = (scope: string) =>
      startHost((_request, response) => {
        reply(response, 401, '', { 'www-authenticate': `Bearer realm="${auth.url}/t",scope="${scope}"` });
      });
    const scopesFor = async (scope: string) => {
      const front = await asking(scope);
      const before = auth.asked.length;
      const client = testClient([front.host, auth.host]);
      await expect(client.resolve(parseReference(`${front.host}/a:v1`))).rejects.toMatchObject({
        code: 'denied',
      });
      return new Set(
        auth.asked.slice(before).flatMap(({ url }) => new URL(url, 'http://x').searchParams.getAll('scope')),
      );
    };
    expect(await scopesFor('repository:a:*')).toEqual(new Set(['repository:a:pull', 'repository:a:*']));
    expect(await scopesFor('repository:secret:pull')).toEqual(new Set(['repository:a:pull']));
  });
});

/** A host that answers 404 to those who show the right header. */
function guarded(challenge: string, header: string): Respond {
  return (request, response) => {
    if (request.headers.authorization === header) reply(response, 404);
    else reply(response, 401, '', { 'www-authenticate': challenge });
  };
}

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

test.each([
  ['Basic realm="x"', [['basic', { realm: 'x' }]]],
  [
    'Bearer realm="https://auth/token",service="reg",scope="repository:a/b:pull,push"',
    [['bearer', { realm: 'https://auth/token', service: 'reg', scope: 'repository:a/b:pull,push' }]],
  ],
  ['bearer REALM=plain', [['bearer', { realm: 'plain' }]]],
  ['Bearer realm = "a" , service = "b"', [['bearer', { realm: 'a', service: 'b' }]]],
  [
    'Basic realm="a", Bearer realm="b"',
    [
      ['basic', { realm: 'a' }],
      ['bearer', { realm: 'b' }],
    ],
  ],
  [
    'Negotiate, Basic realm="a"',
    [
      ['negotiate', {}],
      ['basic', { realm: 'a' }],
    ],
  ],
  [
    'Negotiate YWJj==, Bearer realm="b"',
    [
      ['negotiate', {}],
      ['bearer', { realm: 'b' }],
    ],
  ],
  ['Bearer realm="a \\"quoted\\" \\\\ text, x=y"', [['bearer', { realm: 'a "quoted" \\ text, x=y' }]]],
  ['Bearer', [['bearer', {}]]],
  [',, ,Basic realm="a"', [['basic', { realm: 'a' }]]],
  ['', []],
  ['realm="orphan"', []],
  ['Bearer realm="unterminated', [['bearer', {}]]],
])('%s', (header, expected) => expect(read(header)).toEqual(expected));

test('any text is read, and in time that grows with its length', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseChallenges(text)));
  for (const part of ['"\\', 'a=', ' ', ',', 'a ', 'a="b",'])
    parseChallenges(`Bearer ${part.repeat(50_000)}`);
});
