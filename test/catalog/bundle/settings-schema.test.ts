import { expect, test } from 'vitest';
import { type SettingsSchema, settingsDefects } from '../../../catalog/bundle/settings-schema.ts';

const NAMES: SettingsSchema = { kind: 'list', items: { kind: 'text' }, isUnique: true };

test('an integer that a float would round is a wrong value, not a crash', () => {
  const large = 9007199254740993n;
  const found = (value: unknown) =>
    settingsDefects(value, NAMES, ['reviewers']).map(({ message }) => message);
  expect(found(large)).toEqual(['reviewers: found "9007199254740993", expected a list']);
  expect(found([large, 'a'])).toEqual(['reviewers[0]: found "9007199254740993", expected text']);
  expect(found(['a', 'b'])).toEqual([]);
});
