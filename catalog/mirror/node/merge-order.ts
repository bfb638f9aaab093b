/**
 * Merging lists into one whose order agrees with all of them, if there is such an order.
 *
 * @see https://github.com/openshift/runtime-utils/blob/master/pkg/registries/topo.go
 */
import { compareText } from '../../go/text.ts';

interface Node {
  readonly name: string;
  /** Names that must come before and have not been taken yet. */
  readonly before: Set<string>;
  readonly after: Set<string>;
}

/**
 * Every name of the chains once, each after what stands before it in a chain; equals in
 * byte order. A circle is broken at its first name in byte order.
 */
export function inOrder(chains: readonly (readonly string[])[]): string[] {
  const nodes = graphOf(chains);
  const names = [...nodes.keys()].sort(compareText);
  const queue = names.filter((name) => nodes.get(name)?.before.size === 0);
  const taken = new Set<string>();
  let next = 0;
  while (taken.size < nodes.size) {
    const name = queue.shift() ?? names[next++] ?? '';
    const node = nodes.get(name);
    if (!node || taken.has(name)) continue;
    taken.add(name);
    queue.push(...released(node, nodes, taken));
  }
  return [...taken];
}

function graphOf(chains: readonly (readonly string[])[]): Map<string, Node> {
  const nodes = new Map<string, Node>();
  const of = (name: string): Node => {
    const known = nodes.get(name) ?? { name, before: new Set(), after: new Set() };
    nodes.set(name, known);
    return known;
  };
  for (const chain of chains) {
    for (const [i, name] of chain.entries()) {
      const next = chain[i + 1];
      if (next === undefined) continue;
      of(name).after.add(next);
      of(next).before.add(name);
    }
  }
  return nodes;
}

/** The names that nothing holds back any longer, now that `node` has been taken. */
function released(node: Node, nodes: ReadonlyMap<string, Node>, taken: ReadonlySet<string>): string[] {
  const free: string[] = [];
  for (const name of node.after) {
    const next = nodes.get(name);
    next?.before.delete(node.name);
    if (next?.before.size === 0 && !taken.has(name)) free.push(name);
  }
  return free.sort(compareText);
}
