import { describe, expect, test } from 'vitest';
import { layersFor } from '../../../../pipeline/catalogs/render/open-image.ts';

const step = (created_by: string) => ({ created_by });
const EMPTY = { created_by: 'LABEL a=b', empty_layer: true };

describe('a layer is left where it is only when its step clearly puts it elsewhere', () => {
  test.each([
    ['COPY /tmp/cache /tmp/cache # buildkit', false],
    ['COPY /configs /configs # buildkit', true],
    ['/bin/sh -c #(nop) COPY dir:0123 in /tmp/cache ', false],
    ['/bin/sh -c #(nop) ADD dir:0123 in /configs ', true],
    ['COPY a b c /configs/etcd/', true],
    ['COPY rootfs / # buildkit', true],
    ['COPY configs /configs2 # buildkit', false],
    ['COPY opm bin/', true],
    ['COPY opm $HOME/x', true],
    ['COPY opm /bin/../configs', true],
    ['COPY ["opm", "/bin/opm"]', true],
    ['RUN /bin/sh -c opm serve # buildkit', true],
    ['bazel build ...', true],
    ['', true],
  ])('%s', (text, holds) => {
    expect(layersFor([EMPTY, step(text), EMPTY], 1, '/configs')).toEqual([holds]);
  });
});

test('a step of a million blanks is looked through once', () => {
  expect(layersFor([step(`COPY${' '.repeat(1_000_000)}"`)], 1, '/configs')).toEqual([true]);
});

test('of our own images what is in other folders is left, and the base', () => {
  const history = [EMPTY, step('bazel'), step('portolan /configs'), step('portolan /tmp/cache')];
  expect(layersFor(history, 3, '/configs')).toEqual([false, true, false]);
  expect(layersFor(history, 3, '/')).toEqual([true, true, true]);
});

test('a base may leave gaps in its history: ours stand at the end', () => {
  const history = [step('kept'), step('portolan /configs'), step('portolan /tmp/cache')];
  expect(layersFor(history, 5, '/configs')).toEqual([false, false, false, true, false]);
});

test('what another build adds above ours is told apart as in any image', () => {
  const [ours, cache] = [step('portolan /configs'), step('portolan /tmp/cache')];
  const [more, server] = [step('COPY more /configs/more # buildkit'), step('COPY x /bin/x # buildkit')];
  expect(layersFor([step('bazel'), ours, cache, more, server], 5, '/configs')).toEqual([
    ...[false, true, false],
    ...[true, false],
  ]);
  // With a gap, nothing says where ours are.
  expect(layersFor([ours, cache, more], 4, '/configs')).toEqual([true, true, true, true]);
});

test.each([undefined, [], [step('x')], [step('COPY a /bin/a'), step('COPY b /bin/b')], 'x', [null, 1]])(
  'a history that does not fit the layers (%j) leaves nothing out',
  (history) => {
    expect(layersFor(history, 3, '/configs')).toEqual([true, true, true]);
  },
);
