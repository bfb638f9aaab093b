import { expect, test } from 'vitest';
import { forEachSource } from '../../functions/reconcile.ts';
import { PipelineError } from '../../pipeline/error.ts';

const SOURCES = ['one', 'two', 'three'].map((name, i) => ({
  repository: `sea/${name}`,
  id: i,
  branch: 'main',
  url: `https://github.com/sea/${name}.git`,
}));

/** Does something for every source but those that fail. */
async function doing(...fails: readonly string[]) {
  const told: string[] = [];
  const done = forEachSource(
    SOURCES,
    async ({ repository }) => {
      if (fails.includes(repository)) throw new PipelineError('usage', `${repository}: no policy`);
      return repository;
    },
    ({ repository }, { message }) => told.push(`${repository} ${message}`),
  );
  return { done: await done, told };
}

test('a repository whose policy cannot be used keeps the others back from nothing', async () => {
  expect(await doing('sea/one')).toEqual({
    done: ['sea/two', 'sea/three'],
    told: ['sea/one sea/one: no policy'],
  });
});

test('what fails for all of them fails', async () => {
  await expect(doing('sea/one', 'sea/two', 'sea/three')).rejects.toThrow('sea/three: no policy');
});

test('a defect of the program is no failure of a repository', async () => {
  const work = () => Promise.reject(new TypeError('x is undefined'));
  await expect(forEachSource(SOURCES, work, () => undefined)).rejects.toThrow(TypeError);
});
