/** Opens what may be deleted while it is read, such as a checkpoint of a run that goes on: the next one then. */

/** Who deletes this many, one after the other, while each is read, does it faster than can be read. */
const maxDeleted = 50;

/**
 * Calls `open` again where what it was reading is gone.
 *
 * @param isGone whether there may be another one; it may find that out, and prepare the next attempt
 * @param refuse what is thrown after too many attempts. @default what `open` threw
 */
export async function reopen<T>(
  open: () => Promise<T>,
  isGone: (error: unknown) => boolean | Promise<boolean>,
  refuse: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      if (!(await isGone(error))) throw error;
      if (attempt === maxDeleted) throw refuse(error);
    }
  }
}
