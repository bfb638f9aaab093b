/** Which files of a catalog a Dockerfile is known to have: none where a program of the build may write some. */
import { expect, test } from 'vitest';
import { fragmentIn } from '../../../catalog/fbc/fragment.ts';

const FILES = ['catalog.tar.gz', 'catalog/c.yaml', 'other.tar'];
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
  // The lines of a here-document are not instructions.
  ['RUN <<EOF', 'COPY other /etc', 'EOF'],
  ['ADD other.tar /etc/'],
  ['COPY <<A <<"B" /etc/', 'COPY other /configs', 'A', 'RUN render > /configs/x', 'B'],
  ['RUN <<EOF', 'opm serve /configs --cache-dir=/tmp/cache --cache-only', 'EOF'],
  ['RUN cat <<-EOF > /etc/motd', 'FROM scratch', '\tEOF'],
])('the files are known: %j', (...lines) => {
  expect(filesOf(...lines)).toEqual(KNOWN);
});

test.each<readonly string[]>([
  ['COPY --exclude=c.yaml catalog /configs'],
  ['COPY --parents catalog /configs'],
  ['ADD catalog.tar.gz /configs'],
  ['RUN opm render x > /configs/c.yaml'],
  ['RUN opm render x > /configs/c.yaml && opm serve /configs --cache-dir=/tmp/cache --cache-only'],
  ['RUN <<EOF', 'opm render x > /configs/c.yaml', 'EOF'],
  ['RUN <<EOF', 'set -e', '# not a comment of the Dockerfile', 'opm render x > /configs/c.yaml', 'EOF'],
  ['COPY <<EOF /configs/c.yaml', 'schema: olm.package', 'EOF'],
])('a program of the build may write files: %j', (...lines) => {
  expect(filesOf(...lines)).toBeUndefined();
});
