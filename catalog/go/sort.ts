/**
 * Go's `sort.Slice`, step by step. It is not stable, and opm sorts with it: where two items
 * count as equal (a bundle that names one image twice), the order in its output is the one
 * that these steps happen to leave.
 *
 * @see https://github.com/golang/go/blob/go1.26/src/sort/zsortfunc.go
 */

/** Sorts a list in place and returns it. */
export function sortAsGo<T>(items: T[], less: (a: T, b: T) => boolean): T[] {
  new Sorter(items, less).sort(0, items.length, bitLength(items.length));
  return items;
}

/** So many items or fewer are sorted by insertion, which is stable. */
const MOST_INSERTED = 12;
/** So many items or more get the median of nine as their pivot, fewer the median of three. */
const SHORTEST_NINTHER = 50;
/** Fewer items are not tried to be put in order by a few swaps. */
const SHORTEST_SHIFTED = 50;
/** So many pairs at most are put in order before the items count as unsorted. */
const MOST_SHIFTS = 5;
/** Swaps to choose a pivot among nine items in descending order. */
const FALLING = 12;

function bitLength(value: number): number {
  return 32 - Math.clz32(value);
}

/** The steps of Go's sort. `a` and `b` bound the part of the list that a step is about: from `a` to before `b`. */
class Sorter<T> {
  readonly #items: T[];
  readonly #isLess: (a: T, b: T) => boolean;
  #swaps = 0;

  constructor(items: T[], less: (a: T, b: T) => boolean) {
    this.#items = items;
    this.#isLess = less;
  }

