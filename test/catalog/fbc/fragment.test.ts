/** Which files of a catalog a Dockerfile is known to have: none where a program of the build may write some. */
import { expect, test } from 'vitest';
import { fragmentIn } from '../../../catalog/fbc/fragment.ts';

const FILES = ['catalog.tar.gz', 'catalog/c.yaml', 'notes.txt', 'other.tar'];
const COPY = 'COPY catalog /configs';
const KNOWN = [{ source: 'catalog/c.yaml', path: '/configs/c.yaml' }];

const filesOf = (...lines: readonly string[]): unknown =>
  fragmentIn('Dockerfile', ['FROM quay.io/operator-framework/opm:v1', COPY, ...lines, ''].join('\n'), {
    files: FILES,
  })?.files;

test.each<readonly string[]>([
  [],
  ['RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]'],
  ['RUN echo hello && opm serve /configs --cache-dir=/tmp/cache --cache-only'],
  ['RUN mkdir -p /configs && chmod 755 /configs'],
  // The lines of a here-document are not instructions.
  ['RUN <<EOF', 'COPY other /etc', 'EOF'],
  ['ADD other.tar /etc/'],
  ['RUN rm -rf /con\\', '  figs/a'],
  ['COPY <<A <<"B" /etc/', 'COPY other /configs', 'A', 'RUN render > /configs/x', 'B'],
  ['RUN <<EOF', 'opm serve /configs --cache-dir=/tmp/cache --cache-only', 'EOF'],
  ['RUN cat <<-EOF > /etc/motd', 'FROM scratch', '\tEOF'],
  ['ENV CACHE=/tmp/cache', 'RUN opm serve /configs --cache-dir=$CACHE --cache-only'],
  ['ARG TOOLS="jq curl"', 'RUN microdnf install -y $TOOLS && rm -rf /var/cache/* /tmp/?'],
  ['RUN ["/bin/sh", "-c", "echo hello > /etc/motd"]'],
  ['WORKDIR /etc', 'RUN cd ssl && rm -rf configs'],
])('the files are known: %j', (...lines) => {
  expect(filesOf(...lines)).toEqual(KNOWN);
});

test.each<readonly string[]>([
  ['COPY --exclude=c.yaml catalog /configs'],
  ['COPY --parents catalog /configs'],
  ['ADD catalog.tar.gz /configs'],
  ['ADD notes.txt /configs/'],
  ['WORKDIR /tmp', 'WORKDIR ../configs', 'RUN rm -rf a'],
  ['RUN rm -rf /con\\', 'figs/a'],
  ['RUN rm -rf /con\\ ', '# a comment', '', 'figs/a'],
  ['RUN opm render x > /configs/c.yaml'],
  ['RUN mkdir -p /configs/x && cp /x /configs/x'],
  ['RUN opm render x > /configs/c.yaml && opm serve /configs --cache-dir=/tmp/cache --cache-only'],
  ['RUN <<EOF', 'opm render x > /configs/c.yaml', 'EOF'],
  ['RUN <<EOF', 'set -e', '# not a comment of the Dockerfile', 'opm render x > /configs/c.yaml', 'EOF'],
  ['COPY <<EOF /configs/c.yaml', 'schema: olm.package', 'EOF'],
  ['ENV D=/configs', 'RUN rm -rf $D/a'],
  ['ENV A=/con B=figs', 'RUN rm -rf $A$B/a'],
  ['ENV D=/con', 'RUN rm -rf "$D"figs/a'],
  // What the program sets counts for it, and what only a build knows may be anything.
  ['ENV D=/etc', 'RUN read D < /x; rm -rf $D/a'],
  ['ARG D', 'RUN rm -rf $D/a'],
  ['RUN rm -rf $(cat /x)'],
  ['ENV HOME=/configs', 'RUN rm -rf ~/a'],
  ['RUN rm -rf /con*/a'],
  ['RUN rm -rf /{configs,etc}/a'],
  ['RUN rm -rf /e*/../configs/a'],
  ['RUN rm -rf configs/a'],
  ['WORKDIR /etc', 'RUN rm -rf ../configs/a'],
  ['WORKDIR /etc', 'RUN cd / && rm -rf configs'],
  ['RUN tar -C / -xf /x configs'],
  ['RUN rm -rf /con""figs /con\\figs'],
  ['RUN rm -rf /etc/..//./configs'],
  ['RUN rm -rf /'],
  ['RUN --mount=type=bind,from=quay.io/x/y,target=/y ["/y/run"]'],
  ['RUN dd if=/x of=//configs/c.yaml'],
  ['SHELL ["/bin/sh", "-c", "cd /configs && eval"]', 'RUN rm -rf a'],
])('184: a program of the build may write files: %j', (...lines) => {
  expect(filesOf(...lines)).toBeUndefined();
});

