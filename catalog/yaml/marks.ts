/** The places of a tree's nodes, as the fast reader marks those of what it reads. */
import { isMerge, keyName } from './resolve.ts';
import type { YamlNode } from './tree.ts';

/** Names that JavaScript does not keep as keys in the order of writing. */
const MOVED_KEY = /^(?:[0-9]+|__proto__)$/;

/**
 * The places of all nodes in pre-order: of a pair that of its value, or of its key where the value is a collection or
 * absent.
 *
 * @param place the 1-based line and column of an offset
 * @returns a line and a column for each node; undefined for a tree with aliases, merge keys or keys in another order than
 *   those of its JSON
 */
export function marksOf(
  root: YamlNode,
  place: (offset: number) => { readonly line: number; readonly column: number },
): Int32Array | undefined {
  const marks: number[] = [];
  const add = (node: YamlNode, offset: number): boolean => {
    const { line, column } = place(offset);
    marks.push(line, column);
    switch (node.kind) {
      case 'scalar':
        return true;
      case 'alias':
        return false;
      case 'sequence':
        return node.items.every((item) => add(item, item.start));
      case 'mapping':
        return node.pairs.every(({ key, value }) => {
          const name = key.kind === 'scalar' && !isMerge(key) ? keyName(key) : undefined;
          if (name === undefined || MOVED_KEY.test(name)) return false;
          const isWritten = value.kind === 'scalar' && !(value.plain && value.text === '');
          return add(value, isWritten ? value.start : key.start);
        });
    }
  };
  return add(root, root.start) ? Int32Array.from(marks) : undefined;
}
