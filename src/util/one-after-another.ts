/** Work that must not overlap: each piece begins when all before it have ended, also where one failed. */
export class OneAfterAnother {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
