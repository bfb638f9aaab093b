import { describe, expect, test } from 'vitest';
import { isForOpenshift } from '../../../catalog/bundle/openshift-range.ts';
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';

/** The versions from 4.8 to 4.12 that a text stands for. */
const versions = (text: string | undefined): (string | undefined)[] =>
  ['4.8', '4.9', '4.10', '4.11', '4.12'].filter((name) => {
    const version = tryParseMinor(name);
    return version && isForOpenshift(text, version);
  });

describe('com.redhat.openshift.versions', () => {
  test.each([
    [undefined, ['4.8', '4.9', '4.10', '4.11', '4.12']],
    ['', ['4.8', '4.9', '4.10', '4.11', '4.12']],
    ['v4.10', ['4.10', '4.11', '4.12']],
    ['"v4.10"', ['4.10', '4.11', '4.12']],
    ['=v4.9', ['4.9']],
    ['v4.9-v4.11', ['4.9', '4.10', '4.11']],
    ['4.9 - 4.10', ['4.9', '4.10']],
    ['v4.10,v4.11', ['4.10', '4.11', '4.12']],
    ['v4.11,v4.10', ['4.10', '4.11', '4.12']],
  ])('%j', (text, expected) => expect(versions(text)).toEqual(expected));

  test.each([
    ['v4.22', ['4.22', '4.23', '5.0', '5.1']],
    ['v4.23', ['4.23', '5.0', '5.1']],
    ['v5.0', ['4.23', '5.0', '5.1']],
    ['v4.12-v4.22', ['4.22']],
    ['v4.12-v4.23', ['4.22', '4.23', '5.0']],
    ['v4.22-v5.0', ['4.22', '4.23', '5.0']],
    ['v5.0-v5.1', ['4.23', '5.0', '5.1']],
    ['=v5.0', ['4.23', '5.0']],
    ['v5.0,v4.22', ['4.22', '4.23', '5.0', '5.1']],
  ])('%j where 5 follows 4', (text, expected) => {
    const names = ['4.22', '4.23', '5.0', '5.1'];
    expect(
      names.filter((name) => isForOpenshift(text, tryParseMinor(name) ?? { major: 0, minor: 0 })),
    ).toEqual(expected);
  });

  test.each(['latest', 'v4', 'v4.9-', 'v4.9-v4.10-v4.11', '=', 'v4.9,x'])('%j says nothing', (text) =>
    expect(isForOpenshift(text, { major: 4, minor: 10 })).toBeUndefined(),
  );
});
