import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { meets, parseVersionConstraint } from '../../../catalog/version/constraint.ts';
import { parseVersion } from '../../../catalog/version/version.ts';
import { cpuTime } from '../../fakes/cpu-time.ts';

const holds = (constraint: string, version: string): boolean =>
  meets(parseVersion(version), parseVersionConstraint(constraint));

describe('parseVersionConstraint', () => {
  test.each([
    ['^1.2.3', '1.9.0', true],
    ['^1.2.3', '2.0.0', false],
    ['^0.2.3', '0.2.9', true],
    ['^0.2.3', '0.3.0', false],
    ['^0.0.3', '0.0.4', false],
    ['^0', '0.9.9', true],
    ['~1.2', '1.2.9', true],
    ['~1.2', '1.3.0', false],
    ['~1', '1.9.0', true],
    ['~>1.2.3', '1.2.4', true],
    ['1.2.x', '1.2.7', true],
    ['1.x', '2.0.0', false],
    ['*', '7.0.0', true],
    ['>1', '1.9.9', false],
    ['>1', '2.0.0', true],
    ['>1.1', '1.1.9', false],
    ['<=1.1', '1.1.9', true],
    ['<=1', '1.9.0', true],
    ['!=1.2.x', '1.2.3', false],
    ['!=1.2.x', '1.3.0', true],
    ['!=1.x', '2.0.0', true],
    ['!=*', '0.1.0', true],
    ['1.0 - 2.0', '2.0.9', true],
    ['1.0.0 - 2.0.0', '2.0.1', false],
    ['>=1.0.0, <2.0.0', '1.5.0', true],
    ['>=1.0.0 <2.0.0 || 3.x', '3.1.0', true],
    ['=>1.0.0', '1.0.0', true],
    ['v1.2.3', '1.2.3', true],
    ['01.2.3', '1.2.3', true],
    ['1.2.3', '1.2.3+build.7', true],
    ['=1.2.3', '1.2.4', false],
    ['= 1.2.3', '1.2.3', true],
    ['  1.2.3', '1.2.3', true],
    ['001.10.100', '1.10.100', true],
    ['1.10.100', '1.1.1', false],
    ['!=1.2.3', '1.2.3', false],
    ['!=1.2.3', '1.2.4', true],
    ['!=1.x', '1.5.0', false],
    ['!=*', '0.0.0', false],
    ['!=*', '0.0.1', true],
    ['!=1.2.x-rc.1', '1.2.3-rc.1', false],
    ['!=1.2.x-rc.1', '1.2.3-rc.2', true],
    ['!=1.2.x-rc.1', '1.2.3', true],
    ['<1.2.3', '1.2.3', false],
    ['<1.2.3', '1.2.2', true],
    ['>1.2.3', '1.2.3', false],
    ['>1.2.3', '1.2.4', true],
    ['>1.1', '1.2.0', true],
    ['>*', '0.0.0', false],
    ['>*', '0.0.1', true],
    ['<=1.2.3', '1.2.4', false],
    ['=<1.2.3', '1.2.3', true],
    ['=<1.2.3', '1.2.4', false],
    ['<=1.1', '0.9.0', true],
    ['<=1.1', '1.2.0', false],
    ['<=1.1', '2.0.0', false],
    ['<=1', '2.0.0', false],
    ['~1.2.3', '1.2.2', false],
    ['~1.2', '1.1.9', false],
    ['~0', '0.9.0', true],
    ['~0', '1.0.0', false],
    ['~0.0', '0.1.0', false],
    ['~0.0.1', '9.0.0', false],
    ['~0.1.0', '0.2.0', false],
    ['~1.0.0', '1.1.0', false],
    ['^1.2.3', '1.2.2', false],
    ['^0', '1.0.0', false],
    ['^0.0', '0.0.9', true],
    ['^0.0', '0.1.0', false],
    ['^0.0.3', '0.0.3', true],
    ['^0.0.3', '0.1.3', false],
    ['^0.2.3', '1.2.3', false],
    ['1.X', '1.9.0', true],
    ['1.2.X', '1.3.0', false],
    ['>=1.0.0,<2.0.0', '2.0.0', false],
    ['>=1.0.0-0 <2.0.0', '1.1.0-rc.1', true],
    [`1.0.0${' '.repeat(507)}`, '1.0.0', true],
    [`${'1||'.repeat(31)}2`, '2.0.0', true],
  ])('%s on %s: %s', (constraint, version, answer) => expect(holds(constraint, version)).toBe(answer));

  test('pre-releases count only where a comparator of the same alternative has one', () => {
    expect(holds('>=1.0.0', '1.1.0-rc.1')).toBe(false);
    expect(holds('>=1.0.0-0', '1.1.0-rc.1')).toBe(true);
    expect(holds('>=1.0.0 || >=3.0.0-0', '1.1.0-rc.1')).toBe(false);
    expect(holds('~1.2.3-beta.1', '1.2.3-beta.2')).toBe(true);
  });

  test('keeps the slips that clusters have: ~0.0.0 accepts everything', () => {
    expect(holds('~0.0.0', '9.0.0')).toBe(true);
    expect(holds('^*', '1.0.0')).toBe(false);
  });

  test.each([
    ['', 'improper constraint: ""'],
    ['latest', 'improper constraint: "latest"'],
    ['==1.2.3', 'improper constraint: "==1.2.3"'],
    ['1.2.3.4', 'improper constraint: "1.2.3.4"'],
    ['>1.0.0<2.0.0', 'improper constraint: ">1.0.0<2.0.0"'],
    ['>1.0.0 2.0.0<3.0.0', 'improper constraint'],
    ['>=1.0.0,', 'improper constraint: ">=1.0.0,"'],
    ['>=1.0.0 ||', 'improper constraint: ""'],
    ['1|2', 'constraint parser error'],
    ['xx', 'constraint parser error'],
    ['1.2.3-01', 'constraint parser error'],
    ['9'.repeat(513), 'constraint string is too long (max 512 bytes)'],
    ['1||'.repeat(32), 'too many constraint groups (max 32)'],
  ])('refuses %j', (constraint, message) => {
    expect(() => parseVersionConstraint(constraint)).toThrow(message);
  });

  test('no text makes it slow', () => {
    const hostile = `1${' '.repeat(60)}`.repeat(8);
    const spent = cpuTime();
    expect(() => parseVersionConstraint(`${hostile}!`)).toThrow('improper');
    // Backtracking would take longer than anybody waits.
    expect(spent()).toBeLessThan(10_000);
  });

  test('a version is within its own caret, tilde and closed ranges', () => {
    const part = fc.integer({ min: 0, max: 30 });
    fc.assert(
      fc.property(part, part, part, (major, minor, patch) => {
        const version = `${major}.${minor}.${patch}`;
        for (const constraint of [version, `^${version}`, `~${version}`, `>=${version}, <=${version}`]) {
          expect(holds(constraint, version)).toBe(true);
        }
        expect(holds(`!=${version}`, version)).toBe(false);
      }),
    );
  });
});
