/**
 * What was read and may be asked for again, as long as there is room: what was asked for longest ago goes first. The map keeps
 * its items in that order, as an item that is asked for moves to its end.
 */
export class LruCache<V> {
  readonly #most: number;
  readonly #items = new Map<string, { readonly value: V; readonly weight: number; round: number }>();
  #weight = 0;
  #round = 0;

  /** @param most weight of everything that is kept, in the unit of `keep` */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a key, which from now on was asked for last. */
  get(key: string): V | undefined {
    const item = this.#items.get(key);
    if (!item) return undefined;
    this.#items.delete(key);
    item.round = this.#round;
    this.#items.set(key, item);
    return item.value;
  }

  /** Ends a round, and drops what nobody asked for or kept in the last rounds. @param rounds how many rounds, with this one */
  endRound(rounds: number): void {
    this.#round++;
    // Items are in the order in which they were asked for last.
    for (const [key, { round }] of this.#items) {
      if (this.#round - round <= rounds) return;
      this.#drop(key);
    }
  }

  /** Keeps a value; one that weighs more than all the room is not kept. */
  keep(key: string, value: V, weight: number): void {
    this.#drop(key);
    if (weight > this.#most) return;
    this.#items.set(key, { value, weight, round: this.#round });
    this.#weight += weight;
    for (const oldest of this.#items.keys()) {
      if (this.#weight <= this.#most) return;
      this.#drop(oldest);
    }
  }

  /** Removes an item; nothing for a key that has none. */
  #drop(key: string): void {
    this.#weight -= this.#items.get(key)?.weight ?? 0;
    this.#items.delete(key);
  }
}
