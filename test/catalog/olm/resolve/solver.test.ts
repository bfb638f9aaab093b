import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Constraint, solveConstraints, type Variable } from '../../../../catalog/olm/resolve/solver.ts';
import { runs } from '../../../fakes/runs.ts';

const needs = (...ids: string[]): Constraint => ({
  kind: 'dependency',
  ids,
  text: `needs ${ids.join(' or ')}`,
});
const must: Constraint = { kind: 'mandatory', text: 'must be' };
const never: Constraint = { kind: 'prohibited', text: 'must not be' };
const variable = (id: string, ...constraints: Constraint[]): Variable => ({ id, constraints });

describe('solve', () => {
  test('takes what is named first', () => {
    const all = [variable('s', must, needs('b', 'a')), variable('a'), variable('b')];
    expect(solveConstraints(all)).toEqual({ kind: 'solved', chosen: ['s', 'b'] });
  });

  test('takes the next way where the first one is closed further on', () => {
    const all = [
      variable('s', must, needs('a', 'b')),
      variable('a', needs('c')),
      variable('b'),
      variable('c', needs('d')),
      variable('d', never),
    ];
    expect(solveConstraints(all)).toEqual({ kind: 'solved', chosen: ['s', 'b'] });
  });

  test('keeps rivals apart, and what stands twice in a group out', () => {
    const group: Constraint = { kind: 'at-most-one', ids: ['a', 'b', 'b'], text: 'a and b are rivals' };
    const all = [variable('s', must, needs('b', 'a')), variable('a'), variable('b'), variable('g', group)];
    expect(solveConstraints(all)).toEqual({ kind: 'solved', chosen: ['s', 'a'] });
  });

  test('says which constraints cannot hold together, and no others', () => {
    const conflict: Constraint = { kind: 'conflict', id: 'b', text: 'a excludes b' };
    const all = [
      variable('s', must, needs('a'), needs('b'), needs('c')),
      variable('a', conflict),
      variable('b'),
      variable('c'),
    ];
    expect(solveConstraints(all)).toEqual({
      kind: 'unsatisfiable',
      because: ['a excludes b', 'must be', 'needs a', 'needs b'],
    });
  });

  test('gives up on what is made to take for ever', () => {
    // As many guests as rooms and one more, each of whom takes a room for himself.
    const rooms = Array.from({ length: 9 }, (_, room) => room);
    const guests = Array.from({ length: 10 }, (_, guest) => guest);
    const place = (guest: number, room: number): string => `${guest}-${room}`;
    const all = [
      ...guests.map((guest) =>
        variable(`guest ${guest}`, must, needs(...rooms.map((room) => place(guest, room)))),
      ),
      ...guests.flatMap((guest) => rooms.map((room) => variable(place(guest, room)))),
      ...rooms.map((room) =>
        variable(`room ${room}`, {
          kind: 'at-most-one',
          ids: guests.map((guest) => place(guest, room)),
          text: 'one guest a room',
        }),
      ),
    ];
    expect(solveConstraints(all).kind).toBe('undecided');
  });

  test('a solution meets every constraint, and there is one whenever trying all finds one', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const constraint = fc.oneof(
      fc.array(id, { maxLength: 3 }).map((ids) => needs(...ids)),
      id.map((other): Constraint => ({ kind: 'conflict', id: other, text: '' })),
      fc.uniqueArray(id, { minLength: 2 }).map((ids): Constraint => ({ kind: 'at-most-one', ids, text: '' })),
      fc.constantFrom(must, never),
    );
    const variables = fc.tuple(
      ...['a', 'b', 'c', 'd'].map((one) =>
        fc.array(constraint, { maxLength: 3 }).map((constraints) => variable(one, ...constraints)),
      ),
    );
    fc.assert(
      fc.property(variables, (all) => {
        const solution = solveConstraints(all);
        const possible = subsets(['a', 'b', 'c', 'd']).some((chosen) => meetsAll(all, chosen));
        expect(solution.kind).toBe(possible ? 'solved' : 'unsatisfiable');
        if (solution.kind === 'solved') expect(meetsAll(all, new Set(solution.chosen))).toBe(true);
      }),
      runs(400),
    );
  });
});

function subsets(ids: readonly string[]): Set<string>[] {
  return Array.from(
    { length: 2 ** ids.length },
    (_, bits) => new Set(ids.filter((_id, i) => bits & (1 << i))),
  );
}

function meetsAll(all: readonly Variable[], chosen: ReadonlySet<string>): boolean {
  return all.every(({ id, constraints }) => constraints.every((constraint) => meets(id, constraint, chosen)));
}

function meets(id: string, constraint: Constraint, chosen: ReadonlySet<string>): boolean {
  switch (constraint.kind) {
    case 'mandatory':
      return chosen.has(id);
    case 'prohibited':
      return !chosen.has(id);
    case 'dependency':
      return !chosen.has(id) || constraint.ids.some((other) => chosen.has(other));
    case 'conflict':
      return !(chosen.has(id) && chosen.has(constraint.id));
    case 'at-most-one':
      return constraint.ids.filter((other) => chosen.has(other)).length <= 1;
  }
}
