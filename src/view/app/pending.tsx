/** What stands in the place of something that is still being read, or cannot be. */

export function Pending({ what, error = null }: { what: string; error?: string | null }) {
  if (error === null)
    return (
      <p class="pending dim" role="status">
        Loading {what} …
      </p>
    );
  return (
    <p class="banner bad" role="alert">
      Cannot load {what}: {error}
    </p>
  );
}