test('copies of a stage with programs without end are not looked at one by one', () => {
  const stages = `FROM x AS a\nCOPY catalog /src\n${'RUN a\n'.repeat(20_000)}`;
  expect(filesFrom(stages, ...Array<string>(2_000).fill('COPY --from=a /src /configs'))).toBeUndefined();
  expect(filesFrom(stages, 'COPY --from=a /src /configs')).toEqual(KNOWN);
});

/** The files of an image whose stages come before the one that serves. */
const filesFrom = (stages: string, ...lines: readonly string[]): unknown =>
  fragmentIn('Dockerfile', `${stages}\nFROM quay.io/operator-framework/opm:v1\n${lines.join('\n')}\n`, {
    files: FILES,
  })?.files;

test.each([
  ['FROM x AS a\nCOPY catalog /src', 'COPY --from=a /src /configs'],
  ['FROM x AS a\nCOPY catalog /src', 'COPY --from=a src/c.yaml /configs/'],
  ['FROM x AS a\nCOPY catalog /src', 'COPY --from=a /src/c.yaml /configs/c.yaml'],
  ['FROM x AS a\nCOPY catalog /src\nFROM x AS b\nCOPY --from=a /src /work', 'COPY --from=b /work /configs'],
  // Builds take these names for the same.
  ['FROM x AS Files\nCOPY catalog /src', 'COPY --from=files /src /configs'],
  ['FROM x as files\nCOPY catalog /src', 'COPY --from=FILES /src /configs'],
  ['FROM x\nCOPY catalog /src', 'COPY --from=0 /src /configs'],
  // What else a stage has does not matter.
  [
    'FROM x AS a\nCOPY --from=go:1 /bin/go /bin/go\nRUN make > /log\nCOPY catalog /src',
    'COPY --from=a /src /configs',
  ],
  ['FROM x AS a\nCOPY catalog /configs', 'COPY --from=a /bin/* /bin/\nCOPY --from=a /configs /configs'],
])('files come through other stages: %j, %j', (stages, copy) => {
  expect(filesFrom(stages, copy)).toEqual(KNOWN);
});

test.each([
  ['FROM x AS a\nCOPY catalog /src\nRUN opm render y > /src/z.yaml', 'COPY --from=a /src /configs'],
  ['FROM x AS a\nCOPY catalog /src\nWORKDIR /src\nRUN make', 'COPY --from=a /src /configs'],
  ['FROM x AS a\nCOPY catalog /src\nCOPY --from=y /z /src/z', 'COPY --from=a /src /configs'],
  ['FROM x AS a\nCOPY catalog /src', 'COPY --from=a /src/* /configs/'],
  // Docker takes the last stage of a name.
  ['FROM x AS a\nCOPY catalog /src\nFROM x AS A\nRUN make > /src/c.yaml', 'COPY --from=a /src /configs'],
  ['FROM x AS a\nCOPY catalog /src', 'COPY --from=1 /src /configs'],
  ['FROM x AS a\nCOPY catalog /src', 'COPY catalog /configs\nCOPY --from=y / /'],
])('another stage may have files that only a build knows: %j, %j', (stages, copy) => {
  expect(filesFrom(stages, copy)).toBeUndefined();
});

