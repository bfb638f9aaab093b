/** How many members of arrays, objects, sets and maps a function looks at. */

type Method = (this: unknown, ...values: unknown[]) => unknown;
type Methods = Record<PropertyKey, Method>;

const CALLING = ['every', 'filter', 'find', 'findIndex', 'flatMap', 'forEach', 'map', 'reduce', 'some'];
const FINDING = ['includes', 'indexOf', 'lastIndexOf'];
const WHOLE = ['concat', 'join', 'slice', 'sort', 'toSorted'];
const OF_OBJECTS = ['entries', 'keys', 'values'];
const ITERATORS = [[], new Set(), new Map()].map(
  (one) => Object.getPrototypeOf(one[Symbol.iterator]()) as Methods,
);

export function stepsOf(run: () => unknown): number {
  let steps = 0;
  const undo: (() => void)[] = [];
  const replace = (object: Methods, name: string, make: (own: Method) => Method): void => {
    const own = object[name] as Method;
    undo.push(() => {
      Object.defineProperty(object, name, { value: own, writable: true, configurable: true });
    });
    Object.defineProperty(object, name, { value: make(own), writable: true, configurable: true });
  };
  const array = Array.prototype as unknown as Methods;
  const apply = Reflect.apply;
  for (const name of CALLING) {
    replace(
      array,
      name,
      (own) =>
        function (call, ...others) {
          const counted = (...values: unknown[]): unknown => {
            steps++;
            return (call as (...all: unknown[]) => unknown)(...values);
          };
          return apply(own, this, [counted, ...others]);
        },
    );
  }
  for (const name of FINDING) {
    replace(
      array,
      name,
      (own) =>
        function (...values) {
          const found = apply(own, this, values);
          steps += typeof found === 'number' && found >= 0 ? found : (this as unknown[]).length;
          return found;
        },
    );
  }
  for (const name of WHOLE) {
    replace(
      array,
      name,
      (own) =>
        function (...values) {
          const result = apply(own, this, values);
          steps += Array.isArray(result) ? result.length : (this as unknown[]).length;
          return result;
        },
    );
  }
  for (const name of OF_OBJECTS) {
    replace(
      Object as unknown as Methods,
      name,
      (own) =>
        function (...values) {
          const result = apply(own, this, values);
          steps += (result as unknown[]).length;
          return result;
        },
    );
  }
  for (const iterator of ITERATORS) {
    replace(
      iterator,
      'next',
      (own) =>
        function () {
          steps++;
          return apply(own, this, []);
        },
    );
  }
  replace(JSON as unknown as Methods, 'stringify', (own) => (...values) => {
    const text = apply(own, JSON, values) as string;
    steps += text.length;
    return text;
  });
  try {
    run();
  } finally {
    for (const one of undo.reverse()) one();
  }
  return steps;
}
