/** What is disposed of together, last first: Node 20 has no `AsyncDisposableStack`. */
export class Resources implements AsyncDisposable {
  readonly #used: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(resource: T): T {
    this.#used.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#used.toReversed()) await resource[Symbol.asyncDispose]();
  }
}
