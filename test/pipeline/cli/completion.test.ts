import { expect, test } from 'vitest';
import { runCommand } from '../../fakes/terminal.ts';

const scriptFor = async (shell: string): Promise<string> => (await runCommand(['completion', shell])).out;

test('zsh gets the same through its support for bash', async () => {
  const [bash, zsh] = [await scriptFor('bash'), await scriptFor('zsh')];
  expect(zsh.split('\n')[1]).toBe('autoload -Uz bashcompinit && bashcompinit');
  expect(zsh.split('\n').slice(2)).toEqual(bash.split('\n').slice(1));
});

test('fish gets each option with its description, quoted', async () => {
  const lines = (await scriptFor('fish')).split('\n');
  const of = lines.filter((line) => line.includes('"__portolan_is check"'));
  expect(of).toContainEqual(
    expect.stringMatching(/ -l format -x -a "text json markdown sarif code-quality" -d '.*'$/),
  );
  expect(of).toContainEqual(expect.stringMatching(/ -l repo -r -d '.*'$/));
  // Every quote within a description is escaped.
  for (const line of lines.filter((one) => one.includes(' -d ')))
    expect(line).toMatch(/ -d '(?:[^'\\]|\\.)*'$/);
});

test('another shell is refused', async () => {
  expect(await runCommand(['completion', 'tcsh'])).toMatchObject({ exit: 2, out: '' });
});