test('the stage that an image is built on is found whatever letters its name has', () => {
  const base = 'FROM quay.io/operator-framework/opm:v1 AS Base\nCOPY catalog /configs';
  const built = (...lines: readonly string[]) =>
    fragmentIn('Dockerfile', [base, ...lines, 'FROM base AS image', ''].join('\n'), { files: FILES });
  expect(built()).toMatchObject({ base: 'quay.io/operator-framework/opm:v1', files: KNOWN });
  expect(built('RUN opm render x > /configs/c.yaml')?.files).toBeUndefined();
});

const dockerfileOf = (...top: readonly string[]): string =>
  [...top, 'FROM quay.io/operator-framework/opm:v1', COPY, ''].join('\n');

test.each([
  ['# syntax=docker/dockerfile:1'],
  ['# Syntax = docker.io/docker/dockerfile-upstream:master-labs', '# escape=`'],
  ['# check=skip=all', '#syntax=docker/dockerfile@sha256:aa'],
  // Behind anything else it is a comment.
  ['# the catalog', '# syntax=quay.io/x/frontend'],
  ['', '# syntax=quay.io/x/frontend'],
])("Docker's own program reads a Dockerfile: %j", (...top) => {
  expect(fragmentIn('Dockerfile', dockerfileOf(...top), { files: FILES })?.files).toEqual(KNOWN);
});

test.each([
  ['# syntax=quay.io/x/frontend:1'],
  ['# syntax=docker/dockerfile-x'],
  ['# check=skip=all', '#syntax = quay.io/docker/dockerfile'],
  ['#!/usr/bin/env docker', '# SYNTAX=x'],
  ['// syntax=x'],
])('184: only a build knows what another program makes of a Dockerfile: %j', (...top) => {
  const fragment = fragmentIn('Dockerfile', dockerfileOf(...top), { files: FILES, isCatalog: true });
  expect(fragment).toMatchObject({ files: undefined });
});

test.each([['{"syntax": "quay.io/x/frontend"}'], ['']])(
  'only a build knows what the image of a text without stages has: %j',
  (text) => {
    const fragment = fragmentIn('Dockerfile', text, { files: FILES, isCatalog: true });
    expect(fragment).toMatchObject({ files: undefined, place: { line: 1 } });
    expect(fragmentIn('Dockerfile', text, { files: FILES })).toBeUndefined();
  },
);

const servedBy = (...lines: readonly string[]): unknown =>
  fragmentIn('Dockerfile', ['FROM x AS base', ...lines, ''].join('\n'), { files: FILES, isCatalog: true })
    ?.served;

test.each<[folder: string | undefined, ...lines: string[]]>([
  ['/configs', 'ENTRYPOINT ["/bin/opm"]', 'CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]'],
  ['/configs', 'CMD ["serve", "--cache-dir", "/tmp/cache", "-p", "1", "/configs/"]'],
  ['/configs', 'WORKDIR /srv', 'CMD exec opm serve ../configs'],
  ['/configs', 'CMD ["serve", "configs"]'],
  ['/a', 'CMD ["serve", "/configs"]', 'ENTRYPOINT ["opm", "serve"]', 'CMD ["/a"]'],
  ['/configs', 'ENTRYPOINT ["sh", "-c", "opm serve /configs"]'],
  ['/$A', 'CMD ["serve", "/$A"]'],
  ['/configs', 'CMD ["serve", "/configs"]', 'FROM base', 'ENTRYPOINT ["opm", "serve", "/configs"]'],
  ['/b', 'ENTRYPOINT ["opm", "serve"]', 'CMD ["/a"]', 'FROM base', 'CMD ["/b"]'],
  // Without an operand, and where the shell or another program decides, only the image knows.
  [undefined, 'CMD ["serve", "/configs"]', 'ENTRYPOINT ["opm"]'],
  [undefined, 'CMD opm serve $FOLDER'],
  [undefined, 'CMD ["serve", "--port", "1"]'],
  [undefined, 'ARG A', 'WORKDIR $A', 'CMD ["serve", "configs"]'],
  [undefined, 'ENTRYPOINT ["/run.sh"]'],
])('185: the command of an image serves %s: %j', (folder, ...lines) => {
  expect(servedBy(...lines)).toEqual({ folder, line: expect.any(Number) });
});

test('the command of a base image is not known', () => {
  expect(servedBy('COPY catalog /configs')).toBeUndefined();
});
