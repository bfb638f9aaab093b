import { expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { portolan } from '../../../fakes/terminal.ts';

test.each(['nope', './nope', 'catalogs/v4.20', '../nope.d/x'])(
  '%s is a path that does not exist, and no registry is asked for it',
  async (path) => {
    const { exit, out, err } = await portolan(folder(), 'render', path);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).toContain(`${path}: no such directory`);
  },
);
