/** Names of adapters: which calls and rows go to which. */

/** The model's own adapter, of every role that names no other. PEFT keeps it in the folder itself. */
export const defaultAdapter = "default";

/** A name that is a folder's on every system. */
export const isAdapterName = (name: string): boolean =>
  /^[\w-][\w.-]{0,62}(?<!\.)$/u.test(name) && name !== defaultAdapter;

/** `undefined` for the model's own. */
export const adapterOrDefault = (adapter: string | undefined): string => adapter ?? defaultAdapter;