  #less(i: number, j: number): boolean {
    return this.#isLess(this.#items[i] as T, this.#items[j] as T);
  }

  #swap(i: number, j: number): void {
    const items = this.#items;
    const item = items[i] as T;
    items[i] = items[j] as T;
    items[j] = item;
  }

  /** Sorts the items from `from` to before `end`; after `limit` bad pivots by a heap. */
  sort(from: number, end: number, limit: number): void {
    let [a, b, left] = [from, end, limit];
    let wasBalanced = true;
    let wasInOrder = true;
    while (b - a > MOST_INSERTED) {
      if (left === 0) {
        this.#heapSort(a, b);
        return;
      }
      // A partition of less than an eighth is a bad one.
      if (!wasBalanced) {
        this.#breakPatterns(a, b);
        left--;
      }
      const { pivot, rising } = this.#pivotInRisingOrder(a, b);
      if (wasBalanced && wasInOrder && rising && this.#insertSome(a, b)) return;
      // No item is less than the one before these: the pivot equals that, and so may many others.
      if (a > 0 && !this.#less(a - 1, pivot)) {
        a = this.#partitionEqual(a, b, pivot);
        continue;
      }
      const length = b - a;
      const { middle, isInOrder } = this.#partition(a, b, pivot);
      wasInOrder = isInOrder;
      wasBalanced = Math.min(middle - a, b - middle) >= Math.floor(length / 8);
      if (middle - a < b - middle) {
        this.sort(a, middle, left);
        a = middle + 1;
      } else {
        this.sort(middle + 1, b, left);
        b = middle;
      }
    }
    this.#insertionSort(a, b);
  }

  #insertionSort(a: number, b: number): void {
    for (let i = a + 1; i < b; i++) {
      for (let j = i; j > a && this.#less(j, j - 1); j--) this.#swap(j, j - 1);
    }
  }

  /** Sorts with a heap, which takes its time but is never slow. */
  #heapSort(a: number, b: number): void {
    const length = b - a;
    for (let i = Math.floor((length - 1) / 2); i >= 0; i--) this.#siftDown(i, length, a);
    for (let i = length - 1; i >= 0; i--) {
      this.#swap(a, a + i);
      this.#siftDown(0, i, a);
    }
  }

  /**
   * Moves an item of a heap down to its place.
   *
   * @param low the place of the item, and `high` the size of the heap, both counted from its beginning
   * @param first where the heap begins in the list
   */
  #siftDown(low: number, high: number, first: number): void {
    for (let root = low; ; ) {
      let child = 2 * root + 1;
      if (child >= high) return;
      if (child + 1 < high && this.#less(first + child, first + child + 1)) child++;
      if (!this.#less(first + root, first + child)) return;
      this.#swap(first + root, first + child);
      root = child;
    }
  }

  /**
   * Swaps three items with others, so that no order of the input makes every pivot a bad one. The numbers only look
   * random: the same list is always sorted in the same way.
   */
  #breakPatterns(a: number, b: number): void {
    const length = b - a;
    const random = xorshift(length);
    const mask = BigInt(2 ** bitLength(length) - 1);
    const middle = a + Math.floor(length / 4) * 2;
    for (let at = middle - 1; at <= middle + 1; at++) {
      const other = Number(random() & mask);
      this.#swap(at, a + (other >= length ? other - length : other));
    }
  }

  /**
   * Chooses a pivot, and reverses items that seem to descend.
   *
   * @returns where the pivot is, and whether the items seem to be sorted
   */
  #pivotInRisingOrder(a: number, b: number): { pivot: number; rising: boolean } {
    const quarter = Math.floor((b - a) / 4);
    const candidates = [a + quarter, a + quarter * 2, a + quarter * 3];
    this.#swaps = 0;
    const [i = 0, j = 0, k = 0] =
      b - a >= SHORTEST_NINTHER ? candidates.map((at) => this.#median(at - 1, at, at + 1)) : candidates;
    const pivot = this.#median(i, j, k);
    if (this.#swaps !== FALLING) return { pivot, rising: this.#swaps === 0 };
    for (let [x, y] = [a, b - 1]; x < y; x++, y--) this.#swap(x, y);
    return { pivot: b - 1 - (pivot - a), rising: true };
  }

  /** Which of three places holds the item in the middle. */
  #median(a: number, b: number, c: number): number {
    const [low, middle] = this.#inOrder(a, b);
    const [next] = this.#inOrder(middle, c);
    return this.#inOrder(low, next)[1];
  }

  /** Two places, that of the lesser item first. Counts a swap, though no item moves. */
  #inOrder(a: number, b: number): [number, number] {
    if (!this.#less(b, a)) return [a, b];
    this.#swaps++;
    return [b, a];
  }

  /** Tries whether the items are nearly sorted. @returns whether they are sorted now */
  #insertSome(a: number, b: number): boolean {
    let i = a + 1;
    for (let step = 0; step < MOST_SHIFTS; step++) {
      while (i < b && !this.#less(i, i - 1)) i++;
      if (i === b) return true;
      if (b - a < SHORTEST_SHIFTED) return false;
      this.#swap(i, i - 1);
      // These are Go's loops: the first of them does not end at `a`.
      if (i - a >= 2) for (let j = i - 1; j >= 1 && this.#less(j, j - 1); j--) this.#swap(j, j - 1);
      if (b - i >= 2) for (let j = i + 1; j < b && this.#less(j, j - 1); j++) this.#swap(j, j - 1);
    }
    return false;
  }

  /**
   * Go's partition: what is less than the pivot goes before it.
   *
   * @returns where the pivot is, and whether nothing had to be swapped
   */
  #partition(a: number, b: number, pivot: number): { middle: number; isInOrder: boolean } {
    this.#swap(a, pivot);
    let [i, j] = [a + 1, b - 1];
    for (let isInOrder = true; ; isInOrder = false) {
      while (i <= j && this.#less(i, a)) i++;
      while (i <= j && !this.#less(j, a)) j--;
      if (i > j) {
        this.#swap(j, a);
        return { middle: j, isInOrder };
      }
      this.#swap(i++, j--);
    }
  }

  /** Moves what equals the pivot to the front. @returns where the rest begins */
  #partitionEqual(a: number, b: number, pivot: number): number {
    this.#swap(a, pivot);
    let [i, j] = [a + 1, b - 1];
    for (;;) {
      while (i <= j && !this.#less(a, i)) i++;
      while (i <= j && this.#less(a, j)) j--;
      if (i > j) return i;
      this.#swap(i++, j--);
    }
  }
}

const WORD = (1n << 64n) - 1n;

/** Makes Go's sequence of numbers that look random. */
function xorshift(seed: number): () => bigint {
  let state = BigInt(seed);
  return () => {
    state ^= (state << 13n) & WORD;
    state ^= state >> 7n;
    state ^= (state << 17n) & WORD;
    return state;
  };
}
